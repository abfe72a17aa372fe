"""Servers that are ended, killed, and doubled: what was acknowledged is there, once, and is found by everybody."""

from __future__ import annotations

import itertools
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

import pytest
from tests.server.agreement import check_statistics
from tests.server.processes import Served, serving

from hitherto import AgentMemory
from hitherto.server.index.rest_index import RestIndex

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are ended by signals of POSIX")

PATIENCE_S = 60


class Writers:
    """Threads that write messages, each with a word of its own, until the server is gone or they are told to end.

    Attributes:
        acknowledged: The inputs that the server said it has, by memory and message.
    """

    def __init__(self, servers: list[Served], memories: list[str], *, threads: int = 4) -> None:
        self.acknowledged: dict[str, dict[str, str]] = {memory_id: {} for memory_id in memories}
        self._words = itertools.count()
        self._ending = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._write, args=(servers[n % len(servers)], memories[n % len(memories)])
            )
            for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def count(self) -> int:
        return sum(len(messages) for messages in self.acknowledged.values())

    def await_more(self, count: int) -> None:
        """Wait until so many more messages are acknowledged."""
        wanted = self.count + count
        wait_for(lambda: self.count >= wanted)

    def end(self) -> None:
        """Let no further message begin, and wait for those that have."""
        self._ending.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive()

    def _write(self, server: Served, memory_id: str) -> None:
        while not self._ending.is_set():
            text = f"said word{next(self._words)}"
            try:
                message_id = server.say(memory_id, text)
            except (OSError, HTTPException):
                return  # the server is gone; this one was not acknowledged
            self.acknowledged[memory_id][message_id] = text


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.01)


def check_answers(server: Served, acknowledged: dict[str, dict[str, str]]) -> None:
    """Assert that a server lists and finds every acknowledged message once, and counts what it lists."""
    listed = 0
    for memory_id, messages in acknowledged.items():
        found = server.inputs(memory_id)
        assert messages.items() <= found.items()
        assert server.matches(memory_id, "said") == found
        for message_id, text in list(messages.items())[-3:]:
            assert server.matches(memory_id, text.split()[-1]) == {message_id: text}
        listed += len(found)
    counts = {
        row["index"].rpartition("-")[2]: row["docs.count"]
        for row in server.done("GET", "/_cat/indices?format=json")
    }
    assert counts == {"meta": str(len(acknowledged)), "message": str(listed)}


def check_file(file: Path, acknowledged: dict[str, dict[str, str]]) -> None:
    """Assert that a file holds every acknowledged message whole, and that its statistics are those of its messages."""
    with AgentMemory(file, embedder=None) as memory:
        for memory_id, messages in acknowledged.items():
            stored = memory.get_thread(memory_id).get_messages(start=0, end=None)
            said = {one.id: one.content for one in stored if one.role == "user"}
            assert len(stored) == 2 * len(said)
            assert {f"{key}.response": f"re {text}" for key, text in said.items()} == {
                one.id: one.content for one in stored if one.role == "assistant"
            }
            assert messages.items() <= said.items()
        index = RestIndex(memory.store)  # type: ignore[arg-type]  # a file's store
        with index.reading() as reader:
            documents = check_statistics(index, reader)
            assert reader.conn.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert acknowledged.keys() <= documents.keys()


@contextmanager
def write_lock(file: Path) -> Iterator[None]:
    """Keep all other writers of a file waiting."""
    conn = sqlite3.connect(file, isolation_level=None)
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        conn.execute("ROLLBACK")
        conn.close()


def test_sigterm_lets_writers_finish(tmp_path: Path) -> None:
    """A server that is told to end amid writes ends with code 0, and every acknowledged write is there."""
    file = tmp_path / "served.db"
    with serving(file) as server:
        writers = Writers([server], [server.create_memory(), server.create_memory()])
        writers.await_more(30)
        assert server.terminate() == 0
        writers.end()
    check_file(file, writers.acknowledged)
    assert "Traceback" not in server.log.read_text()


def test_sigterm_answers_what_is_being_answered(tmp_path: Path) -> None:
    """A request that waits for the store when the server is told to end is answered, though no new one is taken."""
    file = tmp_path / "served.db"
    with serving(file) as server:
        memory_id = server.create_memory()
        said: list[str] = []
        request = threading.Thread(target=lambda: said.append(server.say(memory_id, "said late")))
        with write_lock(file):
            request.start()
            # The request is counted before it waits; the scrape is one of the two.
            wait_for(lambda: "requests_in_flight 2.0" in server.ask("GET", "/metrics")[1])
            server.process.send_signal(signal.SIGTERM)
            wait_for(lambda: not _listens(server))
            assert not said
        request.join(PATIENCE_S)
        assert server.process.wait(PATIENCE_S) == 0
    check_file(file, {memory_id: {said[0]: "said late"}})


