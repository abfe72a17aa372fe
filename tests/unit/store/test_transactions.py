"""Transactions of stores on SQL that programs take part in: whole or not at all, in order, on both backends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, select, text

from hitherto.errors import ClosedError, ConflictError, HithertoError
from hitherto.store.requests import RecordChanges
from hitherto.store.sql.store import SqlMemoryStore
from hitherto.store.sql.tables import records
from hitherto.store.sqlite.store import SQLiteStore


class Stop(Exception):
    """What a step raises."""


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlMemoryStore]:
    """Return an empty store of each backend, with a table beside its own."""
    if request.param == "sqlite":
        made: SqlMemoryStore = SQLiteStore(tmp_path / "memory.db")
    else:
        from tests import postgres

        made = postgres.fresh()
    with made:
        made.transact(lambda conn: conn.execute(text("CREATE TABLE notes (said TEXT)")))
        yield made


def note(said: str) -> Callable[[Connection], None]:
    """Return a step that writes a note."""

    def step(conn: Connection) -> None:
        conn.execute(text("INSERT INTO notes VALUES (:said)"), {"said": said})

    return step


def notes(store: SqlMemoryStore) -> list[str]:
    """Return the notes."""
    return list(store.consult(lambda conn: conn.execute(text("SELECT said FROM notes")).scalars().all()))


def contents(conn: Connection) -> list[str]:
    """Return the contents of all messages."""
    return list(conn.execute(select(records.c.content).where(records.c.record_type == "message")).scalars())


def failing(conn: Connection) -> None:
    """Write a note, and fail."""
    note("in vain")(conn)
    raise Stop


def test_a_step_is_done_or_not(store: SqlMemoryStore) -> None:
    """What a step returns is returned; a step that fails leaves nothing, and the store goes on."""
    assert store.transact(lambda conn: (note("first")(conn), 7)[1]) == 7
    with pytest.raises(Stop):
        store.transact(failing)
    store.transact(note("second"))
    assert notes(store) == ["first", "second"]


def test_a_reading_step_reads_one_moment(store: SqlMemoryStore) -> None:
    """What others write while a step reads is not seen by it, but by the next one."""
    store.transact(note("before"))

    def read(conn: Connection) -> list[int]:
        counts = []
        for _ in range(2):
            counts.append(conn.execute(text("SELECT count(*) FROM notes")).scalar_one())
            other = threading.Thread(target=store.transact, args=(note("meanwhile"),))
            other.start()
            other.join(60)
        return counts

    assert store.consult(read) == [1, 1]
    assert notes(store) == ["before", "meanwhile", "meanwhile"]


def test_errors_of_a_step_are_translated(store: SqlMemoryStore) -> None:
    """What the driver raises in a step comes out as an error of ours, and nothing of the step stays."""

    def wrong(conn: Connection) -> None:
        note("in vain")(conn)
        conn.execute(text("SELECT * FROM no_such_table"))

    for run in (store.transact, store.consult):
        with pytest.raises(HithertoError):
            run(
                wrong
                if run == store.transact
                else lambda conn: conn.execute(text("SELECT * FROM no_such_table"))
            )
    assert notes(store) == []


def test_write_steps_run_in_each_write_in_order(store: SqlMemoryStore) -> None:
    """Steps see what the transaction wrote, in the order in which they were added; reading runs none."""
    store.add_write_step(lambda conn: note(f"one sees {contents(conn)}")(conn))
    store.add_write_step(note("two"))
    store.add(["hello"], "message", record_ids=["m"], thread_ids=["t"])
    assert notes(store) == ["one sees ['hello']", "two"]
    store.transact(note("by hand"))
    assert notes(store)[2:] == ["by hand", "one sees ['hello']", "two"]
    store.delete("message", "m")
    assert notes(store)[-2:] == ["one sees []", "two"]


def test_a_write_step_that_fails_undoes_the_write(store: SqlMemoryStore) -> None:
    """A record whose step fails is not stored, nor changed, nor deleted, and nothing of earlier steps stays."""
    store.add(["hello"], "message", record_ids=["m"], thread_ids=["t"])
    store.add_write_step(note("earlier"))
    store.add_write_step(failing)
    store.add_write_step(note("never reached"))
    for write in (
        lambda: store.add(["more"], "message", thread_ids=["t"]),
        lambda: store.update("message", "m", content="changed"),
        lambda: store.delete("message", "m"),
        lambda: store.create_thread_record("t2"),
        lambda: store.transact(note("by hand")),
    ):
        with pytest.raises(Stop):
            write()
    assert notes(store) == []
    assert store.consult(contents) == ["hello"]
    assert [message.content for message in store.list_thread_messages("t")] == ["hello"]
    assert store.get_thread_record("t2") is None


def test_a_failed_write_runs_no_step(store: SqlMemoryStore) -> None:
    """Where the write itself fails no step is run."""
    store.add(["hello"], "message", record_ids=["m"], thread_ids=["t"])
    store.add_write_step(note("ran"))
    with pytest.raises(ConflictError):
        store.add(["other"], "message", record_ids=["m"], thread_ids=["t"])
    with pytest.raises(Stop):
        store.transact(failing)
    assert notes(store) == []


def test_steps_belong_to_one_object(store: SqlMemoryStore, tmp_path: Path) -> None:
    """Another object on the same store does not run the steps that were added to the first."""
    store.add_write_step(note("ran"))
    if isinstance(store, SQLiteStore):
        with SQLiteStore(tmp_path / "memory.db") as other:
            other.add(["hello"], "message", thread_ids=["t"])
        assert notes(store) == []
    assert SqlMemoryStore._write_steps == ()


def test_a_record_is_changed_within_a_transaction(store: SqlMemoryStore) -> None:
    """A change within a step is part of its transaction: there afterwards, gone if the step fails."""
    store.add(["hello"], "message", record_ids=["m"], thread_ids=["t"], user_ids=["ana"])
    change = RecordChanges("message", "m", metadata={"k": 1})

    def change_and_fail(conn: Connection) -> None:
        assert store.change_within(conn, change) == 1
        raise Stop

    with pytest.raises(Stop):
        store.transact(change_and_fail)
    assert store.get("message", "m").metadata in (None, {})
    assert store.transact(lambda conn: store.change_within(conn, change)) == 1
    assert store.get("message", "m").metadata == {"k": 1}
    absent = RecordChanges("message", "no", metadata={"k": 1})
    assert store.transact(lambda conn: store.change_within(conn, absent)) == 0


async def test_the_twins_do_the_same(store: SqlMemoryStore) -> None:
    """Awaited, steps run in a worker thread, return what they return, and undo what failed."""
    here = threading.get_ident()
    assert await store.transact_async(lambda conn: (note("first")(conn), threading.get_ident())[1]) != here
    with pytest.raises(Stop):
        await store.transact_async(failing)
    count = text("SELECT count(*) FROM notes")
    assert await store.consult_async(lambda conn: conn.execute(count).scalar_one()) == 1


async def test_a_closed_store_runs_no_step(store: SqlMemoryStore) -> None:
    """After close() no step is called."""
    store.close()
    for run in (store.transact, store.consult):
        with pytest.raises(ClosedError):
            run(lambda conn: pytest.fail("called"))
    for run_async in (store.transact_async, store.consult_async):
        with pytest.raises(ClosedError):
            await run_async(lambda conn: pytest.fail("called"))
