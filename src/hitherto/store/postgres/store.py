"""PostgresStore: the backend for many processes and machines."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import ArgumentError

from hitherto.aio import awaitable
from hitherto.errors import AlreadyStoredError, ArgumentTypeError, InvalidArgumentError, StoreError, shown
from hitherto.lifetime import Clock, MemoryRetentionConfig, utc_now
from hitherto.scope import check_id
from hitherto.store.base import SearchStrategy
from hitherto.store.checks import check_flag
from hitherto.store.postgres.engine import MOST_PARTS, PostgresEngine
from hitherto.store.postgres.errors import (
    InterruptedTransactionError,
    SimultaneousWriteError,
    translate_errors,
)
from hitherto.store.postgres.extension import prepare_extension
from hitherto.store.postgres.index import POSTGRES_INDEX, settle
from hitherto.store.postgres.isolation import DEFAULT_ROLE, bind, check_role, isolate, read_seal
from hitherto.store.postgres.search import MOST_INDEXED, PostgresSearch, build_index
from hitherto.store.postgres.tables import divided_ddl, drop_statements, metadata
from hitherto.store.postgres.words import build_words
from hitherto.store.settings import SearchSettings, checked_cache, checked_settings, checked_timeout
from hitherto.store.sql import fingerprint
from hitherto.store.sql.jobs import SqlJobs
from hitherto.store.sql.migrate import (
    Creation,
    SchemaPolicy,
    check_current,
    check_policy,
    prepare,
    read_version,
)
from hitherto.store.sql.rows import owner_id
from hitherto.store.sql.shelf_search import DEFAULT_CACHE_BYTES
from hitherto.store.sql.store import SqlMemoryStore
from hitherto.store.sql.tables import SCHEMA_VERSION
from hitherto.store.sql.write import NotAloneError

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy import URL

    from hitherto.models.base import Embedder
    from hitherto.store.jobs import JobStep
    from hitherto.store.requests import NewRecord

log = logging.getLogger("hitherto.store")

T = TypeVar("T")

SCHEMES: Final = ("postgresql://", "postgres://")
_HAS_COLUMN: Final = (
    "SELECT EXISTS (SELECT FROM pg_attribute WHERE attname = 'version_num' AND attrelid = to_regclass({}))"
)
_HAS_VERSION: Final = text(_HAS_COLUMN.format("'schema_version'"))
_HAS_OWN_VERSION: Final = text(_HAS_COLUMN.format("quote_ident(current_schema()) || '.schema_version'"))
"""A store that may be made is looked for where it would be, not in schemas further on the search path."""
_ELSEWHERE: Final = (
    "give hitherto a schema of its own: CREATE SCHEMA memory, and in the URL "
    "?options=-csearch_path%3Dmemory,public"
)
_TRIES: Final = 8
_FIRST_PAUSE_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Bound:
    """Whom every connection of a store acts for.

    Attributes:
        user_id: The user.
        seal: The user's seal.
        role: The role to act as, or None for that of the login.
    """

    user_id: str
    seal: str
    role: str | None

    def settle(self, driver: psycopg.Connection[Any]) -> None:
        """Prepare a new connection.

        Args:
            driver: The connection.
        """
        settle(driver)
        bind(driver, self.user_id, self.seal, self.role)


def _again(name: str) -> Any:
    """Return a verb that is run again where its transaction was interrupted."""
    inherited = getattr(SqlMemoryStore, name)

    def verb(self: PostgresStore, *args: Any, **kwargs: Any) -> Any:
        return self._repeated(lambda: inherited(self, *args, **kwargs))

    verb.__name__, verb.__doc__ = name, inherited.__doc__
    return verb


class PostgresStore(SqlMemoryStore):
    """A store in one schema of a PostgreSQL database with pgvector.

    Threads, processes and machines may share it. Records of different users are added side by side, all other writes
    take turns; reads never wait. What is interrupted by a deadlock, a lost connection or a restart of the server is
    run again, so that nothing is stored twice.

    Args:
        url: The database: ``postgresql://user:password@host:port/name``.
        embedder: What turns texts into vectors, or None to search by words alone.
        schema_policy: What opening may do to the schema, as a SchemaPolicy or its value. REQUIRE_EXISTING needs no
            right but that to read.
        memory_retention_config: How long records live that do not say so, and at most.
        search_strategy: What a search looks at.
        busy_timeout_s: How long a write waits for others, and a call for a free connection, in seconds.
        pool_size: How many connections this store uses at most.
        replica_url: A streaming replica that reads go to, once it has what this store wrote; else they go to url.
        partitions: Into how many parts each large table of a new store is divided, by a hash of the user.
        cache_bytes: How much memory cached indexes may take.
        search_settings: How words, meaning and context are weighed; None for the defaults.
        read_only: Whether to open for reading only.
        check_embedder: Whether another embedder than that of the stored vectors is refused; False only to
            call :meth:`reembed`.
        clock: Returns the present time.

    Raises:
        ArgumentTypeError: If an argument has the wrong type.
        InvalidArgumentError: If an argument is not allowed.
        SchemaError: If the schema is not as the policy wants it.
        EmbedderMismatchError: If the stored vectors are another embedder's.
        StoreError: If the database cannot be reached or refuses.
    """

    _index_sql = POSTGRES_INDEX

    def __init__(
        self,
        url: str,
        *,
        embedder: Embedder | None = None,
        schema_policy: SchemaPolicy | str = SchemaPolicy.CREATE_IF_NECESSARY,
        memory_retention_config: MemoryRetentionConfig | None = None,
        search_strategy: SearchStrategy = SearchStrategy.HYBRID,
        busy_timeout_s: float = 30.0,
        pool_size: int = 8,
        replica_url: str | None = None,
        partitions: int = 16,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        search_settings: SearchSettings | None = None,
        read_only: bool = False,
        check_embedder: bool = True,
        clock: Clock = utc_now,
        _bound: Bound | None = None,
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
        parsed = _checked_url(url)
        self._where = parsed.render_as_string(hide_password=True).replace("+psycopg", "", 1)
        policy = check_policy(schema_policy)
        self._creation = _creation(partitions)
        self._url = url
        self._options: dict[str, Any] = {
            "embedder": embedder,
            "memory_retention_config": memory_retention_config,
            "search_strategy": search_strategy,
            "busy_timeout_s": busy_timeout_s,
            "search_settings": search_settings,
            "read_only": read_only,
            "clock": clock,
        }
        self._index = PostgresSearch(
            POSTGRES_INDEX,
            strategy=search_strategy,
            cache_bytes=checked_cache(cache_bytes),
            settings=settings,
        )
        connections: dict[str, Any] = {
            "where": self._where,
            "pool_size": _checked_count(pool_size, "pool_size"),
            "busy_timeout_s": checked_timeout(busy_timeout_s),
            "settle": settle if _bound is None else _bound.settle,
        }
        replica = None if replica_url is None else _checked_url(replica_url, argument="replica_url")
        self._engine = PostgresEngine(parsed, read_only=read_only, **connections)
        self._replica: PostgresEngine | None = None
        self._start(policy, check_embedder, replica, connections)

    def _start(
        self,
        policy: SchemaPolicy,
        check_embedder: bool,
        replica: URL | None,
        connections: dict[str, Any],
    ) -> None:
        try:
            self._repeated(lambda: self._open(policy, check_embedder=check_embedder))
            if replica is not None:
                self._replica = PostgresEngine(replica, read_only=True, **connections)
                self._engine.follow = True
        except BaseException:
            self.close()
            raise

    def _open(self, policy: SchemaPolicy, *, check_embedder: bool) -> None:
        if policy is SchemaPolicy.NO_CHECK:
            return
        self._prepare(policy)
        with self._read() as conn:
            stored = fingerprint.read_fingerprint(conn)
            interrupted = fingerprint.read_meta(conn, fingerprint.PROGRESS_KEY) is not None
        if self._embedder is not None and check_embedder:
            fingerprint.check_fingerprint(
                stored, fingerprint.embedder_fingerprint(self._embedder), self._where
            )
        if interrupted:
            log.warning("%s: re-embedding was interrupted; call reembed() to finish it", self._where)

    def _prepare(self, policy: SchemaPolicy) -> None:
        if policy is not SchemaPolicy.RECREATE:
            makes = policy is not SchemaPolicy.REQUIRE_EXISTING and not self._engine.read_only
            with self._read() as conn:
                found = conn.execute(_HAS_OWN_VERSION if makes else _HAS_VERSION).scalar()
                version = read_version(conn) if found else None
            if version == SCHEMA_VERSION:
                return
            if not makes:
                check_current(version, self._where)
        # The lock that every write takes lets one process at a time create or upgrade; the next finds it done.
        with self._write() as conn:
            prepare_extension(conn, self._where)
            prepare(conn, policy, creation=self._creation, where=self._where)

    def index_vectors(self) -> None:
        """Build the HNSW index of all vectors, for searches by a vector alone in more than ``exact_rows`` records.

        Adding records takes longer with it. Writes go on while it is built, one partition after the other; a call
        that was interrupted is made again. A user's records are searched without it.

        Raises:
            InvalidArgumentError: If there are no vectors yet, or they have more than 4,000 dimensions.
        """
        stored = self.stored_fingerprint
        if stored is None or stored.dimension > MOST_INDEXED:
            raise InvalidArgumentError(
                f"vectors are indexed when there are some, of up to {MOST_INDEXED} dimensions; there are "
                + ("none" if stored is None else f"some of {stored.dimension}")
            )
        with translate_errors(self._where), self._engine.statements() as conn:
            build_index(conn, stored.dimension)
        self.transact(lambda conn: conn.exec_driver_sql("ANALYZE vectors, entries"))

    index_vectors_async = awaitable(index_vectors)

    def index_words(self) -> None:
        """Build the index of words, for searches with a text in scopes that do not fit in ``cache_bytes``.

        The database then finds candidates, which are ranked as ever, where else the whole scope would be read for
        each search. Adding records takes longer with it. Writes go on while it is built, one partition after the
        other; a call that was interrupted is made again, and goes on. Where the index is there nothing is done. A
        store that was opened by :meth:`for_user` searches without it.

        Raises:
            StoreError: If this connection does not own the tables.
        """
        with translate_errors(self._where), self._engine.statements() as conn:
            build_words(conn)

    index_words_async = awaitable(index_words)

    def isolate_users(self, role: str = DEFAULT_ROLE) -> None:
        """Let the database itself keep users apart, for connections of a role; calling it again does nothing new.

        Row-level security then holds for every role but the owner of the tables, to whom this store stays open.

        Args:
            role: The role that :meth:`for_user` acts as; it is created if there is none.

        Raises:
            InvalidArgumentError: If the role's name is not made of small letters, digits and underscores.
            StoreError: If this connection may not create a role or does not own the tables.
        """
        self.transact(lambda conn: isolate(conn, role))

    isolate_users_async = awaitable(isolate_users)

    def for_user(
        self, user_id: str, *, role: str = DEFAULT_ROLE, url: str | None = None, pool_size: int = 2
    ) -> PostgresStore:
        """Open this store for one end user: its connections cannot read or write another's rows, whatever the SQL.

        Args:
            user_id: The user.
            role: The role that was given to :meth:`isolate_users`.
            url: The same database with a login that is a member of the role and owns nothing. Without one the
                connections take the role on by ``SET ROLE``, which a hostile statement could take back.
            pool_size: How many connections it uses at most.

        Returns:
            A store that is closed on its own.

        Raises:
            SchemaError: If :meth:`isolate_users` was never called.
            InvalidIdError: If the user's id is none.
        """
        check_role(role)
        user_id = check_id(user_id, argument="user_id")
        seal = self.consult(lambda conn: read_seal(conn, user_id, self._where))
        return PostgresStore(
            self._url if url is None else url,
            schema_policy=SchemaPolicy.REQUIRE_EXISTING,
            pool_size=pool_size,
            _bound=Bound(user_id, seal, role if url is None else None),
            **self._options,
        )

    for_user_async = awaitable(for_user)

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with translate_errors(self._where):
            if self._replica is not None:
                with self._replica.read(through=self._engine.written) as copied:
                    if copied is not None:
                        yield copied
                        return
            with self._engine.read() as conn:
                assert conn is not None  # noqa: S101  only a replica may be behind
                yield conn

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        self._check_writable()
        with translate_errors(self._where), self._engine.write() as conn:
            yield conn

    def _check_writable(self) -> None:
        if self._engine.read_only:
            raise StoreError(f"{self._where} is open for reading only")

    def _repeated(self, run: Callable[[], T]) -> T:
        for attempt in range(_TRIES):
            try:
                return run()
            except InterruptedTransactionError as error:
                if attempt == _TRIES - 1:
                    raise
                log.info("%s: trying again: %s", self._where, error)
            # At random, so that those who met do not meet again.
            time.sleep(_FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1))
        raise AssertionError("the last attempt returns or raises")

    def _insert(self, new: Sequence[NewRecord]) -> list[str]:
        return self._added(new, None)

    def _insert_also(self, new: Sequence[NewRecord], also: JobStep) -> list[str]:
        return self._added(new, also)

    def _added(self, new: Sequence[NewRecord], also: JobStep | None) -> list[str]:
        # What is done at the end of each transaction may be about anything.
        parts = None if self._write_steps else _parts(new)
        interrupted = False

        def run() -> list[str]:
            nonlocal parts, interrupted
            try:
                return self._add(new, also, parts)
            except (NotAloneError, SimultaneousWriteError):
                if parts is None:
                    raise
                parts = None
                return run()
            except InterruptedTransactionError:
                interrupted = True
                raise
            except AlreadyStoredError:
                if interrupted:
                    # The first attempt was committed; only the answer was lost.
                    return [record.id for record in new]
                raise

        return self._repeated(run)

    def _add(
        self, new: Sequence[NewRecord], also: JobStep | None, parts: Collection[str] | None
    ) -> list[str]:
        self._check_writable()
        # Records that are added again tell by their ids whether they are stored, which is surer than to ask.
        with translate_errors(self._where), self._engine.write(parts=parts, confirm=False) as conn:
            ids = self._insert_within(conn, new, alone=parts is None)
            if also is not None:
                also(SqlJobs(conn))
            self._take_write_steps(conn)
            return ids

    _get = _again("_get")
    _list = _again("_list")
    _list_messages = _again("_list_messages")
    _update = _again("_update")
    _update_also = _again("_update_also")
    consult = _again("consult")
    transact = _again("transact")
    _delete = _again("_delete")
    _search = _again("_search")
    _expiration = _again("_expiration")
    _created_at = _again("_created_at")
    _erase_user = _again("_erase_user")
    _purge_expired = _again("_purge_expired")
    _insert_relations = _again("_insert_relations")
    _update_relations = _again("_update_relations")
    _list_relations = _again("_list_relations")
    _delete_relations = _again("_delete_relations")

    def close(self) -> None:
        """Free connections and caches; calling it again does nothing."""
        self._engine.close()
        if self._replica is not None:
            self._replica.close()


def _parts(new: Sequence[NewRecord]) -> set[str] | None:
    """Return what of a store is changed when records are added: users and threads; None if they are too many."""
    users = {f"user {owner_id(record) or ''}" for record in new}
    found = users | {f"thread {record.thread_id}" for record in new if record.thread_id is not None}
    return found if len(found) <= MOST_PARTS else None


def _creation(partitions: int) -> Creation:
    ddl = divided_ddl(_checked_count(partitions, "partitions"))
    return Creation(ddl, _ELSEWHERE, tables=metadata, drops=drop_statements())


def _checked_url(url: object, argument: str = "url") -> URL:
    if not isinstance(url, str):
        raise ArgumentTypeError(f"{argument} must be a str, got {shown(url)}", argument=argument)
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or not url.startswith(SCHEMES):
        # A URL may hold a password, so it is not shown.
        raise InvalidArgumentError(
            f"{argument} must be like postgresql://user:password@host:port/name, got one that starts with "
            f"{url.split(':')[0]!r}",
            argument=argument,
        )
    return parsed.set(drivername="postgresql+psycopg")


def _checked_count(value: object, argument: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1024:
        raise InvalidArgumentError(
            f"{argument} must be an int from 1 to 1024, got {shown(value)}", argument=argument
        )
    return value
