"""The routes: each reads a request, calls one verb of the service, and writes its answer."""
