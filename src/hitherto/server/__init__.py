"""The HTTP server: a REST door to the store, and who may come through it."""
