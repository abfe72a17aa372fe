"""The users file: who may use the server, with which password and API keys; JSON that people can read.

The file holds no secret in clear: passwords and keys are there as hashes. It is checked whole when it is read: what
is wrong is named by file, user and field, and never shown.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NoReturn

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.lifetime import format_time, parse_time
from hitherto.server.credentials import KEY_ID, PASSWORD_HASH, SECRET_HASH

VERSION: Final = 1
MAX_NAME_LENGTH: Final = 128
MAX_LABEL_LENGTH: Final = 200


class UsersFileError(InvalidArgumentError):
    """A users file is missing, cannot be read, or holds what it must not."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is kept of an API key.

    Attributes:
        id: The key's id, part of the key itself.
        label: What the key is for, in the words of who made it.
        hash: The hash of its secret.
        created_at: When it was made.
        expires_at: From when on it is refused; None for never.
    """

    id: str
    label: str
    hash: str = field(repr=False)
    created_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the server.

    Attributes:
        name: The name, which is also the id of the user whose memories these are.
        password: The hash of the password; None for a user with keys alone.
        created_at: When the user was added.
        keys: The user's API keys, oldest first.
    """

    name: str
    password: str | None = field(repr=False)
    created_at: datetime
    keys: tuple[ApiKey, ...] = ()


