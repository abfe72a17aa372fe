"""Public tools for the tests of store and model authors, and of programs that use hitherto.

- :mod:`hitherto.testing.conformance`: the suite that every store passes.
- :mod:`hitherto.testing.machine`: any store against the reference store, call by call.
- :mod:`hitherto.testing.reference`: a slow, obvious store that the others are compared with.
- :mod:`hitherto.testing.scripted`: models that answer what they are told, late or not at all.
- :mod:`hitherto.testing.strategies`: hypothesis strategies for what a store takes.
- :mod:`hitherto.testing.network`: no connection leaves this machine.
"""
