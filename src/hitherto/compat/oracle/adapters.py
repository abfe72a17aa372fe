"""Our store under the original package's client, and the original's store under ours."""

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
    _require_original("as_oracle_store")
    from hitherto.compat.oracle.original_store import HithertoStore

    return HithertoStore(store)


def from_oracle_store(oracle_store: OracleMemoryStore) -> MemoryStore:
    """Return a store of ours that keeps everything in a store of the original package.

    What is in an Oracle AI Database stays there: our client extracts, links, summarises and searches on it. The
    original's store embeds, indexes, ranks and expires by its own rules, and is called from several threads.

    Three things its interface does not have. Jobs are kept in memory: a client that is closed finishes them, one that
    is killed loses them. ``erase_user`` and ``purge_expired`` raise an error that says what to do instead. Memories
    of all types together are listed in the order of their timestamps.

    Args:
        oracle_store: An instance of the original's ``OracleMemoryStore``, such as its ``OracleDBMemoryStore``; closing
            its pool stays with the caller.

    Returns:
        What ``AgentMemory(store=...)`` takes.

    Raises:
        ArgumentTypeError: If oracle_store is none of the original's.
        MissingExtraError: If the package ``oracleagentmemory`` itself is not installed.

    Examples:
        >>> import warnings
        >>> from hitherto import AgentMemory
        >>> from hitherto.testing.reference import ReferenceStore
        >>> warnings.simplefilter("ignore")
        >>> oracle_store = as_oracle_store(ReferenceStore())
        >>> with AgentMemory(store=from_oracle_store(oracle_store)) as memory:
        ...     _ = memory.add_memory("Mia is allergic to walnuts", memory_type="fact", user_id="mia")
        ...     [result.content for result in memory.search("walnuts", user_id="mia")]
        ['Mia is allergic to walnuts']
    """
    _require_original("from_oracle_store")
    from oracleagentmemory.core import OracleMemoryStore

    from hitherto.compat.oracle.backed_store import OracleBackedStore

    if not isinstance(oracle_store, OracleMemoryStore):
        raise ArgumentTypeError(
            f"oracle_store must be an OracleMemoryStore of the package oracleagentmemory, got {shown(oracle_store)}",
            argument="oracle_store",
        )
    return OracleBackedStore(oracle_store)


def _require_original(caller: str) -> None:
    try:
        import oracleagentmemory
    except ImportError:
        oracleagentmemory = None
    # After activate() our own modules answer to that name.
    if oracleagentmemory is None or oracleagentmemory.__name__ != "oracleagentmemory":
        raise MissingExtraError(f"{caller}() needs the original package: pip install oracleagentmemory")
