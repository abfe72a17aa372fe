"""Connections to one SQLite file: pragmas, one writer, a pool of readers, forks.

Connections are kept: opening one costs more than a query. A connection never crosses a fork: a child process
leaves its parent's untouched and opens its own.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal
from urllib.parse import quote

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from hitherto.errors import ClosedError, InvalidArgumentError, SchemaError, shown
from hitherto.store.sql.migrate import MARKS

log = logging.getLogger("hitherto.store")

Durability = Literal["full", "normal"]

PAGE_SIZE: Final = 8192
MAX_IDLE: Final = 16
_WRITE_STEP_S: Final = 0.005
"""How long a write that finds another process's under way waits until it tries again, in seconds.

A millisecond makes processes take turns more often, which costs a third of what they write together.
"""

_OTHERS: Final = (
    "SELECT count(*) > 0 AND sum(name IN (SELECT value FROM json_each(?))) < ? FROM sqlite_master "
    "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
)
"""Whether a file has tables, and they are not ours."""

# The parent's connections must not even be closed by a child: keeping them referenced prevents that.
_inherited: list[object] = []


class SqliteEngine:
    """Connections to one SQLite database.

    Args:
        path: The file, or ":memory:".
        durability: "full" survives a power cut, "normal" only the end of the process.
        busy_timeout_s: How long a write waits for another process's, in seconds.
        read_only: Whether to open for reading only.
        create: Whether to create the file if it is absent.
    """

    def __init__(
        self, path: str, *, durability: Durability, busy_timeout_s: float, read_only: bool, create: bool
    ) -> None:
        if durability not in ("full", "normal"):
            raise InvalidArgumentError(
                f'durability must be "full" or "normal", got {shown(durability)}', argument="durability"
            )
        self.path = path
        self.in_memory = path == ":memory:"
        self.read_only = read_only
        self._synchronous = durability.upper()
        self._busy_timeout_s = busy_timeout_s
        self._busy_timeout_ms = int(busy_timeout_s * 1000)
        if not self.in_memory and not create and not Path(path).exists():
            how = (
                "without read_only=True"
                if read_only
                else "with schema_policy=SchemaPolicy.CREATE_IF_NECESSARY"
            )
            raise SchemaError(f"{path} does not exist; open it once {how} to create it")
        self._mode = "ro" if read_only else "rwc" if create else "rw"
        self._identity: tuple[int, int] | None = None
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._write_lock = threading.RLock()
        self._idle: deque[Connection] = deque()
        self._writer: Connection | None = None
        self._asks_itself = False
        self._engine = create_engine("sqlite://", creator=self._connect, poolclass=NullPool)
        event.listen(self._engine, "begin", self._begin)

    def _connect(self) -> sqlite3.Connection:
        # autocommit mode: BEGIN is ours to say, because a write must begin IMMEDIATE.
        target = (
            ":memory:" if self.in_memory else f"file:{quote(os.path.abspath(self.path))}?mode={self._mode}"
        )
        conn = sqlite3.connect(
            target,
            uri=not self.in_memory,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            self._settle(conn)
        except BaseException:
            conn.close()
            raise
        if self._identity is None and not self.in_memory:
            self._identity = _identity(self.path)
            # A file that is deleted later is not to come back as an empty one.
            self._mode = "ro" if self.read_only else "rw"
        return conn

    def _settle(self, conn: sqlite3.Connection) -> None:
        conn.execute(f"PRAGMA busy_timeout = {self._busy_timeout_ms}")
        if not self.read_only and not _is_others(conn):
            conn.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            _use_wal(conn)
        conn.execute(f"PRAGMA synchronous = {self._synchronous}")
        conn.execute("PRAGMA foreign_keys = ON")
        conn.execute("PRAGMA secure_delete = ON")
        conn.execute("PRAGMA temp_store = MEMORY")

    def use_wal(self) -> None:
        """Write to a log from now on; a file is left as it is until there are tables of ours in it."""
        with self.bare() as driver:
            _use_wal(driver)

    def lost_file(self) -> str | None:
        """Return what became of the file since it was opened, "deleted" or "replaced", or None."""
        if self._identity is None:
            return None
        now = _identity(self.path)
        return None if now == self._identity else "deleted" if now is None else "replaced"

    def _begin(self, conn: Connection) -> None:
        if not conn.get_execution_options().get("hitherto_immediate", False):
            conn.exec_driver_sql("BEGIN")
            return
        until = time.monotonic() + self._busy_timeout_s
        while not _has_begun(conn, last_try=not self._asks_itself or time.monotonic() >= until):
            time.sleep(_WRITE_STEP_S)

    def _opened_writer(self) -> Connection:
        if self._writer is None:
            self._writer = self._engine.connect().execution_options(hitherto_immediate=True)
            driver = driver_of(self._writer)
            # SQLite itself would ask ever more seldom, in the end ten times a second, and hardly ever meet the moment
            # in which a busy writer of another process lets go. In WAL mode nothing but the beginning has to wait.
            self._asks_itself = driver.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            self._wait_in_sqlite(driver, waits=not self._asks_itself)
        return self._writer

    def _wait_in_sqlite(self, driver: sqlite3.Connection, *, waits: bool) -> None:
        # As a script, because this pragma works when it is compiled, and execute() keeps what it has compiled.
        driver.executescript(f"PRAGMA busy_timeout = {self._busy_timeout_ms if waits else 0}")

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Yield a connection in a write transaction; commit it, or roll it back if anything is raised."""
        self._check_open()
        with self._write_lock:
            self._check_open()
            writer = self._opened_writer()
            with writer.begin():
                yield writer

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection in a read transaction: everything that is read in it is of one moment."""
        self._check_open()
        if self.in_memory:
            # There is only one connection to a database in memory.
            with self.write() as conn:
                yield conn
            return
        pid, conn = self._pid, self._borrow()
        try:
            with conn.begin():
                yield conn
        finally:
            self._give_back(conn, pid)

    def _borrow(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._engine.connect()

    def _give_back(self, conn: Connection, pid: int) -> None:
        if pid != self._pid:
            _inherited.append(conn)
        elif self._closed or len(self._idle) >= MAX_IDLE:
            conn.close()
        else:
            self._idle.append(conn)

    @contextmanager
    def bare(self) -> Iterator[sqlite3.Connection]:
        """Yield the writer's driver connection outside any transaction, for pragmas."""
        self._check_open()
        with self._write_lock:
            writer = self._opened_writer()
            driver = driver_of(writer)
            self._wait_in_sqlite(driver, waits=True)
            try:
                yield driver
            finally:
                # Asking for the driver connection began nothing; leave no transaction behind either way.
                writer.rollback()
                self._wait_in_sqlite(driver, waits=not self._asks_itself)

    def _check_open(self) -> None:
        if self._pid != os.getpid():
            if self.in_memory:
                raise ClosedError(
                    "a store in memory does not outlive a fork; open another in the child process"
                )
            _inherited.extend([self._engine, self._writer, *self._idle])
            self._start()
        if self._closed:
            raise ClosedError(f"{self.path} was closed; open it again")

    def close(self) -> None:
        """Close all connections; those in use are closed when they come back."""
        if self._closed or self._pid != os.getpid():
            self._closed = True
            return
        with self._write_lock:
            self._closed = True
            with suppress(IndexError):
                while True:
                    self._idle.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._engine.dispose()