def check_user_name(name: object) -> str:
    """Return a user's name in its one form, if it may be one.

    Args:
        name: 1 to 128 printable characters without a colon, at which HTTP Basic authentication ends the name, and
            without a space at either end.

    Raises:
        InvalidArgumentError: If it may not be one.
        ArgumentTypeError: If it is no text.

    Examples:
        >>> check_user_name("mia")
        'mia'
        >>> check_user_name("mia:admin")
        Traceback (most recent call last):
            ...
        hitherto.errors.InvalidArgumentError: name must hold no colon, got 'mia:admin'
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"name must be a text, got {shown(name)}", argument="name")
    problem = _name_problem(name)
    if problem is not None:
        raise InvalidArgumentError(f"name must {problem}, got {shown(name)}", argument="name")
    return unicodedata.normalize("NFC", name)


def _name_problem(name: str) -> str | None:
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        return f"have 1 to {MAX_NAME_LENGTH} characters"
    if ":" in name:
        return "hold no colon"
    if not name.isprintable():
        return "hold printable characters only"
    if name != name.strip():
        return "not begin or end with a space"
    return None


def check_label(label: object) -> str:
    """Return a key's label, if it may be one.

    Args:
        label: At most 200 printable characters.

    Raises:
        InvalidArgumentError: If it may not be one.

    Examples:
        >>> check_label("laptop")
        'laptop'
    """
    if not isinstance(label, str) or len(label) > MAX_LABEL_LENGTH or not label.isprintable():
        raise InvalidArgumentError(
            f"label must be at most {MAX_LABEL_LENGTH} printable characters, got {shown(label)}",
            argument="label",
        )
    return label


def render_users(accounts: Mapping[str, Account]) -> str:
    """Return the text of a users file.

    Args:
        accounts: The users by name.

    Examples:
        >>> print(render_users({}), end="")
        {
          "version": 1,
          "users": {}
        }
    """
    users = {
        name: {
            "password": account.password,
            "created_at": format_time(account.created_at),
            "keys": [
                {
                    "id": key.id,
                    "label": key.label,
                    "hash": key.hash,
                    "created_at": format_time(key.created_at),
                    "expires_at": key.expires_at and format_time(key.expires_at),
                }
                for key in account.keys
            ],
        }
        for name, account in sorted(accounts.items())
    }
    return json.dumps({"version": VERSION, "users": users}, ensure_ascii=False, indent=2) + "\n"


def parse_users(text: str, *, file: str) -> dict[str, Account]:
    """Read the text of a users file.

    Args:
        text: The text.
        file: The file's name, for messages.

    Returns:
        The users by name.

    Raises:
        UsersFileError: If anything in it is wrong, or of an unknown version. No value of the file is in the message.

    Examples:
        >>> parse_users('{"version": 1, "users": {}}', file="users.json")
        {}
        >>> parse_users('{"version": 2, "users": {}}', file="users.json")
        Traceback (most recent call last):
            ...
        hitherto.server.users.UsersFileError: users.json: version must be 1, which this hitherto reads, got 2
    """
    part = _Part(_decoded(text, file), file, "")
    version = part.members().get("version", _Part(None, file, "")).value
    if type(version) is not int or version != VERSION:  # before all else: another version has other fields
        came = version if type(version) is int else _kind(version)
        raise UsersFileError(f"{file}: version must be {VERSION}, which this hitherto reads, got {came}")
    whole = part.fields("version", "users")
    accounts = {name: _account(name, part) for name, part in whole["users"].members().items()}
    ids = [key.id for account in accounts.values() for key in account.keys]
    twice = (
        next((key_id for key_id in ids if ids.count(key_id) > 1), None) if len(set(ids)) < len(ids) else None
    )
    if twice is not None:
        raise UsersFileError(f"{file}: keys must have different ids, got {twice!r} twice")
    return accounts


def _decoded(text: str, file: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise UsersFileError(f"{file}: a name must stand once in its object, got {shown(twice)} twice")
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise UsersFileError(
            f"{file}: must be JSON, but line {error.lineno}, column {error.colno} is not: {error.msg}"
        ) from None
    except RecursionError:
        raise UsersFileError(f"{file}: must be a users file, got JSON that is nested without end") from None


def _account(name: str, part: _Part) -> Account:
    try:
        known = check_user_name(name) == name
    except InvalidArgumentError as error:
        raise UsersFileError(f"{part.file}: users: {error}") from None
    if not known:
        raise UsersFileError(f"{part.file}: users: name must be in Unicode's form NFC, got {shown(name)}")
    fields = part.fields("password", "created_at", "keys")
    password = fields["password"]
    return Account(
        name,
        None
        if password.value is None
        else password.text(PASSWORD_HASH.fullmatch, "an Argon2id hash, or null"),
        fields["created_at"].time(),
        tuple(_key(key) for key in fields["keys"].items()),
    )


def _key(part: _Part) -> ApiKey:
    fields = part.fields("id", "label", "hash", "created_at", "expires_at")
    expires = fields["expires_at"]
    return ApiKey(
        id=fields["id"].text(KEY_ID.fullmatch, "12 hexadecimal digits"),
        label=fields["label"].text(
            lambda text: len(text) <= MAX_LABEL_LENGTH and text.isprintable(),
            f"at most {MAX_LABEL_LENGTH} printable characters",
        ),
        hash=fields["hash"].text(SECRET_HASH.fullmatch, "sha256: and 64 hexadecimal digits"),
        created_at=fields["created_at"].time(),
        expires_at=None if expires.value is None else expires.time(),
    )


def _kind(value: object) -> str:
    """Say what a value is without showing it: it may be a secret that stands in the wrong place."""
    if isinstance(value, str):
        return f"a text of {len(value)} characters"
    names = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


@dataclass(frozen=True, slots=True)
class _Part:
    """A value of the file with the place where it stands."""

    value: Any
    file: str
    place: str

    def wrong(self, wanted: str) -> NoReturn:
        raise UsersFileError(
            f"{self.file}: {self.place or 'the file'} must be {wanted}, got {_kind(self.value)}"
        )

    def members(self) -> dict[str, _Part]:
        if not isinstance(self.value, dict):
            self.wrong("an object")
        before = f"{self.place}." if self.place else ""
        return {name: _Part(value, self.file, before + name) for name, value in self.value.items()}

    def fields(self, *names: str) -> dict[str, _Part]:
        found = self.members()
        wrong = next((name for name in (*found, *names) if (name in names) != (name in found)), None)
        if wrong is not None:
            problem = "has an unknown field" if wrong in found else "lacks the field"
            raise UsersFileError(f"{self.file}: {self.place or 'the file'} {problem} {shown(wrong)}")
        return found

    def items(self) -> list[_Part]:
        if not isinstance(self.value, list):
            self.wrong("a list")
        return [_Part(value, self.file, f"{self.place}[{index}]") for index, value in enumerate(self.value)]

    def text(self, fits: Any, wanted: str) -> str:
        if not isinstance(self.value, str) or not fits(self.value):
            self.wrong(wanted)
        return self.value

    def time(self) -> datetime:
        found = parse_time(self.value) if isinstance(self.value, str) else None
        if found is None:
            self.wrong("an ISO 8601 time")
        return found
