"""Connections to one PostgreSQL database: a pool, read and write transactions, lost connections, forks.

Writers of one schema take turns by an advisory lock that ends with their transaction. Those who only add records
share it, and lock the users and threads of the records instead: record and version numbers are in the order of commits
within a user and within a thread. A reader never waits; what it reads is of one moment.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from hitherto.errors import ClosedError, InvalidArgumentError
from hitherto.store.postgres.errors import InterruptedTransactionError, is_lost

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    from sqlalchemy import URL

log = logging.getLogger("hitherto.store")

# Of one store for all who have it on their search path, whatever else is on it.
_SCHEMA: Final = (
    "hashtext(coalesce((SELECT relnamespace::regnamespace::text FROM pg_class "
    "WHERE oid = to_regclass('schema_version')), quote_ident(current_schema())))"
)
_LOCK: Final = text(f"SELECT pg_advisory_xact_lock(1751741544, {_SCHEMA}), pg_current_xact_id()::text")
# In order, so that nobody waits for one who waits for him.
_LOCK_PARTS: Final = text(
    f"SELECT pg_advisory_xact_lock_shared(1751741544, {_SCHEMA}), (SELECT count(pg_advisory_xact_lock(key)) "  # noqa: S608  own text
    f"FROM (SELECT DISTINCT hashtextextended(part, {_SCHEMA}) AS key "
    "FROM unnest(CAST(:parts AS text[])) AS part ORDER BY 1) keys), pg_current_xact_id()::text"
)
MOST_PARTS: Final = 32
"""So many parts at most are locked one by one: the server has room for some thousands of locks in all."""
_OUTCOME: Final = text("SELECT pg_xact_status(CAST(:xid AS xid8))")
_WRITTEN: Final = text("SELECT CAST(pg_current_wal_lsn() - '0/0'::pg_lsn AS bigint)")
_ARRIVED: Final = text("SELECT CAST(pg_last_wal_replay_lsn() - '0/0'::pg_lsn AS bigint)")
_OUTCOME_TRIES: Final = 40

# The parent's connections must not even be closed by a child: keeping them referenced prevents that.
_inherited: list[object] = []


class PostgresEngine:
    """Connections to one PostgreSQL database.

    Args:
        url: The database.
        where: What it is called in messages.
        read_only: Whether every transaction is for reading only.
        pool_size: How many connections are kept, and used at once, at most.
        busy_timeout_s: How long a write waits for another one, and a call for a free connection, in seconds.
        settle: Called with each new connection.
    """

    def __init__(
        self,
        url: URL,
        *,
        where: str,
        read_only: bool,
        pool_size: int,
        busy_timeout_s: float,
        settle: Callable[[psycopg.Connection[Any]], None] | None = None,
    ) -> None:
        self._url = url
        self._where = where
        self.read_only = read_only
        self._pool_size = pool_size
        self._busy_timeout_s = busy_timeout_s
        self._settle = settle
        self._closed = False
        self.follow = False
        """Whether to note how far the log has come after each write."""
        self.written = 0
        """Through which place in the log this store has written."""
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        try:
            self._engine: Engine = create_engine(
                self._url,
                pool_size=self._pool_size,
                max_overflow=0,
                pool_timeout=self._busy_timeout_s,
                pool_use_lifo=True,
                use_native_hstore=False,
                # Whatever the server's default: what was committed while a write waited for its turn must be seen.
                isolation_level="READ COMMITTED",
            )
        except (SQLAlchemyError, ValueError) as error:
            raise InvalidArgumentError(
                f"{self._where} is no URL of a database: {error}", argument="path"
            ) from error
        event.listen(self._engine, "connect", self._connected)
        self._readers = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )

    def _connected(self, driver: psycopg.Connection[Any], _record: object) -> None:
        timeout = int(self._busy_timeout_s * 1000) or 1
        driver.execute(f"SET lock_timeout = {timeout}")
        if self._settle is not None:
            self._settle(driver)
        driver.commit()

    @contextmanager
    def read(self, *, through: int | None = None) -> Iterator[Connection | None]:
        """Yield a connection in a read transaction: everything that is read in it is of one moment.

        Args:
            through: For a replica: a place in the primary's log that must have arrived.

        Yields:
            The connection, or None where the replica cannot be reached or is behind.
        """
        self._check_open()
        with ExitStack() as stack:
            try:
                conn: Connection | None = stack.enter_context(self._transaction(self._readers))
                if through is not None and not self._has_arrived(conn, through):
                    conn = None
            except SQLAlchemyError as error:
                if through is None or not is_lost(error):
                    raise
                conn = None
            yield conn
            if conn is not None:
                conn.rollback()

    def _has_arrived(self, conn: Connection | None, through: int) -> bool:
        assert conn is not None  # noqa: S101  narrows the type
        arrived = conn.execute(_ARRIVED).scalar()
        # What follows must be of a moment after this answer.
        conn.rollback()
        return arrived is not None and arrived >= through

    @contextmanager
    def write(self, *, parts: Collection[str] | None = None, confirm: bool = True) -> Iterator[Connection]:
        """Yield a connection in a write transaction; commit it, or roll it back if anything is raised.

        Args:
            parts: What of the store the transaction changes, by names that all writers use, at most MOST_PARTS: who
                names others writes at the same time. None for a transaction that is to be alone.
            confirm: Whether to ask the server what became of the transaction if the connection is lost just while
                it commits; else that is an InterruptedTransactionError, as if it had not been committed.
        """
        self._check_open()
        with self._transaction(self._engine) as conn:
            locked = (
                conn.execute(_LOCK) if parts is None else conn.execute(_LOCK_PARTS, {"parts": list(parts)})
            )
            xid = locked.one()[-1]
            yield conn
            try:
                conn.commit()
            except Exception as error:
                if not (confirm and is_lost(error) and self._was_committed(xid)):
                    raise
            if self.follow:
                self.written = max(self.written, conn.execute(_WRITTEN).scalar_one())

    @contextmanager
    def statements(self) -> Iterator[Connection]:
        """Yield a connection on which each statement stands for itself, for those that refuse a transaction."""
        self._check_open()
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
            yield conn

    @contextmanager
    def _transaction(self, engine: Engine) -> Iterator[Connection]:
        pid = self._pid
        conn = engine.connect()
        try:
            yield conn
        except BaseException as error:
            # What was raised past SQLAlchemy, by the driver, it does not know of.
            if is_lost(error):
                conn.invalidate()
            raise
        finally:
            if pid != self._pid:
                _inherited.append(conn)
            else:
                # Returning a connection to the pool rolls back what is open; a lost one cannot.
                with suppress(SQLAlchemyError):
                    conn.close()

    def _was_committed(self, xid: str) -> bool:
        """Ask the server what became of a transaction whose connection was lost while it was being committed."""
        for attempt in range(_OUTCOME_TRIES):
            time.sleep(min(0.02 * 2**attempt, 0.5))
            try:
                with self._engine.connect() as conn:
                    outcome = conn.execute(_OUTCOME, {"xid": xid}).scalar()
            except SQLAlchemyError as error:
                if is_lost(error):
                    continue
                # A server that was restarted may not have heard of this number: nothing of it is left.
                return False
            if outcome != "in progress":
                return bool(outcome == "committed")
        raise InterruptedTransactionError(
            f"{self._where}: the server did not say whether a write was committed"
        )

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError(f"{self._where} was closed; open it again")
        if self._pid != os.getpid():
            _inherited.append(self._engine)
            self._start()

    def close(self) -> None:
        """Close all connections; those in use are closed when they come back."""
        self._closed = True
        if self._pid == os.getpid():
            self._engine.dispose()
