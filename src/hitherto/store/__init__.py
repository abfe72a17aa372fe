"""Where records live: the interface of a store, and its backends."""
