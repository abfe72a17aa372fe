"""Slowing down who guesses passwords, without giving anybody the means to lock a user out for ever.

Wrong passwords are counted three times: for the user at this address, for the address, and for the user from
everywhere. Each count allows some failures, then makes the next attempts wait twice as long each time, up to a bound;
attempts made while waiting are refused unread and do not prolong it.

Counting for the user from everywhere stops guessing from many addresses, but alone would let whoever sends wrong
passwords keep the user out. So it, and the count of the address, do not bind a user at an address where the right
password was given before: there only the user's own failures count. From other addresses the wait is a minute at
most. API keys cannot be guessed, are never counted and never refused: a user under attack has a sure way in.

The right password forgets the failures of this user at this address only. Would it forget the others, who has a
password of his own could give it in between and guess on.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from hitherto.server.live_users import Monotonic

_FADES_AFTER_S: Final = 3600.0
_MOST_KEPT: Final = 20_000


@dataclass(slots=True)
class _Failures:
    count: int
    last: float
    free_at: float


class _Backoff:
    """Failures by key: who must wait, and for how long. Keeps a bounded number of keys, those last seen."""

    def __init__(self, *, allowed: int, longest_s: float) -> None:
        self._allowed, self._longest_s = allowed, longest_s
        self._of: OrderedDict[Hashable, _Failures] = OrderedDict()

    def wait_s(self, key: Hashable, now: float) -> float:
        found = self._of.get(key)
        return 0.0 if found is None else max(0.0, found.free_at - now)

    def fail(self, key: Hashable, now: float) -> None:
        found = self._of.get(key)
        if found is None or now - found.last > _FADES_AFTER_S:
            found = self._of[key] = _Failures(0, now, now)
        found.count += 1
        found.last = now
        excess = found.count - self._allowed
        if excess >= 0:
            found.free_at = now + min(self._longest_s, 2.0 ** min(excess, 30))
        self._of.move_to_end(key)
        while len(self._of) > _MOST_KEPT:
            self._of.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        self._of.pop(key, None)


class Lockout:
    """Counts wrong passwords and says who must wait.

    Args:
        monotonic: Seconds that never run backwards.

    Examples:
        >>> lockout = Lockout(lambda: 0.0)
        >>> for _ in range(5):
        ...     lockout.fail("mia", "192.0.2.1")
        >>> lockout.wait_s("mia", "192.0.2.1"), lockout.wait_s("mia", "192.0.2.2")
        (1.0, 0.0)
    """

    def __init__(self, monotonic: Monotonic = time.monotonic) -> None:
        self._monotonic = monotonic
        self._pairs = _Backoff(allowed=5, longest_s=900.0)
        self._addresses = _Backoff(allowed=20, longest_s=900.0)
        self._names = _Backoff(allowed=50, longest_s=60.0)
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._lock = threading.Lock()

    def wait_s(self, name: str, address: str | None) -> float:
        """Return for how many seconds a password for this user from this address is refused unread.

        Args:
            name: The user's name, known or not.
            address: The peer's address; None for a Unix socket.
        """
        now, place = self._monotonic(), network_of(address)
        with self._lock:
            waits = [self._pairs.wait_s((name, place), now)]
            if (name, place) not in self._known:
                waits += [self._addresses.wait_s(place, now), self._names.wait_s(name, now)]
        return max(waits)

    def fail(self, name: str, address: str | None) -> None:
        """Count a wrong password.

        Args:
            name: The user's name, known or not: who guesses must not see the difference.
            address: The peer's address; None for a Unix socket.
        """
        now, place = self._monotonic(), network_of(address)
        with self._lock:
            self._pairs.fail((name, place), now)
            self._addresses.fail(place, now)
            self._names.fail(name, now)

    def succeed(self, name: str, address: str | None) -> None:
        """Forget the user's failures at this address, and remember that the user was here.

        Args:
            name: The user's name.
            address: The peer's address; None for a Unix socket.
        """
        pair = (name, network_of(address))
        with self._lock:
            self._pairs.forget(pair)
            self._known[pair] = None
            self._known.move_to_end(pair)
            while len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)


def network_of(address: str | None) -> str:
    """Return what is counted as one address: an IPv4 address, or the /64 of an IPv6 one, all of which one host may use.

    Args:
        address: The peer's address as text; None for a Unix socket.

    Examples:
        >>> network_of("2001:db8::17"), network_of("::ffff:192.0.2.1"), network_of(None)
        ('2001:db8::/64', '192.0.2.1', 'local')
    """
    if not address:
        return "local"
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return f"{ipaddress.IPv6Address(int(found) >> 64 << 64)}/64"