def _is_others(conn: sqlite3.Connection) -> bool:
    return bool(conn.execute(_OTHERS, (json.dumps(sorted(MARKS)), len(MARKS))).fetchone()[0])


def _use_wal(conn: sqlite3.Connection) -> None:
    # In autocommit this is a single read where the file is in WAL mode already.
    conn.execute("PRAGMA journal_mode = WAL")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def driver_of(conn: Connection) -> sqlite3.Connection:
    """Return the driver's connection.

    Args:
        conn: A connection.
    """
    driver = conn.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)  # noqa: S101  narrows the driver's type
    return driver


def _has_begun(conn: Connection, *, last_try: bool) -> bool:
    try:
        conn.exec_driver_sql("BEGIN IMMEDIATE")
    except OperationalError as error:
        # Python has the code of an error since 3.11 only.
        if last_try or "locked" not in str(error.orig):
            raise
        return False
    return True


@functools.cache
def warn_of_wal_reset_race() -> None:
    """Say once in the log if this SQLite has the rare race that can lose a commit when a WAL file is reset."""
    if has_wal_reset_race(sqlite3.sqlite_version_info):
        log.warning(
            "SQLite %s has a rare race when several processes write to one file in WAL mode; 3.44.6, 3.50.7 and "
            "3.51.3 and later do not",
            sqlite3.sqlite_version,
        )


def has_wal_reset_race(version: tuple[int, int, int]) -> bool:
    """Return whether a version of SQLite has the race.

    Args:
        version: The version of SQLite.

    Examples:
        >>> [has_wal_reset_race(v) for v in [(3, 44, 6), (3, 45, 0), (3, 50, 7), (3, 51, 2), (3, 52, 0)]]
        [False, True, False, True, False]
    """
    fixed = {44: 6, 50: 7, 51: 3}
    major, minor, patch = version
    if (major, minor) >= (3, 52):
        return False
    return patch < fixed.get(minor, patch + 1)
