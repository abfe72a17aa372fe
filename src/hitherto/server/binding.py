"""Where a server may listen: without users it is open, so it listens on this machine only, unless it is forced to."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress

from hitherto.errors import InvalidArgumentError, shown

Resolver = Callable[[str], Sequence[str]]
"""Returns the addresses of a host name; raises OSError if there are none."""


def resolve(host: str) -> list[str]:
    """Return the addresses at which a server that is told this name would listen.

    Args:
        host: A host name or an address.

    Raises:
        OSError: If the name is unknown.

    Examples:
        >>> resolve("127.0.0.1")
        ['127.0.0.1']
    """
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return sorted({str(info[4][0]) for info in found})


def check_binding(
    host: str | None,
    *,
    unix_socket: str | None = None,
    has_users: bool,
    forced: bool = False,
    resolve: Resolver = resolve,
) -> str | None:
    """Decide whether a server may listen where it is told to, and what it has to say about that.

    Args:
        host: An address, or a name, all of whose addresses count; "" for all interfaces; None with a Unix socket.
        unix_socket: The path of a Unix socket; other machines do not reach it.
        has_users: Whether the server asks for passwords or keys. A users file without users counts: it lets nobody in.
        forced: Listen in any case.
        resolve: Looks up names.

    Returns:
        What to tell whoever starts the server: that it is open. None for a server with users.

    Raises:
        InvalidArgumentError: If it is open, is not forced, and other machines could reach it; or the host is unknown.

    Examples:
        >>> check_binding("127.0.0.1", has_users=False)
        'There are no users: whoever is on this machine may read and change everything.'
        >>> check_binding("0.0.0.0", has_users=True) is None
        True
        >>> check_binding("0.0.0.0", has_users=False)
        Traceback (most recent call last):
            ...
        hitherto.errors.InvalidArgumentError: without users the server would be open to other machines at '0.0.0.0':
        add users, listen on 127.0.0.1, or force it by --force-open
    """
    if unix_socket is not None:
        return None if has_users else "There are no users: whoever may open the socket may change everything."
    if host is None:
        raise InvalidArgumentError("host must be given where there is no Unix socket", argument="host")
    addresses = _addresses(host, resolve)
    if has_users:
        return None
    if all(_is_loopback(address) for address in addresses):
        return "There are no users: whoever is on this machine may read and change everything."
    if forced:
        return f"There are no users: whoever reaches {host or 'this machine'} may read and change everything."
    raise InvalidArgumentError(
        f"without users the server would be open to other machines at {shown(host)}: "
        "add users, listen on 127.0.0.1, or force it by --force-open",
        argument="host",
    )


def free_port(host: str, port: int) -> int:
    """Return the port to listen at, tried out.

    It is bound and let go again, so that what is wrong is said in one line before any worker starts.

    Args:
        host: Where, as check_binding() takes it.
        port: The port; 0 for any that is free.

    Raises:
        InvalidArgumentError: If nothing can listen there.

    Examples:
        >>> free_port("127.0.0.1", 0) > 0
        True
    """
    for address in _addresses(host, resolve):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if family == socket.AF_INET6 and address != host:
            continue  # a second address of a name, which a machine without IPv6 has too
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            if os.name == "posix":
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((address, port))
            except OSError as error:
                raise _cannot_listen(address, port, error) from error
            port = tried.getsockname()[1]
    return port


def _cannot_listen(address: str, port: int, error: OSError) -> InvalidArgumentError:
    if error.errno == errno.EADDRINUSE:
        return InvalidArgumentError(
            f"port must be free, but something listens at port {port} of {address} already", argument="port"
        )
    if error.errno == errno.EACCES:
        return InvalidArgumentError(f"port must be one that you may use, got {port}", argument="port")
    return InvalidArgumentError(f"host cannot be listened at: {address}: {error.strerror}", argument="host")


def clear_socket(path: str) -> None:
    """Make way for a Unix socket: what a killed server left there is deleted.

    Args:
        path: Where it is to be.

    Raises:
        InvalidArgumentError: If it cannot be made there, or a server listens there.
    """
    folder = os.path.dirname(path) or "."
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidArgumentError(
            f"unix_socket must be in a folder that you may write to, got {shown(path)}",
            argument="unix_socket",
        )
    try:
        is_socket = stat.S_ISSOCK(os.stat(path).st_mode)
    except FileNotFoundError:
        return
    if not is_socket:
        raise InvalidArgumentError(
            f"unix_socket must be free, but there is a file {shown(path)}", argument="unix_socket"
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried, suppress(ConnectionRefusedError):
        tried.connect(path)
        raise InvalidArgumentError(
            f"unix_socket must be free, but something listens at {shown(path)} already",
            argument="unix_socket",
        )
    os.unlink(path)


def _addresses(host: str, resolve: Resolver) -> Sequence[str]:
    if host in {"", "*"}:
        return ["0.0.0.0", "::"]  # noqa: S104  what it means, not where we listen
    if _address(host) is not None:
        return [host]
    try:
        found = resolve(host)
    except (OSError, UnicodeError):
        hint = f"; write {shown(host[1:-1])}" if host.startswith("[") and host.endswith("]") else ""
        raise InvalidArgumentError(
            f"host must be an address or a known name, got {shown(host)}{hint}", argument="host"
        ) from None
    if not found:
        raise InvalidArgumentError(f"host must have an address, got {shown(host)}", argument="host")
    return found


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _is_loopback(address: str) -> bool:
    found = _address(address)
    if found is None:
        return False
    # An IPv4 address in IPv6 is asked itself: Python has only learnt lately to see through it.
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def is_local_host(header: str | None) -> bool:
    """Return whether a Host header names this machine.

    An open server has to refuse requests whose Host header names anything else. A web page that somebody on this
    machine looks at can have its own name point to 127.0.0.1, and so reach what listens there; the name that it
    was loaded from is then in this header.

    Args:
        header: The header's text; None if there is none.

    Examples:
        >>> is_local_host("localhost:9200"), is_local_host("[::1]:9200"), is_local_host("evil.example:9200")
        (True, True, False)
    """
    if not header:
        return False
    name = header.strip().lower()
    if name.startswith("["):
        name, _, rest = name[1:].partition("]")
        port = rest.removeprefix(":")
        if rest and not rest.startswith(":"):
            return False
    else:
        name, _, port = name.partition(":")
    if port and not (port.isascii() and port.isdigit()):
        return False
    return name in {"localhost", "localhost."} or name.endswith(".localhost") or _is_loopback(name)
