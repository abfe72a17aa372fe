"""No connection leaves this machine: a block for tests of what should need no network."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any
from unittest import mock


class NetworkBlockedError(RuntimeError):
    """Something tried to leave this machine while that was forbidden."""


@contextlib.contextmanager
def block_network() -> Iterator[None]:
    """Forbid connections and name look-ups that leave this machine; loopback and Unix sockets stay open.

    Raises:
        NetworkBlockedError: Inside the block, at whoever tries.

    Examples:
        >>> with block_network():
        ...     socket.create_connection(("192.0.2.1", 80))
        Traceback (most recent call last):
        ...
        hitherto.testing.network.NetworkBlockedError: only loopback is allowed here, got ('192.0.2.1', 80)
    """
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check(address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host is not None:
            _check((host.decode() if isinstance(host, bytes) else host, *args[:1]))
        return look_up(host, *args, **kwargs)

    with (
        mock.patch.object(socket.socket, "connect", guarded_connect),
        mock.patch.object(socket.socket, "connect_ex", guarded_connect_ex),
        mock.patch.object(socket, "getaddrinfo", guarded_look_up),
    ):
        yield


def _check(address: object) -> None:
    # A Unix socket's address is a path, not a tuple.
    if isinstance(address, tuple) and address and not _is_loopback(address[0]):
        raise NetworkBlockedError(f"only loopback is allowed here, got {address!r}")


def _is_loopback(host: object) -> bool:
    if not isinstance(host, str):
        return False
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
