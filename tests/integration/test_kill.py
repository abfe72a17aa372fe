"""Writers that are killed: whatever was acknowledged is there, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.store.sqlite.store import SQLiteStore

WRITER = """
import sys, itertools
from hitherto.store.sqlite.store import SQLiteStore

name, size = sys.argv[2], 5
store = SQLiteStore(sys.argv[1])
for batch in itertools.count():
    ids = [f"{name}-{batch}-{n}" for n in range(size)]
    store.add([f"{name} says {n} in {batch}" for n in range(size)], "message", record_ids=ids, thread_ids=name,
              user_ids=name, roles="user", embeddings=[[1.0, float(n)] for n in range(size)])
    print(batch, flush=True)
"""
KILLS = 6
ACKNOWLEDGED_BEFORE_KILL = 12


def write_and_kill(file: Path, name: str) -> int:
    """Run a writer, kill it in the middle, and return how many batches it acknowledged."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), name], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(ACKNOWLEDGED_BEFORE_KILL):
            assert writer.stdout.readline()
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().splitlines()
    return ACKNOWLEDGED_BEFORE_KILL + len(rest)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on Windows")
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """Over repeated kills no acknowledged batch is lost, none is half there, and its index entries are with it."""
    file = tmp_path / "memory.db"
    acknowledged = {f"w{n}": write_and_kill(file, f"w{n}") for n in range(KILLS)}
    with SQLiteStore(file) as store:
        for name, batches in acknowledged.items():
            stored = [message.id for message in store.list_thread_messages(name)]
            assert len(stored) % 5 == 0
            # The batch that was being written when the writer died may be there or not, but whole.
            assert batches <= len(stored) // 5 <= batches + 1
            assert stored == [f"{name}-{batch}-{n}" for batch in range(len(stored) // 5) for n in range(5)]
            found = store.search(f"says {batches - 1}", 5, user_id=name, exact_user_match=True)
            assert len(found) == 5
        with store._read() as conn:
            assert conn.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            (records,) = conn.exec_driver_sql("SELECT count(*) FROM records").one()
            for table in ("vectors", "entries"):
                assert conn.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == records


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    """4 processes x 200 writes to one new file: no lock error, nothing lost, every sequence number once."""
    file = tmp_path / "memory.db"
    program = (
        "import sys\n"
        "from hitherto.store.sqlite.store import SQLiteStore\n"
        "store = SQLiteStore(sys.argv[1], durability='normal')\n"
        "for n in range(200):\n"
        "    store.add([f'{sys.argv[2]} {n}'], 'message', thread_ids='shared', user_ids=sys.argv[2])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(file), f"p{n}"]) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    with SQLiteStore(file) as store:
        messages = store.list_thread_messages("shared")
        assert len(messages) == 800
        assert len({message.seq_no for message in messages}) == 800
        for n in range(4):
            own = [message.content for message in messages if message.user_id == f"p{n}"]
            assert own == [f"p{n} {place}" for place in range(200)]
