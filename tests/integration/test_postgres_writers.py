"""Records of different users are added side by side, and nobody ever misses one; all other writes take turns."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import psycopg
import pytest
from sqlalchemy import Connection
from tests.postgres import restart, schema_url

from hitherto.errors import AlreadyStoredError, BusyError, ConflictError, EmbedderMismatchError
from hitherto.store.postgres.engine import MOST_PARTS
from hitherto.store.postgres.index import POSTGRES_INDEX
from hitherto.store.postgres.moment import _SINCE, StoreMoment
from hitherto.store.postgres.store import PostgresStore, _parts
from hitherto.store.requests import NewRecord
from hitherto.testing.scripted import HashEmbedder

BUSY_S = 0.5


@pytest.fixture
def url() -> str:
    """Return the URL of an empty store."""
    found = schema_url("writers")
    PostgresStore(found, partitions=2, schema_policy="recreate").close()
    return found


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """Return a store that does not wait for long."""
    with PostgresStore(url, busy_timeout_s=BUSY_S) as opened:
        yield opened


@contextmanager
def adding(url: str, name: str, *, user: str, thread: str | None = None) -> Iterator[None]:
    """Have a record added in a transaction that is open all the while."""
    inside, leave = threading.Event(), threading.Event()

    def hold(conn: Connection) -> None:
        inside.set()
        assert leave.wait(30)

    def run() -> None:
        with PostgresStore(url) as other:
            other._take_write_steps = hold  # type: ignore[method-assign]
            other.add([f"{name} of {user}"], "message", record_ids=name, user_ids=user, thread_ids=thread)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        assert inside.wait(30)
        try:
            yield
        finally:
            leave.set()
            running.result(30)


def found(store: PostgresStore, query: str) -> set[str]:
    """Return the ids of what a search in everything finds."""
    return {record.id for record, _ in store.search(query, 50)}


def test_two_users_are_written_to_at_once_and_a_search_misses_neither(url: str, store: PostgresStore) -> None:
    """What committed second though it began first is found by a store that searched in between."""
    store.add(["nothing of interest"], "fact", user_ids="c")
    with adding(url, "first", user="a"):
        store.add(["second of b"], "message", record_ids="second", user_ids="b")
        assert found(store, "first second") == {"second"}
    assert found(store, "first second") == {"first", "second"}
    store.delete("message", "first")
    assert found(store, "first second") == {"second"}


def test_a_deletion_that_follows_is_not_missed(url: str, store: PostgresStore) -> None:
    """A record that is deleted while another user is being written to vanishes from a store that knew it."""
    store.add(["second of b"], "message", record_ids="second", user_ids="b")
    with adding(url, "first", user="a"):
        assert found(store, "first second") == {"second"}
    store.delete("message", "second")
    with adding(url, "third", user="c"):
        assert found(store, "first second") == {"first"}


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.add(["again"], "fact", user_ids="a"),
        lambda store: store.add(["again"], "fact", user_ids="b", thread_ids="t"),
        lambda store: store.create_thread_record(thread_id="t", user_id="b"),
        lambda store: store.delete("fact", "old"),
        lambda store: store.update("fact", "old", content="new"),
        lambda store: store.erase_user("z"),
        lambda store: store.transact(lambda conn: None),
    ],
    ids=["same user", "same thread", "its record", "delete", "update", "erase", "transact"],
)
def test_all_else_takes_turns(
    url: str, store: PostgresStore, write: Callable[[PostgresStore], object]
) -> None:
    """While a record is added, whatever may meet it waits: for so long as the store was told to."""
    store.add(["old"], "fact", record_ids="old", user_ids="z")
    with adding(url, "first", user="a", thread="t"), pytest.raises(BusyError, match="busy_timeout_s"):
        write(store)
    write(store)


def test_a_deletion_sees_what_was_added_while_it_waited(url: str) -> None:
    """Also where transactions of the login are of one moment unless they say otherwise."""
    strict = url.replace("-csearch_path", "-cdefault_transaction_isolation%3Dserializable%20-csearch_path")
    with PostgresStore(strict) as store, ThreadPoolExecutor(1) as pool:
        store.add(["old"], "message", user_ids="a", thread_ids="t")
        with adding(url, "new", user="b", thread="t"):
            deleting = pool.submit(store.delete, "thread", "t", cascade=True)
            with psycopg.connect(url, autocommit=True) as conn:
                while conn.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (0,):
                    time.sleep(0.01)
        deleting.result(30)
        assert store.list_thread_messages("t") == []


def test_an_add_waits_for_a_write_that_is_alone(url: str, store: PostgresStore) -> None:
    """Beside a write that may be about anything nothing is added."""
    with PostgresStore(url) as other, other._write(), pytest.raises(BusyError, match="busy_timeout_s"):
        store.add(["new"], "fact", user_ids="a")


def test_an_id_that_two_users_take_at_once_is_the_firsts(url: str) -> None:
    """The second is told that the id exists, as if the first had come long before."""
    with PostgresStore(url) as store, ThreadPoolExecutor(1) as pool:
        with adding(url, "same", user="a"):
            late = pool.submit(store.add, ["other"], "message", record_ids="same", user_ids="b")
        with pytest.raises(ConflictError, match="a message with the id 'same' exists already"):
            late.result(30)
        assert store.search("other", 5) == []
        assert [record.id for record, _ in store.search("of a", 5)] == ["same"]


def test_the_same_record_twice_at_once_is_stored_once(url: str) -> None:
    """Who comes second is told that it is stored."""
    with PostgresStore(url) as store, ThreadPoolExecutor(1) as pool:
        with adding(url, "same", user="a"):
            late = pool.submit(store.add, ["same of a"], "message", record_ids="same", user_ids="a")
        with pytest.raises(AlreadyStoredError):
            late.result(30)
        assert len(store.search("same", 5)) == 1


@pytest.mark.parametrize("known", [True, False])
def test_the_first_two_embedders_are_not_mixed(url: str, known: bool) -> None:
    """Of two who say at once what makes the vectors the second is refused, also where the first ones are unknown."""
    first, second = HashEmbedder(2, "first"), HashEmbedder(2, "second")
    with (
        PostgresStore(url) as plain,
        PostgresStore(url, embedder=first) as one,
        PostgresStore(url, embedder=second) as two,
        ThreadPoolExecutor(1) as pool,
    ):
        if known:
            plain.add(["ready-made"], "fact", user_ids="c", embeddings=[[1.0, 0.0]])
        late: list[Future[list[str]]] = []

        def hold(conn: Connection) -> None:
            late.append(pool.submit(two.add, ["late"], "fact", user_ids="b"))
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            while not late[0].done() and not conn.exec_driver_sql(waiting).scalar():
                time.sleep(0.01)

        one._take_write_steps = hold  # type: ignore[method-assign]
        one.add(["early"], "fact", user_ids="a")
        with pytest.raises(EmbedderMismatchError):
            late[0].result(30)
        assert plain.stored_fingerprint == first.fingerprint


def test_an_expired_record_of_another_makes_room(url: str) -> None:
    """An id that an expired record has is free, also where that is somebody else's: then the write is alone."""
    now = [datetime(2026, 1, 1, tzinfo=timezone.utc)]
    with PostgresStore(url, busy_timeout_s=BUSY_S, clock=lambda: now[0]) as store:
        store.add(["gone soon"], "fact", record_ids="f", user_ids="a", ttl_days=1)
        now[0] += timedelta(days=2)
        with adding(url, "first", user="c"), pytest.raises(BusyError):
            store.add(["here now"], "fact", record_ids="f", user_ids="b")
        store.add(["here now"], "fact", record_ids="f", user_ids="b")
        assert found(store, "here gone") == {"f"}


