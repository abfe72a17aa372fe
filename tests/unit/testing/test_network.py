"""The block of the network blocks, and leaves loopback open."""

from __future__ import annotations

import socket

import pytest

from hitherto.testing.network import NetworkBlockedError, block_network


def test_nothing_leaves_while_it_is_blocked() -> None:
    """Connections and look-ups are refused inside the block only."""
    free = socket.socket.connect
    with block_network(), socket.socket() as unconnected:
        for call in (
            lambda: socket.create_connection(("192.0.2.1", 9)),
            lambda: socket.getaddrinfo("example.org", 80),
            lambda: socket.getaddrinfo(b"example.org", 80),
            lambda: unconnected.connect(("example.org", 80)),
            lambda: unconnected.connect_ex(("2001:db8::1", 9, 0, 0)),
        ):
            with pytest.raises(NetworkBlockedError, match="only loopback"):
                call()
        assert socket.socket.connect is not free
    assert socket.socket.connect is free


def test_loopback_stays_open() -> None:
    """A server on this machine can be tested."""
    with block_network(), socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()[:2]) as client:
            assert client.getpeername() == server.getsockname()
        assert socket.getaddrinfo("localhost", 80)
