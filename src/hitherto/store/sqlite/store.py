"""SQLiteStore: the embedded backend, one file and no server."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.lifetime import Clock, MemoryRetentionConfig, utc_now
from hitherto.store.base import SearchStrategy
from hitherto.store.checks import check_flag
from hitherto.store.settings import SearchSettings, checked_cache, checked_settings, checked_timeout
from hitherto.store.sql import fingerprint
from hitherto.store.sql.migrate import (
    SchemaPolicy,
    check_policy,
    check_readable,
    prepare,
    read_version,
)
from hitherto.store.sql.shelf_search import DEFAULT_CACHE_BYTES, ShelfSearch
from hitherto.store.sql.store import SqlMemoryStore
from hitherto.store.sql.tables import SCHEMA_VERSION
from hitherto.store.sqlite.engine import Durability, SqliteEngine, warn_of_wal_reset_race
from hitherto.store.sqlite.errors import translate_errors
from hitherto.store.sqlite.index import CREATION, SQLITE_INDEX

if TYPE_CHECKING:
    from hitherto.models.base import Embedder

log = logging.getLogger("hitherto.store")


class SQLiteStore(SqlMemoryStore):
    """A store in one SQLite file.

    Threads may share it, and processes may share the file. A child of a fork may go on using it.

    Args:
        path: The file, created if the policy allows; ":memory:" for a store that ends with the object.
        embedder: What turns texts into vectors, or None to search by words alone.
        schema_policy: What opening may do to the schema, as a SchemaPolicy or its value.
        memory_retention_config: How long records live that do not say so, and at most.
        search_strategy: What a search looks at.
        durability: "full" survives a power cut; "normal" is faster and survives the end of the process only.
        busy_timeout_s: How long a write waits for another process's, in seconds.
        cache_bytes: How much memory cached vectors may take.
        search_settings: How words, meaning and context are weighed; None for the defaults.
        read_only: Whether to open for reading only; so it is for a file that may not be written.
        check_embedder: Whether another embedder than that of the stored vectors is refused; False only to
            call :meth:`reembed`.
        clock: Returns the present time.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If an argument is not allowed.
        SchemaError: If the schema is not as the policy wants it.
        EmbedderMismatchError: If the stored vectors are another embedder's.
        BusyError: If the file stayed locked.
        StoreError: If the file is no database, or cannot be opened.

    Examples:
        >>> with SQLiteStore(":memory:") as store:
        ...     _ = store.add(["Ana plays the cello"], "fact", record_ids="f1", user_ids="ana")
        ...     [record.id for record, distance in store.search("cello", 1)]
        ['f1']
    """

    _index_sql = SQLITE_INDEX

    def __init__(
        self,
        path: str | os.PathLike[str] = ":memory:",
        *,
        embedder: Embedder | None = None,
        schema_policy: SchemaPolicy | str = SchemaPolicy.CREATE_IF_NECESSARY,
        memory_retention_config: MemoryRetentionConfig | None = None,
        search_strategy: SearchStrategy = SearchStrategy.HYBRID,
        durability: Durability = "full",
        busy_timeout_s: float = 30.0,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        search_settings: SearchSettings | None = None,
        read_only: bool = False,
        check_embedder: bool = True,
        clock: Clock = utc_now,
    ) -> None:
        super().__init__(
            embedder=embedder,
            memory_retention_config=memory_retention_config,
            search_strategy=search_strategy,
            clock=clock,
        )
        settings = checked_settings(search_settings)
        check_flag(read_only, argument="read_only")
        check_flag(check_embedder, argument="check_embedder")
        self._topic_weight = settings.topic_weight
        self._where = _checked_path(path)
        policy = check_policy(schema_policy)
        exists = self._where != ":memory:" and os.path.exists(self._where)
        read_only = read_only or (exists and not os.access(self._where, os.W_OK))
        warn_of_wal_reset_race()
        self._engine = SqliteEngine(
            self._where,
            durability=durability,
            busy_timeout_s=checked_timeout(busy_timeout_s),
            read_only=read_only,
            create=not read_only and policy not in (SchemaPolicy.REQUIRE_EXISTING, SchemaPolicy.NO_CHECK),
        )
        self._index = ShelfSearch(
            SQLITE_INDEX,
            strategy=search_strategy,
            cache_bytes=checked_cache(cache_bytes),
            settings=settings,
        )
        try:
            self._open(policy, read_only=read_only, check_embedder=check_embedder)
        except BaseException:
            self._engine.close()
            raise

    def _open(self, policy: SchemaPolicy, *, read_only: bool, check_embedder: bool) -> None:
        if policy is not SchemaPolicy.NO_CHECK:
            self._prepare(policy, read_only=read_only)
        with self._read() as conn:
            stored = fingerprint.read_fingerprint(conn)
            interrupted = fingerprint.read_meta(conn, fingerprint.PROGRESS_KEY) is not None
        if self._embedder is not None and check_embedder:
            fingerprint.check_fingerprint(
                stored, fingerprint.embedder_fingerprint(self._embedder), self._where
            )
        if interrupted:
            log.warning("%s: re-embedding was interrupted; call reembed() to finish it", self._where)

    def _prepare(self, policy: SchemaPolicy, *, read_only: bool) -> None:
        if policy is not SchemaPolicy.RECREATE and self._is_current():
            return
        if read_only or policy is SchemaPolicy.REQUIRE_EXISTING:
            with self._read() as conn:
                check_readable(conn, self._where, read_only=read_only)
            return
        with self._write() as conn:
            prepare(conn, policy, creation=CREATION, where=self._where)
        with translate_errors(self._where, self._engine.lost_file):
            self._engine.use_wal()

    def _is_current(self) -> bool:
        from sqlalchemy.exc import OperationalError

        with translate_errors(self._where, self._engine.lost_file), self._engine.read() as conn:
            try:
                return read_version(conn) == SCHEMA_VERSION
            except OperationalError:
                return False

    @property
    def path(self) -> str:
        """The file, or ":memory:"."""
        return self._where

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with translate_errors(self._where, self._engine.lost_file), self._engine.read() as conn:
            yield conn

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        with translate_errors(self._where, self._engine.lost_file), self._engine.write() as conn:
            yield conn

    def _erase_user(self, user_id: str) -> int:
        count = super()._erase_user(user_id)
        self._scrub()
        return count

    def _scrub(self) -> None:
        # secure_delete has zeroed what was freed; the log still holds the pages of before, until it is emptied.
        if self._engine.in_memory:
            return
        with translate_errors(self._where, self._engine.lost_file), self._engine.bare() as driver:
            busy, _, _ = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            log.warning(
                "%s: a reader kept the log from being emptied; what was erased stays in %s-wal until the next "
                "erase_user(), or until the last connection closes",
                self._where,
                self._where,
            )

    def close(self) -> None:
        """Free connections and caches; calling it again does nothing."""
        self._engine.close()


def _checked_path(path: object) -> str:
    if isinstance(path, os.PathLike):
        path = os.fspath(path)
    if not isinstance(path, str):
        raise ArgumentTypeError(f'path must be a path or ":memory:", got {shown(path)}', argument="path")
    if not path or "\0" in path:
        raise InvalidArgumentError(f'path must be a path or ":memory:", got {shown(path)}', argument="path")
    return path