def test_a_batch_for_very_many_users_is_alone(url: str, store: PostgresStore) -> None:
    """More users than are worth a lock each are written to as by any other write."""
    users = [f"u{n}" for n in range(MOST_PARTS + 1)]
    with adding(url, "first", user="a"):
        store.add(["few"] * MOST_PARTS, "fact", user_ids=users[:-1])
        with pytest.raises(BusyError):
            store.add(["many"] * len(users), "fact", user_ids=users)
    store.add(["many"] * len(users), "fact", user_ids=users)
    assert len(store.search("many", 50)) == len(users)


def test_what_is_done_after_each_write_is_done_alone(url: str, store: PostgresStore) -> None:
    """A store with steps of its own at the end of a transaction has nobody beside it."""
    done: list[int] = []
    store.add_write_step(lambda conn: done.append(1))
    with adding(url, "first", user="a"), pytest.raises(BusyError):
        store.add(["new"], "fact", user_ids="b")
    store.add(["new"], "fact", user_ids="b")
    assert done == [1]


def test_a_user_who_is_erased_is_gone_from_searches_in_everything(url: str, store: PostgresStore) -> None:
    """Another process that knew the user's records finds them no more, whatever is written at the same time."""
    store.add(["tea of a", "tea of b"], "fact", record_ids=["a", "b"], user_ids=["a", "b"])
    assert found(store, "tea") == {"a", "b"}
    with PostgresStore(url) as other:
        other.erase_user("a")
    with adding(url, "first", user="c"):
        assert found(store, "tea") == {"b"}


