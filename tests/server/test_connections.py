"""Connections that somebody holds on purpose: all of them end, and there are never too many."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from tests.server.live import live

from hitherto import AgentMemory
from hitherto.server.routes.memories import MEMORY

HEAD = f"POST {MEMORY} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
PING = b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_PATIENCE_S = 60


@contextmanager
def link(url: str) -> Iterator[socket.socket]:
    """Open a connection."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), _PATIENCE_S) as made:
        yield made


def rest(made: socket.socket) -> bytes:
    """Return what is sent until the other side ends the connection."""
    answer = b""
    while more := made.recv(65536):
        answer += more
    return answer


def error_of(answer: bytes) -> dict[str, str]:
    """Return the error in an answer, which must be of the API's form."""
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error.pop("root_cause") == [error]
    return dict(error)


@pytest.fixture(scope="module")
def impatient() -> Iterator[str]:
    """Return the URL of a server that waits for a second, and has at most four connections."""
    with (
        AgentMemory(":memory:", embedder=None) as memory,
        live(memory, read_timeout_s=1, most_connections=4) as url,
    ):
        yield url


def test_a_body_that_stalls_is_answered_and_ended(impatient: str) -> None:
    """A head that promises a body which does not come is answered by 408, and the connection ends."""
    with link(impatient) as made:
        made.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        answer = rest(made)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert error_of(answer) == {
        "type": "timeout_exception",
        "reason": "the body must arrive within 1 seconds",
    }


def test_a_body_that_drips_has_no_more_time(impatient: str) -> None:
    """A byte from time to time does not keep a connection open."""
    with link(impatient) as made:
        made.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        began, answer = time.monotonic(), b""
        made.settimeout(0.1)
        while not answer and time.monotonic() < began + _PATIENCE_S:
            made.sendall(b"1\r\n \r\n")
            try:
                answer = made.recv(65536)
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("before", [b"", PING], ids=["at once", "behind an answer"])
@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nX-A: "], ids=["silent", "begun"])
def test_a_head_that_does_not_come_ends_the_connection(impatient: str, before: bytes, begun: bytes) -> None:
    """A connection without a request, or with the beginning of one, is ended, also behind another request."""
    with link(impatient) as made:
        made.sendall(before)
        if before:
            assert made.recv(65536).startswith(b"HTTP/1.1 200 ")
        made.sendall(begun)
        rest(made)


def test_a_head_that_drips_has_no_more_time(impatient: str) -> None:
    """Header after header does not keep a connection open."""
    with link(impatient) as made, pytest.raises(OSError):  # noqa: PT011, PT012  a pipe that broke or was reset
        made.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(_PATIENCE_S * 10):
            made.sendall(b"X-A: a\r\n")
            time.sleep(0.1)


def test_what_is_slow_inside_is_not_ended(impatient: str) -> None:
    """The time is for what a client sends: requests one after the other on one connection may take longer in all."""
    with link(impatient) as made:
        for _ in range(8):
            made.sendall(PING)
            assert made.recv(65536).startswith(b"HTTP/1.1 200 ")
            time.sleep(0.2)


def test_too_many_connections_are_refused(impatient: str) -> None:
    """One connection too many is answered by 503 and ended; when another has ended there is room again."""
    held = [
        socket.create_connection((urlsplit(impatient).hostname, urlsplit(impatient).port)) for _ in range(4)
    ]
    for made in held:
        made.sendall(PING)
        assert made.recv(65536).startswith(b"HTTP/1.1 200 ")
    with link(impatient) as made:
        made.sendall(PING.replace(b"HEAD", b"GET"))
        answer = rest(made)
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert error_of(answer) == {
        "type": "rejected_execution_exception",
        "reason": "too many connections are open; try again",
    }
    for made in held:
        made.close()
    until = time.monotonic() + _PATIENCE_S
    answer = b""
    while not answer.startswith(b"HTTP/1.1 200 ") and time.monotonic() < until:
        with link(impatient) as made:
            made.sendall(PING)
            answer = made.recv(65536)
    assert answer.startswith(b"HTTP/1.1 200 ")
