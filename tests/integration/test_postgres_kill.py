"""Writers and servers that are killed: whatever was acknowledged is there, whole and once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.postgres import folder_url, fresh, restart, server

from hitherto.store.postgres.store import PostgresStore
from hitherto.testing.scripted import HashEmbedder

WRITER = """
import sys, itertools
from hitherto.store.postgres.store import PostgresStore

name, size = sys.argv[2], 5
store = PostgresStore(sys.argv[1], partitions=2)
for batch in itertools.count() if len(sys.argv) < 4 else range(int(sys.argv[3])):
    ids = [f"{name}-{batch}-{n}" for n in range(size)]
    store.add([f"{name} says {n} in {batch}" for n in range(size)], "message", record_ids=ids, thread_ids=name,
              user_ids=name, roles="user", embeddings=[[1.0, float(n)] for n in range(size)])
    print(batch, flush=True)
"""
KILLS = 3
ACKNOWLEDGED_BEFORE_KILL = 12


def writer(url: str, name: str, *count: str) -> subprocess.Popen[str]:
    """Start a process that writes batches of five messages."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, url, name, *count], stdout=subprocess.PIPE, text=True
    )


def write_and_kill(url: str, name: str) -> int:
    """Run a writer, kill it in the middle, and return how many batches it acknowledged."""
    with writer(url, name) as process:
        assert process.stdout is not None
        for _ in range(ACKNOWLEDGED_BEFORE_KILL):
            assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read().splitlines()
    return ACKNOWLEDGED_BEFORE_KILL + len(rest)


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """Over repeated kills no acknowledged batch is lost, none is half there, and its index entries are with it."""
    url = folder_url(tmp_path)
    acknowledged = {f"w{n}": write_and_kill(url, f"w{n}") for n in range(KILLS)}
    with PostgresStore(url) as store:
        for name, batches in acknowledged.items():
            stored = [message.id for message in store.list_thread_messages(name)]
            # The batch that was being written when the writer died may be there or not, but whole.
            assert batches <= len(stored) // 5 <= batches + 1
            assert stored == [f"{name}-{batch}-{n}" for batch in range(len(stored) // 5) for n in range(5)]
            assert len(store.search(f"says {batches - 1}", 5, user_id=name, exact_user_match=True)) == 5
        with store._read() as conn:
            (records,) = conn.exec_driver_sql("SELECT count(*) FROM records").one()
            for table in ("vectors", "entries"):
                assert conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == records


@pytest.fixture
def isolated() -> Iterator[PostgresStore]:
    """Return a store with a vector, which keeps users apart."""
    with fresh(embedder=HashEmbedder()) as store:
        store.add(["tea"], "fact", user_ids="u")
        store.isolate_users("killed_user")
        yield store


def test_connections_that_are_cut_double_and_lose_nothing(tmp_path: Path) -> None:
    """While every connection is cut again and again, a writer's batches are all there, each once, in order."""
    url, done = folder_url(tmp_path), threading.Event()

    def cut() -> None:
        with psycopg.connect(server().get_uri(), autocommit=True) as conn:
            while not done.wait(random.uniform(0.1, 0.6)):
                conn.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND application_name = 'cut'"
                )

    cutter = threading.Thread(target=cut)
    try:
        with PostgresStore(url + "&application_name=cut", partitions=2) as store:
            cutter.start()
            for batch in range(60):
                ids = [f"{batch}-{n}" for n in range(2)]
                assert store.add(["a", "b"], "message", record_ids=ids, thread_ids="t") == ids
                assert len(store.list_thread_messages("t")) == 2 * (batch + 1)
    finally:
        done.set()
        cutter.join()
    with PostgresStore(url) as store:
        stored = [message.id for message in store.list_thread_messages("t")]
    assert stored == [f"{batch}-{n}" for batch in range(60) for n in range(2)]


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.statistics(),
        lambda store: store.stored_fingerprint,
        lambda store: store.memory_store_id,
        lambda store: store.isolate_users("killed_user"),
        lambda store: store.for_user("u", role="killed_user").close(),
        lambda store: store.index_vectors(),
        lambda store: store.reembed(),
    ],
    ids=["statistics", "fingerprint", "id", "isolate", "for_user", "index", "reembed"],
)
def test_whatever_is_called_first_after_a_cut_gets_through(
    isolated: PostgresStore, call: Callable[[PostgresStore], object]
) -> None:
    """No caller hears that the connections which were kept are gone."""
    with psycopg.connect(isolated._url, autocommit=True) as conn:
        conn.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
    call(isolated)


def test_a_restart_of_the_server_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """The server is stopped at once and started again under two writers: both finish, nothing lost or doubled."""
    url = folder_url(tmp_path)
    with writer(url, "a", "80") as first, writer(url, "b", "80") as second:
        assert first.stdout is not None
        for _ in range(10):
            assert first.stdout.readline()
        restart()
        assert [process.wait(60) for process in (first, second)] == [0, 0]
    with PostgresStore(url) as store:
        for name in ("a", "b"):
            stored = [message.id for message in store.list_thread_messages(name)]
            assert stored == [f"{name}-{batch}-{n}" for batch in range(80) for n in range(5)]


def test_sixteen_processes_that_write_and_search_lose_nothing(tmp_path: Path) -> None:
    """16 processes on one new schema: one creates it, none fails, every message is there once."""
    url = folder_url(tmp_path)
    program = (
        "import sys\n"
        "from hitherto.store.postgres.store import PostgresStore\n"
        "store = PostgresStore(sys.argv[1], partitions=2, pool_size=2)\n"
        "for n in range(10):\n"
        "    store.add([f'{sys.argv[2]} {n}'], 'message', thread_ids='shared', user_ids=sys.argv[2])\n"
        "    assert store.search(f'{n}', 1, user_id=sys.argv[2], exact_user_match=True)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, url, f"p{n}"]) for n in range(16)]
    assert [process.wait(120) for process in writers] == [0] * 16
    with PostgresStore(url) as store:
        messages = store.list_thread_messages("shared")
    assert len(messages) == len({message.seq_no for message in messages}) == 160
    for n in range(16):
        own = [message.content for message in messages if message.user_id == f"p{n}"]
        assert own == [f"p{n} {place}" for place in range(10)]
