"""Our store under the original package's client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitherto.errors import ArgumentTypeError, MissingExtraError, shown
from hitherto.store.base import MemoryStore

if TYPE_CHECKING:
    from oracleagentmemory.core import OracleMemoryStore


def as_oracle_store(store: MemoryStore) -> OracleMemoryStore:
    """Return a store that the original package's client takes as ``store=``, and that keeps everything in ours.

    A team on the original package can so develop and test without a database. Threads may share it.

    Args:
        store: Our store; closing it stays with the caller.

    Returns:
        An instance of a subclass of the original's ``OracleMemoryStore``.

    Raises:
        ArgumentTypeError: If store is none of ours.
        MissingExtraError: If the package ``oracleagentmemory`` itself is not installed.

    Examples:
        >>> import warnings
        >>> from hitherto.store.opening import open_store
        >>> warnings.simplefilter("ignore")
        >>> from oracleagentmemory.core import OracleAgentMemory
        >>> store = open_store(":memory:", embedder=None)
        >>> memory = OracleAgentMemory(store=as_oracle_store(store))
        >>> _ = memory.add_memory("Mia is allergic to walnuts", memory_type="fact", user_id="mia")
        >>> [record.content for record in store.list("fact", user_id="mia")]
        ['Mia is allergic to walnuts']
        >>> store.close()
    """
    if not isinstance(store, MemoryStore):
        raise ArgumentTypeError(f"store must be a MemoryStore, got {shown(store)}", argument="store")
    try:
        import oracleagentmemory
    except ImportError:
        oracleagentmemory = None
    # After activate() our own modules answer to that name.
    if oracleagentmemory is None or oracleagentmemory.__name__ != "oracleagentmemory":
        raise MissingExtraError("as_oracle_store() needs the original package: pip install oracleagentmemory")
    from hitherto.compat.oracle.original_store import HithertoStore

    return HithertoStore(store)