def test_a_store_that_was_brought_from_another_server(url: str, store: PostgresStore) -> None:
    """Transaction numbers that this server is still to give out hide nothing."""
    store.add(["tea of a"], "fact", record_ids="a", user_ids="a")
    with store._write() as conn:
        conn.exec_driver_sql("ALTER TABLE scopes DISABLE TRIGGER hitherto_note_change")
        conn.exec_driver_sql("UPDATE scopes SET changed_in = changed_in + 100000")
        conn.exec_driver_sql("ALTER TABLE scopes ENABLE TRIGGER hitherto_note_change")
    assert found(store, "tea coffee") == {"a"}
    store.add(["coffee of a", "coffee of b"], "fact", record_ids=["c", "b"], user_ids=["a", "b"])
    assert found(store, "tea coffee") == {"a", "b", "c"}


def test_transaction_numbers_that_a_crash_brings_back_hide_nothing(url: str) -> None:
    """What is added under a number that was rolled back before the crash is found by a store that lived on."""
    with PostgresStore(url) as store, PostgresStore(url) as watching:
        store.add(["tea of a"], "fact", record_ids="a", user_ids="a")
        with psycopg.connect(url, autocommit=True) as conn:
            for _ in range(30):
                with conn.transaction(force_rollback=True):
                    conn.execute("SELECT pg_current_xact_id()")
        assert found(watching, "tea") == {"a"}
        restart()
        store.add(["tea of b"], "fact", record_ids="b", user_ids="b")
        assert found(watching, "tea") == {"a", "b"}


def test_a_store_further_on_the_search_path_has_one_lock(url: str, store: PostgresStore) -> None:
    """Who finds the store behind another schema waits for those who have it as their first."""
    schema_url("in_front")
    behind = url.replace("search_path%3Dwriters", "search_path%3Din_front%2Cwriters")
    with PostgresStore(behind, schema_policy="require_existing", busy_timeout_s=BUSY_S) as other:
        with adding(url, "first", user="a"):
            with pytest.raises(BusyError):
                other.add(["again"], "fact", user_ids="a")
            other.add(["beside"], "fact", user_ids="b")
        with store._write(), pytest.raises(BusyError):
            other.add(["again"], "fact", user_ids="a")


def test_a_user_who_begins_anew_is_searched_anew(url: str, store: PostgresStore) -> None:
    """A session that sees one user's scope alone keeps nothing of it once the user was erased and came back."""
    store.isolate_users("writers_user")
    store.add(["tea of old", "tea of old"], "fact", user_ids="a")
    with store.for_user("a", role="writers_user") as bound:
        assert len(found(bound, "tea")) == 2
        store.erase_user("a")
        store.add(["tea of new"], "fact", record_ids="new", user_ids="a")
        with store.for_user("a", role="writers_user") as opened:
            assert bound.search("tea", 5) == opened.search("tea", 5)
        assert found(bound, "tea") == {"new"}


