"""What holds for every test and every docstring example: no network, an empty working directory."""

from __future__ import annotations

import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest


class NetworkBlockedError(RuntimeError):
    """A test tried to leave this machine."""


def _is_loopback(host: object) -> bool:
    if not isinstance(host, str):
        return False
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_address(address: object) -> None:
    """Refuse an address that is neither loopback nor a Unix socket's path."""
    if isinstance(address, tuple) and address and not _is_loopback(address[0]):
        raise NetworkBlockedError(f"a test tried to connect to {address!r}; only loopback is allowed")


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forbid every connection and name look-up that leaves this machine, unless the test is marked so."""
    if request.node.get_closest_marker("network") or request.node.get_closest_marker("llm"):
        return
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _check_address(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _check_address(address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None:
            _check_address((name,))
        return look_up(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_look_up)


@pytest.fixture(autouse=True)
def _own_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test and doctest in an empty folder, so that an example may name a plain file."""
    monkeypatch.chdir(tmp_path)
