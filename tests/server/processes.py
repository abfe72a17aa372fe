"""``hitherto serve`` in processes of its own, and a plain HTTP client for it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitherto.server.binding import free_port
from hitherto.server.routes.memories import MEMORY

COMMAND = (sys.executable, "-m", "hitherto", "serve")
_PATIENCE_S = 90  # for a process to start on a machine with a lot to do


@dataclass
class Served:
    """A running server.

    Attributes:
        process: Its process; with several workers that of their parent.
        port: Where it listens, on 127.0.0.1.
        log: What it has written to standard error.
    """

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a request on a connection of its own; return the status, and the answer's JSON or text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE_S)
        try:
            sent = None if body is None else json.dumps(body).encode()
            kind = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, sent, {**kind, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        is_json = (answer.getheader("content-type") or "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else text

    def done(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request that has to be answered by 200; return the answer."""
        status, answer = self.ask(method, path, body)
        assert status == 200, answer
        return answer

    def create_memory(self, name: str = "m") -> str:
        """Make a memory; return its id."""
        return str(self.done("POST", MEMORY, {"name": name})["memory_id"])

    def say(self, memory_id: str, text: str) -> str:
        """Make a message; return its id."""
        said = {"input": text, "response": f"re {text}"}
        return str(self.done("POST", f"{MEMORY}/{memory_id}/messages", said)["message_id"])

    def inputs(self, memory_id: str) -> dict[str, str]:
        """Return the inputs of a memory's messages by the messages' ids."""
        found = self.done("GET", f"{MEMORY}/{memory_id}/messages?max_results=10000")["messages"]
        by_id = {one["message_id"]: one["input"] for one in found}
        assert len(by_id) == len(found), "a message is listed twice"
        return by_id

    def matches(self, memory_id: str, words: str) -> dict[str, str]:
        """Return the inputs of the messages that have one of the words."""
        body = {"query": {"match": {"input": words}}, "size": 10_000}
        found = self.done("POST", f"{MEMORY}/{memory_id}/_search", body)["hits"]
        assert found["total"]["value"] == len(found["hits"])
        return {hit["_id"]: hit["_source"]["input"] for hit in found["hits"]}

    def terminate(self) -> int:
        """Tell it to end, and return the code that it ends with."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_PATIENCE_S)

    def kill(self) -> None:
        """Kill it with all its workers, as a crash would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(_PATIENCE_S)


@contextmanager
def serving(store: Path, *options: str, port: int = 0) -> Iterator[Served]:
    """Start a server on a file without vectors, and kill it at the end if it still runs.

    Args:
        store: The store's file.
        *options: Further words of the command line.
        port: Where it listens; 0 for any port.
    """
    port = free_port("127.0.0.1", port)
    log = store.with_name(f"{store.name}.{port}.log")
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [*COMMAND, str(store), "--port", str(port), "--words-only", *options],
            stderr=errors,
            start_new_session=True,
        )
    served = Served(process, port, log)
    try:
        _await_ready(served)
        yield served
    finally:
        if process.poll() is None:
            served.kill()


def _await_ready(served: Served) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and served.process.poll() is None:
        try:
            if served.ask("GET", "/readyz")[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"the server did not start: {served.log.read_text()}")
