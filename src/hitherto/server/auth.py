"""Who sends a request: the Authorization header read, and its password or API key verified.

Knows nothing of HTTP but the header's text and the peer's address; each error says which status and headers answer it.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from hitherto.aio import run_in_thread
from hitherto.errors import HithertoError
from hitherto.lifetime import Clock, utc_now
from hitherto.server.credentials import Passwords, normal_password, split_key
from hitherto.server.live_users import LiveUsers, Monotonic
from hitherto.server.lockout import Lockout
from hitherto.server.users import check_user_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_HEADER: Final = 8192
_MOST_WAITING: Final = 64
REALM: Final = "OpenSearch Security"

Reason = Literal["missing", "malformed", "wrong", "locked", "overloaded"]


class AuthenticationError(HithertoError):
    """A request was not let in.

    Attributes:
        status: The HTTP status that answers it.
        headers: The HTTP headers of the answer.
        reason: For counting only: "missing", "malformed" or "wrong" credentials, "locked" or "overloaded".
    """

    status: int
    headers: Mapping[str, str]
    reason: Reason


class Unauthorized(AuthenticationError):
    """There are no credentials, none that can be read, or wrong ones; the message does not say what is wrong."""

    status = 401

    def __init__(self, reason: Literal["missing", "malformed", "wrong"]) -> None:
        """Keep the reason, which is not part of the message."""
        super().__init__("Unauthorized")
        self.reason: Reason = reason
        self.headers = {"WWW-Authenticate": f'Basic realm="{REALM}"'}


class LockedOut(AuthenticationError):
    """Too many wrong passwords came before; this one was not looked at.

    Attributes:
        retry_after: Seconds until the next may come.
    """

    status = 429
    reason = "locked"

    def __init__(self, retry_after: float) -> None:
        """Keep the wait, rounded up to whole seconds in the header."""
        super().__init__(f"Too many wrong passwords; retry after {math.ceil(retry_after)} seconds")
        self.retry_after = retry_after
        self.headers = {"Retry-After": str(math.ceil(retry_after))}


class Overloaded(AuthenticationError):
    """So many passwords wait to be verified that this one was not looked at."""

    status = 503
    reason = "overloaded"

    def __init__(self) -> None:
        """Ask for a second's patience."""
        super().__init__("Too many passwords are being verified; retry after 1 second")
        self.headers = {"Retry-After": "1"}


@dataclass(frozen=True, slots=True)
class Principal:
    """Who sends a request.

    Attributes:
        name: The user's name.
        key_id: The id of the API key that was used; None for a password.
    """

    name: str
    key_id: str | None = None


@dataclass(frozen=True, slots=True)
class KeyCredentials:
    """An API key as it came, and the name that came with it in HTTP Basic authentication."""

    key_id: str
    secret: str = field(repr=False)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class PasswordCredentials:
    """A name and a password as they came, in their normal forms."""

    name: str
    password: str = field(repr=False)


def parse_authorization(header: str | None) -> KeyCredentials | PasswordCredentials:
    """Read an Authorization header.

    ``Basic`` holds a name and a password, or a name and an API key of that user in the password's place, for clients
    that know nothing else. ``Bearer`` and ``ApiKey`` hold an API key.

    Args:
        header: The header's text, or None if there is none.

    Raises:
        Unauthorized: If there is none, or it is malformed.

    Examples:
        >>> parse_authorization("Basic bWlhOmNvcnJlY3QgaG9yc2U=")
        PasswordCredentials(name='mia')
    """
    if not header:
        raise Unauthorized("missing")
    scheme, _, rest = header.strip().partition(" ")
    value = rest.strip()
    if len(header) > _LONGEST_HEADER or not value:
        raise Unauthorized("malformed")
    if scheme.lower() in {"bearer", "apikey"}:
        key = split_key(value)
        if key is None:
            raise Unauthorized("malformed")
        return KeyCredentials(*key)
    if scheme.lower() == "basic":
        return _parse_basic(value)
    raise Unauthorized("malformed")


def _parse_basic(value: str) -> KeyCredentials | PasswordCredentials:
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise Unauthorized("malformed") from None
    name, colon, secret = _text(raw).partition(":")
    password = normal_password(secret)
    try:
        name = check_user_name(name)
    except HithertoError:  # no user can be called so
        raise Unauthorized("malformed") from None
    if not colon or not password:
        raise Unauthorized("malformed")
    key = split_key(password)
    return PasswordCredentials(name, password) if key is None else KeyCredentials(*key, name)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        # urllib3 and requests, on which clients are built, send Latin-1 wherever it suffices.
        return raw.decode("latin-1")


