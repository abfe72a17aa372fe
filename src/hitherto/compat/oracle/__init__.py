"""Programs written for the package ``oracleagentmemory`` run on hitherto: change the import, or nothing at all.

Every public name of ``oracleagentmemory`` 26.8 is here at the same module path. ``oracleagentmemory`` becomes
``hitherto.compat.oracle`` in the imports; or :func:`activate` makes ``import oracleagentmemory`` find it, for programs
that cannot be edited (``python -m hitherto.compat.oracle script.py``).
"""

from __future__ import annotations

from hitherto import __version__
from hitherto.compat.oracle.activation import activate
from hitherto.compat.oracle.adapters import as_oracle_store, from_oracle_store

__all__ = ["__version__", "activate", "as_oracle_store", "from_oracle_store"]
