"""The users as a running server sees them: read again when the file changes, passwords verified once and remembered."""

from __future__ import annotations

import hmac
import logging
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from hitherto.errors import HithertoError
from hitherto.lifetime import Clock, utc_now
from hitherto.server.credentials import Passwords, hash_secret, secret_fits
from hitherto.server.users import Account, ApiKey
from hitherto.server.users_file import UsersFile

log = logging.getLogger("hitherto.server")

_LOOK_EVERY_S: Final = 1.0
_REMEMBERED_S: Final = 300.0
_MOST_REMEMBERED: Final = 4096

Monotonic = Callable[[], float]
"""Returns seconds that never run backwards; replaced in tests."""


class LiveUsers:
    """Tells a running server whose a password or key is.

    At most once a second it looks whether the file has changed. A file that cannot be read or is wrong is logged,
    and the users last read stay, so that a slip of the editor locks nobody out. So does a file that is gone: a
    server that was closed never becomes open.

    Args:
        path: The users file, which must be right when the server starts.
        passwords: What verifies passwords.
        monotonic: Seconds, for looking at the file and for forgetting.
        clock: The present time, for keys that expire.

    Raises:
        UsersFileError: If the file is missing or wrong.
        MissingExtraError: If argon2-cffi is not installed.

    Examples:
        >>> _ = UsersFile("users.json").add("mia", "correct horse")
        >>> live = LiveUsers("users.json")
        >>> live.verify("mia", "correct horse"), live.verify("mia", "wrong horse"), live.verify("bo", "any")
        (True, False, False)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        passwords: Passwords | None = None,
        monotonic: Monotonic = time.monotonic,
        clock: Clock = utc_now,
    ) -> None:
        self._passwords = Passwords() if passwords is None else passwords
        self._file = UsersFile(path, passwords=self._passwords, clock=clock)
        self._monotonic, self._clock = monotonic, clock
        self._lock = threading.Lock()
        self._seen, self._looked_at = self._signature(), monotonic()
        self._take(self._file.read())
        self._remembered = _Remembered(monotonic)
        # What a password is compared with when there is none: an unknown name costs what a known one does.
        self._nobodys_password = self._passwords.hash(secrets.token_hex(32))
        self._nobodys_secret = hash_secret(secrets.token_hex(32))

    def account(self, name: str) -> Account | None:
        """Return a user, or None if there is none of that name."""
        self._refresh()
        return self._accounts.get(name)

    def remembers(self, name: str, password: str) -> bool:
        """Return whether this password was verified for this user a short while ago. Costs no hash.

        Args:
            name: The user.
            password: In the form of :func:`~hitherto.server.credentials.normal_password`.
        """
        account = self.account(name)
        kept = account and account.password
        return bool(kept) and self._remembered.holds(str(kept), password)

    def verify(self, name: str, password: str) -> bool:
        """Return whether a password is the user's: always at the price of one Argon2 hash. Blocks for some 50 ms.

        Args:
            name: The user; need not exist.
            password: In the form of :func:`~hitherto.server.credentials.normal_password`.
        """
        account = self.account(name)
        kept = account and account.password
        fits = self._passwords.fits(kept or self._nobodys_password, password)
        if not kept or not fits:
            return False
        self._remembered.add(kept, password)
        if self._passwords.is_outdated(kept):
            self._renew(name, kept, password)
        return True

    def key_owner(self, key_id: str, secret: str) -> str | None:
        """Return the name of the user whose key this is, or None if it is nobody's or has expired.

        Args:
            key_id: The key's id.
            secret: Its secret.
        """
        self._refresh()
        owner, key = self._keys.get(key_id, (None, None))
        fits = secret_fits(key.hash if key else self._nobodys_secret, secret)
        if key is None or not fits or (key.expires_at is not None and key.expires_at <= self._clock()):
            return None
        return owner

    def _take(self, accounts: dict[str, Account]) -> None:
        self._keys: dict[str, tuple[str, ApiKey]] = {
            key.id: (account.name, key) for account in accounts.values() for key in account.keys
        }
        self._accounts = accounts

    def _refresh(self) -> None:
        now = self._monotonic()
        if now - self._looked_at < _LOOK_EVERY_S:
            return
        with self._lock:
            self._looked_at = now
            signature = self._signature()
            if signature == self._seen:
                return
            self._seen = signature
            try:
                self._take(self._file.read())
            except HithertoError as error:
                # The error names file, user and field; no value of the file is ever in it.
                log.warning("the users file was not read again, and the users last read stay: %s", error)
            else:
                log.info("the users file was read again: %d users", len(self._accounts))

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._file.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _renew(self, name: str, kept: str, password: str) -> None:
        try:
            self._file.renew_hash(name, kept, self._passwords.hash(password))
        except HithertoError as error:
            log.warning("a password keeps its outdated hash: %s", error)


class _Remembered:
    """Passwords that were verified, so that not each request pays for Argon2.

    They are known by a keyed hash whose key is in this process alone: what is in memory cannot be tried out
    elsewhere. It covers the hash in the file, so that a changed password is not found again.
    """

    def __init__(self, monotonic: Monotonic) -> None:
        self._key = secrets.token_bytes(32)
        self._monotonic = monotonic
        self._until: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def holds(self, kept: str, password: str) -> bool:
        digest = self._digest(kept, password)
        with self._lock:
            return self._until.get(digest, 0.0) > self._monotonic()

    def add(self, kept: str, password: str) -> None:
        digest = self._digest(kept, password)
        with self._lock:
            self._until[digest] = self._monotonic() + _REMEMBERED_S
            self._until.move_to_end(digest)
            while len(self._until) > _MOST_REMEMBERED:
                self._until.popitem(last=False)

    def _digest(self, kept: str, password: str) -> bytes:
        return hmac.digest(self._key, f"{kept}\0{password}".encode(), "sha256")