def test_a_transaction_of_somebody_else_that_runs_long_has_nothing_read_again(
    url: str, store: PostgresStore
) -> None:
    """What a search in everything knows is not sent to the next one, whatever runs in the server meanwhile."""
    with psycopg.connect(url) as foreign:
        foreign.execute("SELECT pg_current_xact_id()")
        store.add(
            ["tea"] * 20,
            "fact",
            record_ids=[f"f{n}" for n in range(20)],
            user_ids=[f"u{n}" for n in range(20)],
        )
        with adding(url, "first", user="a"):
            assert len(found(store, "tea first")) == 20
            with store._read() as conn:
                moment = store._index._cache._shelves[None].moment
                assert isinstance(moment, StoreMoment)
                values = (0, moment.mark, moment.running)
                assert len(POSTGRES_INDEX.driver(conn).execute(_SINCE, values).fetchall()) == 1
        assert len(found(store, "tea first")) == 21


def test_batches_whose_users_cross_do_not_lock_each_other_out(url: str) -> None:
    """Two writers of the same users and threads, named in opposite orders, both get through."""
    with PostgresStore(url) as store, ThreadPoolExecutor(4) as pool:

        def add(turn: int) -> None:
            for _ in range(15):
                names = ["a", "b", "c"][:: 1 if turn % 2 else -1]
                store.add([f"turn {turn}"] * 3, "message", user_ids=names, thread_ids=names[::-1])

        list(pool.map(add, range(4)))
        assert store.statistics()["records"]["message"] == 180


def test_a_store_that_watches_many_writers_ends_with_what_is_there(url: str) -> None:
    """Searches beside six writers never lose what they have found, and end as in a store that was just opened."""
    done = threading.Event()

    def write(store: PostgresStore, name: str) -> None:
        for n in range(25):
            store.add(
                [f"word {name} {n}"], "message", record_ids=f"{name}-{n}", user_ids=name, thread_ids=name
            )
            if n % 10 == 9:
                store.delete("message", f"{name}-{n - 5}")

    def watch(store: PostgresStore) -> None:
        before: set[str] = set()
        while not done.is_set():
            now = {record.id for record, _ in store.search("word", 1000)}
            lost = before - now
            assert all(int(name.rpartition("-")[2]) % 10 == 4 for name in lost), lost
            before = now

    with PostgresStore(url) as store, PostgresStore(url) as watching, ThreadPoolExecutor(8) as pool:
        watcher = pool.submit(watch, watching)
        for writing in [pool.submit(write, store, f"w{n}") for n in range(6)]:
            writing.result(120)
        done.set()
        watcher.result(30)
        with PostgresStore(url) as fresh:
            wanted = [(record.id, score) for record, score in fresh.search("word 7", 1000)]
        assert len(wanted) == 6 * 23
        assert [(record.id, score) for record, score in watching.search("word 7", 1000)] == wanted


def test_the_place_of_a_message_in_its_thread_is_that_of_its_commit(url: str) -> None:
    """Several users who write to one thread are numbered in the order in which their messages became visible."""
    seen: list[list[str]] = []
    with PostgresStore(url) as store, ThreadPoolExecutor(5) as pool:

        def say(user: str) -> None:
            for n in range(20):
                store.add([f"{user} {n}"], "message", user_ids=user, thread_ids="shared")

        talking = [pool.submit(say, f"u{n}") for n in range(4)]
        while not all(future.done() for future in talking):
            seen.append([message.id for message in store.list_thread_messages("shared")])
        for future in talking:
            future.result()
        last = [message.id for message in store.list_thread_messages("shared")]
    assert len(last) == 80
    for ids in seen:
        assert ids == last[: len(ids)]


def test_new_record_is_what_parts_are_taken_from() -> None:
    """A user's profile is filed under that user, and so is locked."""
    now = datetime(2026, 1, 1, tzinfo=timezone.utc)
    profile = NewRecord(record_type="user_profile", id="ana", content="x", created_at=now)
    message = NewRecord(record_type="message", id="m", content="x", created_at=now, thread_id="t")
    assert _parts([profile, message]) == {"user ana", "user ", "thread t"}
