"""Opening, locking, forking and closing the SQLite file."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hitherto.errors import (
    ArgumentTypeError,
    BusyError,
    ClosedError,
    EmbedderMismatchError,
    InvalidArgumentError,
    SchemaError,
    StoreError,
)
from hitherto.lifetime import utc_now
from hitherto.store.jobs import PENDING, Job, JobTable
from hitherto.store.sql.migrate import SchemaPolicy
from hitherto.store.sqlite import engine
from hitherto.store.sqlite.engine import SqliteEngine
from hitherto.store.sqlite.store import SQLiteStore

from .conftest import CountingEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable


def pragma(store: SQLiteStore, name: str) -> object:
    with store._read() as conn:
        return conn.exec_driver_sql(f"PRAGMA {name}").scalar()


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
def test_every_connection_has_the_settings(file: Path, durability: str, level: int) -> None:
    """WAL, synchronous as asked, foreign keys, zeroed deletions and pages of 8 KiB."""
    with SQLiteStore(file, durability=durability) as store:  # type: ignore[arg-type]
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "page_size")
        assert [pragma(store, name) for name in names] == ["wal", level, 1, 1, 8192]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"path": 3}, ArgumentTypeError),
        ({"path": ""}, InvalidArgumentError),
        ({"durability": "some"}, InvalidArgumentError),
        ({"busy_timeout_s": -1}, InvalidArgumentError),
        ({"busy_timeout_s": float("nan")}, InvalidArgumentError),
        ({"search_settings": 5}, ArgumentTypeError),
        ({"schema_policy": "whatever"}, InvalidArgumentError),
        ({"schema_policy": None}, ArgumentTypeError),
        ({"search_strategy": "hybrid"}, ArgumentTypeError),
        ({"embedder": "a model"}, ArgumentTypeError),
    ],
)
def test_bad_settings_are_refused(given: dict[str, object], error: type[Exception]) -> None:
    """A store is not opened with settings that make no sense."""
    with pytest.raises(error, match=next(iter(given))):
        SQLiteStore(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("seconds", [float("inf"), 1e308, 10**400])
def test_a_busy_timeout_may_be_as_long_as_one_likes(file: Path, seconds: float) -> None:
    """A timeout beyond what SQLite counts is the longest that it does."""
    with SQLiteStore(file, busy_timeout_s=seconds) as store:
        assert pragma(store, "busy_timeout") == 2_000_000_000


def test_a_closed_store_says_so(file: Path) -> None:
    """Use after close is a clear error, and closing twice is none."""
    store = SQLiteStore(file)
    store.close()
    store.close()
    for use in (lambda: store.list("fact"), lambda: store.add(["x"], "fact")):
        with pytest.raises(ClosedError, match="closed"):
            use()


def test_a_store_in_memory_is_shared_by_threads() -> None:
    """Every thread sees the one database, and 8 x 25 adds store exactly 200."""
    with SQLiteStore(":memory:") as store:
        threads = [
            threading.Thread(target=lambda: [store.add(["x"], "fact") for _ in range(25)]) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(store.list("fact")) == 200


def test_a_locked_file_is_a_busy_error(file: Path) -> None:
    """When another writer holds the file for too long, the error says so and has the driver's as its cause."""
    with SQLiteStore(file, busy_timeout_s=0.05) as store:
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyError, match="busy_timeout_s") as caught:
            store.add(["x"], "fact")
        assert caught.value.__cause__ is not None
        assert store.list("fact") == []
        holder.execute("ROLLBACK")
        holder.close()
        assert store.add(["x"], "fact")


