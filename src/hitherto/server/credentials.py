"""Passwords and API keys: how they are made, kept and compared. Only hashes are ever kept.

Passwords are chosen by people and can be guessed, so each guess is made dear: Argon2id, some 50 ms and 64 MiB. API
keys are 256 random bits, which nobody guesses at any price; for them a plain SHA-256 is as safe, and a request that
brings one does not pay those 50 ms.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from hitherto._optional import require
from hitherto.errors import InvalidArgumentError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_PASSWORD_LENGTH: Final = 8
MAX_PASSWORD_BYTES: Final = 1024
"""A longer one is refused unread: hashing megabytes would be a cheap way to keep the server busy."""

PASSWORD_HASH: Final = re.compile(r"\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+")
KEY_ID: Final = re.compile(r"[0-9a-f]{12}")
SECRET_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
_KEY: Final = re.compile(r"hk_([0-9a-f]{12})_([0-9a-f]{64})")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def check_password(password: object) -> str:
    """Return a new password in the form in which it is hashed, if it may be one.

    Args:
        password: At least 8 characters, no control character, at most 1024 bytes.

    Raises:
        InvalidArgumentError: If it may not be one. The message never holds the password.

    Examples:
        >>> check_password("correct horse")
        'correct horse'
        >>> check_password("horse")
        Traceback (most recent call last):
            ...
        hitherto.errors.InvalidArgumentError: password must have at least 8 characters, got 5
    """
    if not isinstance(password, str):
        raise InvalidArgumentError("password must be a text", argument="password")
    text = normal_password(password)
    if text is None:
        raise InvalidArgumentError(
            f"password must be at most {MAX_PASSWORD_BYTES} bytes of valid Unicode", argument="password"
        )
    if len(text) < MIN_PASSWORD_LENGTH:
        raise InvalidArgumentError(
            f"password must have at least {MIN_PASSWORD_LENGTH} characters, got {len(text)}",
            argument="password",
        )
    if _CONTROL.search(text):
        raise InvalidArgumentError("password must hold no control characters", argument="password")
    return text


def normal_password(password: str) -> str | None:
    r"""Return a password in the one form in which it is hashed, or None if none can be like that.

    Args:
        password: As it was typed; an accented letter may come as one character or as two.

    Examples:
        >>> normal_password("cafe\u0301 noir") == "caf\u00e9 noir"
        True
    """
    if len(password) > MAX_PASSWORD_BYTES:
        return None
    try:
        text = unicodedata.normalize("NFC", password)
        return text if len(text.encode()) <= MAX_PASSWORD_BYTES else None
    except UnicodeEncodeError:
        return None


class Passwords:
    """Hashes passwords with Argon2id and compares them.

    Args:
        hasher: An ``argon2.PasswordHasher``; by default one with the library's own parameters.

    Raises:
        MissingExtraError: If argon2-cffi is not installed.

    Examples:
        >>> passwords = Passwords()
        >>> kept = passwords.hash("correct horse")
        >>> passwords.fits(kept, "correct horse"), passwords.fits(kept, "wrong horse")
        (True, False)
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        argon2 = require("argon2", extra="server")
        self._errors = require("argon2.exceptions", extra="server")
        self._hasher: PasswordHasher = argon2.PasswordHasher() if hasher is None else hasher

    def hash(self, password: str) -> str:
        """Return what is kept of a password: a hash with its salt and parameters."""
        return self._hasher.hash(password)

    def fits(self, kept: str, password: str) -> bool:
        """Return whether a password is the one that was hashed.

        Args:
            kept: What :meth:`hash` returned.
            password: The password that came.
        """
        try:
            return self._hasher.verify(kept, password)
        except (self._errors.VerifyMismatchError, self._errors.InvalidHashError):
            return False

    def is_outdated(self, kept: str) -> bool:
        """Return whether a hash was made with other parameters than would be taken today."""
        return self._hasher.check_needs_rehash(kept)


@dataclass(frozen=True, slots=True)
class NewKey:
    """An API key at its making, the only time that it is known.

    Attributes:
        id: What the key is found and removed by; no secret.
        text: The key itself: ``hk_<id>_<secret>``.
        expires_at: From when on it is refused; None for never.
    """

    id: str
    text: str
    expires_at: datetime | None = None

    def __repr__(self) -> str:
        """Return what may be logged: the id without the secret."""
        return f"NewKey(id={self.id!r})"


def new_key(expires_at: datetime | None = None) -> tuple[NewKey, str]:
    """Make an API key.

    Args:
        expires_at: From when on it is refused; None for never.

    Returns:
        The key, and the hash that is kept of it.

    Examples:
        >>> key, kept = new_key()
        >>> split_key(key.text)[0] == key.id, secret_fits(kept, split_key(key.text)[1])
        (True, True)
    """
    key_id, secret = secrets.token_hex(6), secrets.token_hex(32)
    return NewKey(key_id, f"hk_{key_id}_{secret}", expires_at), hash_secret(secret)


def split_key(text: str) -> tuple[str, str] | None:
    """Return a key's id and secret, or None if the text is no key.

    Examples:
        >>> split_key("hk_0123") is None
        True
    """
    match = _KEY.fullmatch(text)
    return None if match is None else (match[1], match[2])


def hash_secret(secret: str) -> str:
    """Return what is kept of a key's secret."""
    # Fast on purpose: there are 2**256 secrets to try, where Argon2 protects the few that people think of.
    return "sha256:" + hashlib.sha256(secret.encode()).hexdigest()


def secret_fits(kept: str, secret: str) -> bool:
    """Return whether a secret is the one that was hashed, in a time that does not depend on the answer."""
    return hmac.compare_digest(kept, hash_secret(secret))
