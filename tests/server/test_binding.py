"""Where a server without users may listen."""

from __future__ import annotations

import pytest

from hitherto.errors import InvalidArgumentError
from hitherto.server.binding import check_binding, is_local_host, resolve

NAMES = {
    "localhost": ["127.0.0.1", "::1"],
    "half": ["127.0.0.1", "192.0.2.1"],
    "fleet.example": ["192.0.2.1"],
    "scoped": ["fe80::1%eth0"],
    "odd": ["no address"],
    "empty": [],
}


def lookup(host: str) -> list[str]:
    """Look up a name in the table; an address is its own."""
    if host in NAMES:
        return NAMES[host]
    if not all(char in "0123456789abcdef.:" for char in host):
        raise OSError("unknown")
    return [host]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "localhost"])
def test_an_open_server_listens_on_this_machine(host: str) -> None:
    """Without users, loopback addresses are allowed, and the server says that it is open."""
    said = check_binding(host, has_users=False, resolve=lookup)
    assert said is not None
    assert "no users" in said


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "", "*", "192.0.2.1", "::ffff:192.0.2.1", "fleet.example", "half", "scoped", "odd"],
)
def test_an_open_server_is_not_reached_from_elsewhere(host: str) -> None:
    """Without users, any address that is not loopback is refused, unless forced; with users it is allowed."""
    with pytest.raises(InvalidArgumentError, match="without users the server would be open") as caught:
        check_binding(host, has_users=False, resolve=lookup)
    assert caught.value.argument == "host"
    forced = check_binding(host, has_users=False, forced=True, resolve=lookup)
    assert forced is not None
    assert "whoever reaches" in forced
    assert check_binding(host, has_users=True, resolve=lookup) is None


@pytest.mark.parametrize("host", ["no such host", "[::1]", "empty"])
def test_a_host_that_is_none_is_refused(host: str) -> None:
    """A name without an address is refused, with or without users."""
    for has_users in (True, False):
        with pytest.raises(InvalidArgumentError, match="host must"):
            check_binding(host, has_users=has_users, resolve=lookup)


def test_brackets_are_explained() -> None:
    """Who writes an IPv6 address as in a URL is told how to write it."""
    with pytest.raises(InvalidArgumentError, match="write '::1'"):
        check_binding("[::1]", has_users=True, resolve=lookup)


def test_a_unix_socket_is_local() -> None:
    """A Unix socket may be open: its rights say who reaches it."""
    said = check_binding(None, unix_socket="server.sock", has_users=False)
    assert said is not None
    assert "socket" in said
    assert check_binding(None, unix_socket="server.sock", has_users=True) is None
    with pytest.raises(InvalidArgumentError, match="Unix socket"):
        check_binding(None, has_users=True)


def test_names_are_really_looked_up() -> None:
    """The usual names of this machine are loopback, by the system's own look-up."""
    assert set(resolve("localhost")) <= {"127.0.0.1", "::1"}
    assert check_binding("localhost", has_users=False) is not None


@pytest.mark.parametrize(
    ("header", "local"),
    [
        ("localhost", True),
        ("LOCALHOST:9200", True),
        ("memory.localhost:9200", True),
        ("127.0.0.1:9200", True),
        ("[::1]", True),
        ("[::1]:9200", True),
        ("evil.example", False),
        ("localhost.evil.example:9200", False),
        ("127.0.0.1.evil.example", False),
        ("localhost:9200:evil", False),
        ("[::1]evil", False),
        ("192.0.2.1", False),
        ("0.0.0.0:9200", False),
        ("", False),
        (None, False),
    ],
)
def test_the_host_of_a_request_is_this_machine(header: str | None, local: bool) -> None:
    """Only names that cannot be pointed here by somebody else are local."""
    assert is_local_host(header) is local
