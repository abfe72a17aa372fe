"""What happens to a query, one module per step, in the order of :mod:`hitherto.search.pipeline`."""