class Authenticator:
    """Lets in who has a right password or API key.

    API keys, and passwords verified a short while ago, are decided at once. Any other password costs an Argon2 hash:
    :meth:`authenticate_async` does that in one of two threads kept for it, so that a flood of wrong passwords takes
    neither the event loop nor the memory, and refuses when too many wait. Counts of failures are kept in this
    process: of several workers each has its own.

    Args:
        users: The users file, or users already loaded.
        passwords: What verifies passwords.
        monotonic: Seconds that never run backwards.
        clock: The present time, for keys that expire.

    Raises:
        UsersFileError: If the file is missing or wrong.
        MissingExtraError: If argon2-cffi is not installed.

    Examples:
        >>> from hitherto.server.users_file import UsersFile
        >>> _ = UsersFile("users.json").add("mia", "correct horse")
        >>> authenticator = Authenticator("users.json")
        >>> authenticator.authenticate("Basic bWlhOmNvcnJlY3QgaG9yc2U=", "127.0.0.1")
        Principal(name='mia', key_id=None)
        >>> authenticator.authenticate("Bearer hk_no_key", "127.0.0.1")
        Traceback (most recent call last):
            ...
        hitherto.server.auth.Unauthorized: Unauthorized
    """

    def __init__(
        self,
        users: str | os.PathLike[str] | LiveUsers,
        *,
        passwords: Passwords | None = None,
        monotonic: Monotonic = time.monotonic,
        clock: Clock = utc_now,
    ) -> None:
        if not isinstance(users, LiveUsers):
            users = LiveUsers(users, passwords=passwords, monotonic=monotonic, clock=clock)
        self._users = users
        self._lockout = Lockout(monotonic)
        self._waiting = 0
        self._lock = threading.Lock()

    def authenticate(self, header: str | None, address: str | None) -> Principal:
        """Return who sends a request. May block for the time of an Argon2 hash.

        Args:
            header: The text of the Authorization header; None if there is none.
            address: The peer's address; None for a Unix socket.

        Raises:
            Unauthorized: If there are no credentials, or wrong ones.
            LockedOut: If too many wrong passwords came before.
        """
        given = parse_authorization(header)
        if isinstance(given, KeyCredentials):
            return self._by_key(given)
        return self._by_memory(given, address) or self._by_hash(given, address)

    async def authenticate_async(self, header: str | None, address: str | None) -> Principal:
        """Return who sends a request, hashing in a thread where that is needed.

        Args:
            header: The text of the Authorization header; None if there is none.
            address: The peer's address; None for a Unix socket.

        Raises:
            Unauthorized: If there are no credentials, or wrong ones.
            LockedOut: If too many wrong passwords came before.
            Overloaded: If too many passwords wait to be verified.
        """
        given = parse_authorization(header)
        if isinstance(given, KeyCredentials):
            return self._by_key(given)
        known = self._by_memory(given, address)
        if known is not None:
            return known
        with self._lock:
            if self._waiting >= _MOST_WAITING:
                raise Overloaded
            self._waiting += 1
        try:
            return await run_in_thread(
                # What waited looks again first: the request before it may have brought the same password.
                lambda: self._by_memory(given, address) or self._by_hash(given, address),
                limiter_name="passwords",
            )
        finally:
            with self._lock:
                self._waiting -= 1

    def _by_key(self, given: KeyCredentials) -> Principal:
        owner = self._users.key_owner(given.key_id, given.secret)
        if owner is None or given.name not in {None, owner}:
            raise Unauthorized("wrong")
        return Principal(owner, given.key_id)

    def _by_memory(self, given: PasswordCredentials, address: str | None) -> Principal | None:
        # Before what is remembered: else guesses at the password of a user who is active would be free and many.
        wait_s = self._lockout.wait_s(given.name, address)
        if wait_s > 0:
            raise LockedOut(wait_s)
        if not self._users.remembers(given.name, given.password):
            return None
        self._lockout.succeed(given.name, address)
        return Principal(given.name)

    def _by_hash(self, given: PasswordCredentials, address: str | None) -> Principal:
        if not self._users.verify(given.name, given.password):
            self._lockout.fail(given.name, address)
            raise Unauthorized("wrong")
        self._lockout.succeed(given.name, address)
        return Principal(given.name)