def _listens(server: Served) -> bool:
    try:
        server.ask("GET", "/healthz")
    except (OSError, HTTPException):
        return False
    return True


def test_kill_9_loses_nothing_acknowledged(tmp_path: Path) -> None:
    """After each of several kills amid writes the next server has every acknowledged message once, and finds it."""
    file = tmp_path / "served.db"
    acknowledged: dict[str, dict[str, str]] = {}
    port = 0
    for _ in range(3):
        with serving(file, port=port) as server:
            port = server.port
            if acknowledged:
                check_answers(server, acknowledged)
            memories = [server.create_memory(), server.create_memory()]
            writers = Writers([server], memories)
            writers.await_more(25)
            server.kill()
            writers.end()
        for memory_id in memories:
            acknowledged[memory_id] = writers.acknowledged[memory_id]
    with serving(file, port=port) as server:
        check_answers(server, acknowledged)
    check_file(file, acknowledged)


def test_workers_see_each_others_writes(tmp_path: Path) -> None:
    """What one of two workers has acknowledged the other lists and finds at once; both end when their parent does."""
    file = tmp_path / "served.db"
    with serving(file, "--workers", "2") as server:
        wait_for(lambda: len(_workers(server)) == 2 and _all_serve(server))
        memory_id = server.create_memory()
        said: dict[str, str] = {}
        for turn in range(6):
            text = f"said turn{turn}"
            with _only(server, turn % 2):
                said[server.say(memory_id, text)] = text
            with _only(server, 1 - turn % 2):
                assert server.inputs(memory_id) == said
                assert server.matches(memory_id, f"turn{turn}") == {list(said)[-1]: text}
        writers = Writers([server], [memory_id])
        writers.await_more(30)
        assert server.terminate() == 0
        writers.end()
    check_file(file, {memory_id: {**said, **writers.acknowledged[memory_id]}})


def _workers(server: Served) -> list[int]:
    # The parent has another child, which tracks what workers share.
    words = ["pgrep", "-P", str(server.process.pid), "-f", "spawn_main"]
    return [int(word) for word in subprocess.run(words, capture_output=True, check=False).stdout.split()]


def _all_serve(server: Served) -> bool:
    for turn in range(2):
        with _only(server, turn):
            if server.ask("GET", "/readyz")[0] != 200:
                return False
    return True


@contextmanager
def _only(server: Served, number: int) -> Iterator[None]:
    """Have only one of two workers run, so that it answers all new connections."""
    other = _workers(server)[1 - number]
    subprocess.run(["kill", "-STOP", str(other)], check=True)
    try:
        yield
    finally:
        subprocess.run(["kill", "-CONT", str(other)], check=True)


def test_servers_and_programs_share_a_file(tmp_path: Path) -> None:
    """Two servers and a program write one file at once: each shows what the others wrote, and nothing is lost."""
    file = tmp_path / "served.db"
    with (
        serving(file) as one,
        serving(file) as other,
        AgentMemory(file, embedder=None) as program,
    ):
        memory_id = one.create_memory()
        writers = Writers([one, other], [memory_id])
        thread = program.create_thread(thread_id="programs", user_id="ana")
        written = {}
        for turn in range(10):
            text = f"said by a program in turn{turn}"
            ids = thread.add_messages(
                [{"role": "user", "content": text}, {"role": "assistant", "content": f"re {text}"}]
            )
            written[ids[0]] = text
            for server in (one, other):
                assert server.inputs("programs") == written
                assert server.matches("programs", f"turn{turn}") == {ids[0]: text}
        for turn in range(6):
            here, there = (one, other) if turn % 2 else (other, one)
            text = f"said in mid{turn}"
            message_id = here.say("programs", text)
            written[message_id] = text
            assert there.matches("programs", f"mid{turn}") == {message_id: text}
            assert f"re {text}" in [message.content for message in thread.get_messages()]
        writers.end()
        assert writers.count > 10
        for server in (one, other):
            check_answers(server, {"programs": written, **writers.acknowledged})
    with AgentMemory(file, embedder=None) as memory:
        index = RestIndex(memory.store)  # type: ignore[arg-type]  # a file's store
        with index.reading() as reader:
            check_statistics(index, reader)
    check_file(file, writers.acknowledged)
