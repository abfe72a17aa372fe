"""A streaming replica answers searches, and never hides from a store what that store wrote."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from tests.integration.test_postgres_writers import adding
from tests.postgres import run_binary, schema_url, server

from hitherto.store.postgres.store import PostgresStore


@pytest.fixture
def replica() -> Iterator[str]:
    """Return the host of a replica of the test's server."""
    primary, folder = server(), Path(server().pgdata).with_name(Path(server().pgdata).name + "r")
    folder.mkdir(mode=0o700)
    if primary.system_user is not None:
        shutil.chown(folder, primary.system_user)
    host = str(primary.get_uri()).rpartition("host=")[2]
    run_binary("pg_basebackup", "-h", host, "-U", "postgres", "-D", str(folder), "-R", "-c", "fast")
    # The backup has the lock of the primary's socket, which lies among its data.
    for lock in folder.glob(".s.PGSQL*"):
        lock.unlink()
    options = f'-h "" -k {folder}'
    run_binary("pg_ctl", "-w", "-D", str(folder), "-o", options, "-l", f"{folder}/log", "start")
    try:
        yield str(folder)
    finally:
        run_binary("pg_ctl", "-w", "-D", str(folder), "-m", "immediate", "stop")
        shutil.rmtree(folder)


def test_reads_go_to_the_replica_once_it_has_ones_own_writes(replica: str) -> None:
    """What was written is read at once; with replay held back that is from the primary, later from the replica."""
    url = schema_url("replicated")
    copied = (
        f"postgresql://postgres:@/postgres?host={quote(replica)}&options=-csearch_path%3Dreplicated,public"
    )
    with PostgresStore(url, partitions=2, replica_url=copied) as store:

        def on_replica() -> bool:
            with store._read() as conn:
                return bool(conn.exec_driver_sql("SELECT pg_is_in_recovery()").scalar())

        store.add(["first"], "fact", record_ids="1", user_ids="u")
        deadline = time.monotonic() + 30
        while not on_replica():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [record.id for record, _ in store.search("first", 1, user_id="u")] == ["1"]
        with psycopg.connect(copied, autocommit=True) as held:
            held.execute("SELECT pg_wal_replay_pause()")
            store.add(["second"], "fact", record_ids="2", user_ids="u")
            assert not on_replica()
            assert [record.id for record, _ in store.search("second", 1, user_id="u")] == ["2"]
            held.execute("SELECT pg_wal_replay_resume()")
        while not on_replica():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert [record.id for record, _ in store.search("second", 1, user_id="u")] == ["2"]


def test_a_search_on_the_replica_misses_no_writer(replica: str) -> None:
    """Whatever order writers of several users begin and end in, a search in everything ends with all of them."""
    url = schema_url("watched")
    copied = f"postgresql://postgres:@/postgres?host={quote(replica)}&options=-csearch_path%3Dwatched,public"
    with (
        PostgresStore(url, partitions=2) as store,
        PostgresStore(url, replica_url=copied) as watching,
        ThreadPoolExecutor(5) as pool,
    ):

        def write(user: str) -> None:
            for n in range(12):
                store.add([f"word {n}"], "message", record_ids=f"{user}-{n}", user_ids=user)

        def seen() -> set[str]:
            return {record.id for record, _ in watching.search("word", 100)}

        # One that began before all others and ends after them.
        with adding(url, "first", user="word", thread=None):
            writing = [pool.submit(write, f"u{n}") for n in range(4)]
            before: set[str] = set()
            while not all(future.done() for future in writing):
                if len(before) % 3 == 0:
                    watching.add(["more"], "fact", user_ids="w")
                now = seen()
                assert before <= now
                before = now
            for future in writing:
                future.result()
        deadline = time.monotonic() + 30
        while len(seen()) < 4 * 12 + 1:
            assert time.monotonic() < deadline, len(seen())
            time.sleep(0.05)


def test_a_replica_that_is_gone_does_not_stop_reads() -> None:
    """Where the replica cannot be reached, the primary answers."""
    gone = "postgresql://postgres@localhost:1/postgres"
    with PostgresStore(schema_url("alone"), partitions=2, replica_url=gone) as store:
        store.add(["first"], "fact", record_ids="1", user_ids="u")
        assert [record.id for record, _ in store.search("first", 1, user_id="u")] == ["1"]