def test_a_write_that_waits_for_another_tries_again_soon(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that waits asks in short steps, however long it has waited, and meets the moment between two others."""
    with SQLiteStore(file) as store:
        holder = sqlite3.connect(file, isolation_level=None)
        waited: list[float] = []

        def wait(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) % 200 == 0:
                holder.execute("ROLLBACK")

        monkeypatch.setattr(engine.time, "sleep", wait)
        for turn in (1, 2, 3):
            holder.execute("BEGIN IMMEDIATE")
            assert store.add(["x"], "fact")
            assert len(waited) == 200 * turn
            with store._engine.bare() as driver:
                assert driver.execute(f"PRAGMA busy_timeout -- {turn}").fetchone() == (30_000,)
        holder.close()
        assert max(waited) <= 0.005


def test_without_wal_sqlite_waits_itself(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the file is not in WAL mode a commit has to wait as well, which SQLite alone can do."""
    with SQLiteStore(file) as store:
        store.add(["x"], "fact")
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    settle = SqliteEngine._settle

    def settle_without(self: SqliteEngine, conn: sqlite3.Connection) -> None:
        settle(self, conn)
        conn.execute("PRAGMA journal_mode = DELETE")

    monkeypatch.setattr(SqliteEngine, "_settle", settle_without)
    with SQLiteStore(file) as store:
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM records").fetchone() == (1,)
        timer = threading.Timer(0.2, other.execute, ["ROLLBACK"])
        timer.start()
        assert store.add(["y"], "fact")
        timer.join()
    other.close()


def test_a_file_that_is_no_database_is_refused(file: Path) -> None:
    """Another program's file is an error of the store, and stays as it is."""
    file.write_bytes(b"something else entirely" * 100)
    with pytest.raises(StoreError, match="not a database"):
        SQLiteStore(file)
    assert file.read_bytes().startswith(b"something else")


def test_a_failing_write_leaves_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the middle of a write rolls all of it back."""
    with SQLiteStore(file) as store:

        def fail(*_: object) -> None:
            raise RuntimeError("in the middle")

        monkeypatch.setattr(store._index, "add", fail)
        with pytest.raises(RuntimeError):
            store.add(["x"], "fact", user_ids="u")
        monkeypatch.undo()
        assert store.list("fact") == []
        assert store.add(["y"], "fact")


def test_a_reader_sees_one_moment(file: Path) -> None:
    """What another connection commits in the middle of a read transaction is not seen in it."""
    with SQLiteStore(file) as store, SQLiteStore(file) as other:
        store.add(["x"], "fact")
        with store._read() as conn:
            count = "SELECT count(*) FROM records"
            before = conn.exec_driver_sql(count).scalar()
            other.add(["y"], "fact")
            assert conn.exec_driver_sql(count).scalar() == before
        assert len(store.list("fact")) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_opens_connections_of_its_own(file: Path) -> None:
    """Parent and child go on writing to one file after a fork, and both writes are there."""
    with SQLiteStore(file) as store:
        store.add(["before"], "fact")
        child = os.fork()
        if not child:
            code = 1
            try:
                store.add(["child"], "fact")
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        store.add(["parent"], "fact")
        assert sorted(str(record.content) for record in store.list("fact")) == ["before", "child", "parent"]


def _absent(file: Path) -> None:
    pass


def _empty(file: Path) -> None:
    sqlite3.connect(file).close()
    file.touch()


def _current(file: Path) -> None:
    SQLiteStore(file).close()


def _version(value: str) -> Callable[[Path], None]:
    def make(file: Path) -> None:
        _current(file)
        with sqlite3.connect(file) as conn:
            conn.execute("UPDATE schema_version SET version_num = ?", (value,))
        conn.close()

    return make


def _partial(file: Path) -> None:
    _current(file)
    with sqlite3.connect(file) as conn:
        conn.execute("DROP TABLE jobs")
    conn.close()


@pytest.mark.parametrize(
    ("state", "policy", "opens"),
    [
        (_absent, SchemaPolicy.REQUIRE_EXISTING, False),
        (_empty, SchemaPolicy.REQUIRE_EXISTING, False),
        (_current, SchemaPolicy.REQUIRE_EXISTING, True),
        (_version("9999"), SchemaPolicy.REQUIRE_EXISTING, False),
        (_absent, SchemaPolicy.CREATE_IF_EMPTY, True),
        (_empty, SchemaPolicy.CREATE_IF_EMPTY, True),
        (_current, SchemaPolicy.CREATE_IF_EMPTY, True),
        (_version("0000"), SchemaPolicy.CREATE_IF_EMPTY, False),
        (_absent, SchemaPolicy.CREATE_IF_NECESSARY, True),
        (_version("9999"), SchemaPolicy.CREATE_IF_NECESSARY, False),
        (_version("9999"), SchemaPolicy.RECREATE, True),
        (_partial, SchemaPolicy.RECREATE, True),
        (_absent, SchemaPolicy.RECREATE, True),
        (_absent, SchemaPolicy.NO_CHECK, False),
        (_current, SchemaPolicy.NO_CHECK, True),
    ],
)
def test_a_policy_says_what_opening_may_do(
    file: Path, state: Callable[[Path], None], policy: SchemaPolicy, opens: bool
) -> None:
    """Each policy opens what it may, refuses the rest, and never creates a file that it must not."""
    state(file)
    existed = file.exists()
    if opens:
        with SQLiteStore(file, schema_policy=policy.value) as store:
            assert store.add(["x"], "fact")
    else:
        with pytest.raises(SchemaError):
            SQLiteStore(file, schema_policy=policy)
        assert file.exists() == existed


def test_recreating_deletes_everything(file: Path) -> None:
    """RECREATE starts anew, with a new id for the store."""
    with SQLiteStore(file) as store:
        store.add(["x"], "fact")
        first = store.memory_store_id
    with SQLiteStore(file, schema_policy=SchemaPolicy.RECREATE) as store:
        assert store.list("fact") == []
        assert store.memory_store_id != first


def test_a_file_is_opened_for_reading_only(file: Path) -> None:
    """A read-only store reads, and refuses to write with a clear error."""
    with SQLiteStore(file) as store:
        store.add(["x"], "fact")
    with SQLiteStore(file, schema_policy=SchemaPolicy.REQUIRE_EXISTING, read_only=True) as store:
        assert len(store.list("fact")) == 1
        with pytest.raises(StoreError, match="reading only"):
            store.add(["y"], "fact")


def test_another_embedder_is_refused_at_open_and_both_are_named(file: Path) -> None:
    """Vectors of two models are never mixed."""
    with SQLiteStore(file, embedder=CountingEmbedder("first")) as store:
        store.add(["x"], "fact")
        assert store.stored_fingerprint.name == "first"  # type: ignore[union-attr]
    for other in (CountingEmbedder("second"), CountingEmbedder("first", 4)):
        with pytest.raises(EmbedderMismatchError, match=r"first \(8 .*(second|first) \((8|4) "):
            SQLiteStore(file, embedder=other)
    with SQLiteStore(file) as store:
        assert len(store.list("fact")) == 1


def test_reembedding_is_resumed_where_it_stopped(file: Path) -> None:
    """After an interruption, only what was not done yet is embedded again, and the new model is the store's."""
    count = 600
    with SQLiteStore(file, embedder=CountingEmbedder("old")) as store:
        store.add([f"text {n}" for n in range(count)], "fact", record_ids=[str(n) for n in range(count)])
    new = CountingEmbedder("new", 4)

    class Interrupted(Exception):
        pass

    def stop(done: int) -> None:
        raise Interrupted

    with SQLiteStore(file, embedder=new, check_embedder=False) as store, pytest.raises(Interrupted):
        store.reembed(stop)
    done = len(new.asked)
    assert 0 < done < count
    steps: list[int] = []
    with SQLiteStore(file, embedder=new) as store:
        assert store.reembed(steps.append) == count - done
        assert sorted(new.asked) == sorted(f"text {n}" for n in range(count))
        assert steps[-1] == count - done
        with store._read() as conn:
            assert conn.exec_driver_sql("SELECT count(*), min(length(vector)) FROM vectors").one() == (
                count,
                16,
            )
        assert store.reembed() == count


def test_reembedding_needs_an_embedder(file: Path) -> None:
    """Without a model there is nothing to embed with."""
    with SQLiteStore(file) as store, pytest.raises(InvalidArgumentError, match="embedder"):
        store.reembed()


def test_vectors_that_were_handed_in_fix_the_dimension(file: Path) -> None:
    """Ready-made vectors need no embedder; one of the same dimension may take over, another may not."""
    with SQLiteStore(file) as store:
        store.add(["x"], "fact", embeddings=[[1.0] * 8])
        with pytest.raises(EmbedderMismatchError, match=r"unknown model \(8 dimensions\)"):
            store.add(["y"], "fact", embeddings=[[1.0] * 4])
        with pytest.raises(InvalidArgumentError, match="8 components"):
            store.search(None, query_vector=[1.0] * 4)
    with pytest.raises(EmbedderMismatchError):
        SQLiteStore(file, embedder=CountingEmbedder("late", 4))
    with SQLiteStore(file, embedder=CountingEmbedder("late", 8)) as store:
        store.add(["z"], "fact")
        assert store.stored_fingerprint.name == "late"  # type: ignore[union-attr]
        assert store.search("z", 3)


def test_an_embedder_without_fingerprint_is_known_by_its_class(file: Path) -> None:
    """Any object with the two methods will do."""

    class Plain:
        embedding_dimension = 3

        def embed(self, texts: list[str], *, is_query: bool = False) -> list[list[float]]:
            return [[1.0, 2.0, 3.0] for _ in texts]

    with SQLiteStore(file, embedder=Plain()) as store:  # type: ignore[arg-type]  # a duck
        store.add(["x"], "fact")
        assert str(store.stored_fingerprint) == "Plain (3 dimensions, not normalised)"


def test_a_memory_store_does_not_cross_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """A child cannot see its parent's memory, and is told so."""
    store = SQLiteStore()
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(ClosedError, match="fork"):
        store.list("fact")
    monkeypatch.undo()
    store.close()


@pytest.mark.parametrize("path", ["", "sub/dir/"])
def test_a_path_that_cannot_be_opened_is_an_error(path: str) -> None:
    """A folder that does not exist is a clear error."""
    with pytest.raises((StoreError, InvalidArgumentError)):
        SQLiteStore(path and f"{path}memory.db")


def test_a_look_at_jobs_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    """While a step is under way, jobs can be counted; what the step does is not seen yet."""
    with SQLiteStore(tmp_path / "memory.db", busy_timeout_s=0.05) as store, ThreadPoolExecutor(1) as pool:

        def step(table: JobTable) -> int:
            now = utc_now()
            table.put(Job("extract", "t1", None, {}, now, now))
            return pool.submit(store.read_jobs, lambda seen: seen.count(states=PENDING)).result(30)

        assert store.transact_jobs(step) == 0
        assert store.read_jobs(lambda table: table.count(states=PENDING)) == 1
