"""RestIndex: a store's threads and messages as documents, as new as the store is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, TypeVar

from hitherto.lifetime import Clock, utc_now
from hitherto.server.index.follow import BATCH, has_changes, take_in
from hitherto.server.index.reading import DocumentCache, Reader
from hitherto.server.index.state import count_changes, is_prepared, prepare, read_text
from hitherto.server.index.terms import StoredStatistics

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Connection

    from hitherto.store.sql.store import SqlMemoryStore

T = TypeVar("T")
Step = Callable[["Connection"], object]

_alongside: ContextVar[Step | None] = ContextVar("alongside", default=None)


class RestIndex:
    """The documents of one store.

    Makes its tables and triggers in the store's database where they are not there yet, which the store's other users
    do not notice.

    Args:
        store: The store.
        clock: Returns the present time.
        progress: While what is stored already is taken in: called with how many changes are done, and how many there
            are.

    Examples:
        >>> from hitherto import AgentMemory
        >>> with AgentMemory(":memory:", embedder=None) as memory:
        ...     _ = memory.create_thread(thread_id="t", user_id="ana").add_messages(
        ...         [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "good day"}]
        ...     )
        ...     index = RestIndex(memory.store)
        ...     with index.reading() as reader:
        ...         [
        ...             one.document.source["response"]
        ...             for one in reader.messages(reader.memory("t"), skip=0, most=9)
        ...         ]
        ['good day']
    """

    def __init__(
        self,
        store: SqlMemoryStore,
        *,
        clock: Clock = utc_now,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.store = store
        self.cache: Final = DocumentCache()
        self._clock = clock
        if not store.consult(is_prepared):
            store.transact(_prepare_once)
        self._salt = bytes.fromhex(store.consult(lambda conn: read_text(conn, "salt")) or "")
        self.catch_up(progress)
        store.add_write_step(self._after_write)

    def now(self) -> datetime:
        """Return the present time."""
        return self._clock()

    def catch_up(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Take in what others have changed.

        Args:
            progress: Called with how many changes are done, and how many there are.
        """
        total = done = 0
        if progress is not None:
            total = self.store.consult(count_changes)
        while count := self.store.transact(self._take_in):
            done += count
            if progress is not None:
                progress(done, max(total, done))

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """Yield the documents as they are now, by whichever door they were written."""
        if self.store.consult(has_changes):
            self.catch_up()
        with self.store._read() as conn:
            yield Reader(conn, now=self._clock())

    def statistics(self, reader: Reader) -> StoredStatistics:
        """Return the statistics of words in the transaction of a reader."""
        return StoredStatistics(reader.conn, self._salt)

    @contextmanager
    def alongside(self, step: Step) -> Iterator[None]:
        """Have a step done in the write transactions of the block, before their changes are taken in.

        Args:
            step: Called with the connection; what it raises rolls the transaction back.
        """
        token = _alongside.set(step)
        try:
            yield
        finally:
            _alongside.reset(token)

    def _after_write(self, conn: Connection) -> None:
        step = _alongside.get()
        if step is not None:
            step(conn)
        while self._take_in(conn) == BATCH:
            pass

    def _take_in(self, conn: Connection) -> int:
        return take_in(conn, self.store._index_sql.driver(conn), self._salt)


def _prepare_once(conn: Connection) -> None:
    # Another worker may have done it a moment ago.
    if not is_prepared(conn):
        prepare(conn)
