"""Reading and changing the users file: one change at a time, whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hitherto.aio import awaitable
from hitherto.errors import ConflictError, InvalidArgumentError, NotFoundError, shown
from hitherto.lifetime import END_OF_TIME, Clock, check_ttl_days, utc_now
from hitherto.server.credentials import NewKey, Passwords, check_password, new_key
from hitherto.server.locked_file import locked, replace_text
from hitherto.server.users import (
    Account,
    ApiKey,
    UsersFileError,
    check_label,
    check_user_name,
    parse_users,
    render_users,
)


def users_file_beside(store: str) -> Path:
    """Return where the users of a store are looked for by default.

    Args:
        store: The store's file.

    Raises:
        InvalidArgumentError: If the store is a URL, beside which there is no place for a file, or no file's name.

    Examples:
        >>> users_file_beside("memory.db").name
        'memory.db.users.json'
    """
    if "://" in store:
        raise InvalidArgumentError(
            "the users file of a store that is no file must be named, by --users or HITHERTO_USERS",
            argument="users",
        )
    path = Path(store)
    if not path.name:
        raise InvalidArgumentError(f"the store must be a file, got {shown(store)}", argument="store")
    return path.with_name(path.name + ".users.json")


def check_rights(path: str | os.PathLike[str]) -> str | None:
    """Refuse a users file that anybody on the machine may write: they would let themselves in.

    Args:
        path: The file.

    Returns:
        What to tell whoever starts the server where anybody may read it; else None, as for a file that is not there.

    Raises:
        UsersFileError: If anybody may write it.

    Examples:
        >>> _ = UsersFile("users.json").add("mia", "correct horse")
        >>> check_rights("users.json") is None
        True
    """
    if os.name != "posix" or not os.path.exists(path):
        return None
    mode = os.stat(path).st_mode
    if mode & stat.S_IWOTH:
        raise UsersFileError(f"{path}: must not be writable for everybody; run: chmod 600 {path}")
    if mode & stat.S_IROTH:
        return f"{path} holds hashes of passwords, and everybody on this machine may read it; run: chmod 600 {path}"
    return None


class UsersFile:
    """A users file, read and changed by commands and by programs.

    Args:
        path: The file; the first user that is added makes it, readable to its owner alone.
        passwords: What hashes passwords; made when it is needed.
        clock: The present time, for what is new.

    Examples:
        >>> users = UsersFile("users.json")
        >>> _ = users.add("mia", "correct horse")
        >>> key = users.add_key("mia", "laptop")
        >>> key.text.startswith("hk_"), [key.label for key in users.read()["mia"].keys]
        (True, ['laptop'])
    """

    def __init__(
        self, path: str | os.PathLike[str], *, passwords: Passwords | None = None, clock: Clock = utc_now
    ) -> None:
        self.path = Path(path)
        self._passwords = passwords
        self._clock = clock

    def read(self) -> dict[str, Account]:
        """Return the users by name.

        Raises:
            UsersFileError: If the file is missing, unreadable or wrong.
        """
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise UsersFileError(f"{self.path}: must be text in UTF-8") from None
        except OSError as error:
            raise UsersFileError(f"{self.path}: cannot be read: {error.strerror}") from error
        return parse_users(text, file=str(self.path))

    read_async = awaitable(read)

    def account(self, name: str) -> Account:
        """Return a user.

        Raises:
            NotFoundError: If there is no such user.
            UsersFileError: If the file is missing, unreadable or wrong.
        """
        return self._known(self.read(), name)

    account_async = awaitable(account)

    def add(self, name: str, password: str | None = None) -> Account:
        """Add a user.

        Args:
            name: See :func:`~hitherto.server.users.check_user_name`.
            password: See :func:`~hitherto.server.credentials.check_password`; None for a user with keys alone.

        Returns:
            The user.

        Raises:
            ConflictError: If there is one of that name.
            InvalidArgumentError: If name or password may not be one.
            UsersFileError: If the file cannot be read or written.
        """
        name = check_user_name(name)
        account = Account(name, self._hashed(password), self._clock())
        with self._changing(may_begin=True) as accounts:
            if name in accounts:
                raise ConflictError(f"{self.path}: there is a user {shown(name)} already")
            accounts[name] = account
        return account

    add_async = awaitable(add)

    def remove(self, name: str) -> None:
        """Remove a user with all keys. What the user has stored stays.

        Raises:
            NotFoundError: If there is no such user.
            UsersFileError: If the file cannot be read or written.
        """
        with self._changing() as accounts:
            del accounts[self._known(accounts, name).name]

    remove_async = awaitable(remove)

    def set_password(self, name: str, password: str) -> None:
        """Give a user a new password.

        Args:
            name: The user.
            password: See :func:`~hitherto.server.credentials.check_password`.

        Raises:
            NotFoundError: If there is no such user.
            InvalidArgumentError: If the password may not be one.
            UsersFileError: If the file cannot be read or written.
        """
        self.account(name)
        hashed = self._hashed(password)  # before the lock is taken, for it takes its time
        with self._changing() as accounts:
            account = self._known(accounts, name)
            accounts[account.name] = replace(account, password=hashed)

    set_password_async = awaitable(set_password)

    def renew_hash(self, name: str, old: str, new: str) -> None:
        """Replace the hash of a password by one of the same password, unless it has changed meanwhile.

        Args:
            name: The user.
            old: The hash that was verified.
            new: The hash to keep.

        Raises:
            UsersFileError: If the file cannot be read or written.
        """
        with self._changing() as accounts:
            account = accounts.get(name)
            if account is not None and account.password == old:
                accounts[name] = replace(account, password=new)

    def add_key(self, name: str, label: str = "", *, ttl_days: float | None = None) -> NewKey:
        """Make an API key for a user.

        Args:
            name: The user.
            label: What it is for.
            ttl_days: After how many days it expires, more than 0; None for never.

        Returns:
            The key, which cannot be had again.

        Raises:
            NotFoundError: If there is no such user.
            InvalidArgumentError: If label or ttl_days may not be one.
            UsersFileError: If the file cannot be read or written.
        """
        label, now = check_label(label), self._clock()
        key, kept = new_key(_end(now, ttl_days))
        with self._changing() as accounts:
            account = self._known(accounts, name)
            keys = (*account.keys, ApiKey(key.id, label, kept, now, key.expires_at))
            accounts[account.name] = replace(account, keys=keys)
        return key

    add_key_async = awaitable(add_key)

    def remove_key(self, name: str, key_id: str) -> None:
        """Remove an API key.

        Args:
            name: Whose key.
            key_id: The key's id.

        Raises:
            NotFoundError: If there is no such user or key.
            UsersFileError: If the file cannot be read or written.
        """
        with self._changing() as accounts:
            account = self._known(accounts, name)
            keys = tuple(key for key in account.keys if key.id != key_id)
            if len(keys) == len(account.keys):
                raise NotFoundError(
                    f"{self.path}: user {shown(account.name)} has no key with the id {shown(key_id)}"
                )
            accounts[account.name] = replace(account, keys=keys)

    remove_key_async = awaitable(remove_key)

    def _hashed(self, password: str | None) -> str | None:
        if password is None:
            return None
        password = check_password(password)
        if self._passwords is None:
            self._passwords = Passwords()
        return self._passwords.hash(password)

    def _known(self, accounts: dict[str, Account], name: str) -> Account:
        name = check_user_name(name)
        if name not in accounts:
            raise NotFoundError(f"{self.path}: there is no user {shown(name)}")
        return accounts[name]

    @contextmanager
    def _changing(self, *, may_begin: bool = False) -> Iterator[dict[str, Account]]:
        """Hand out the users as they are; write what has become of them, unless the change fails."""
        if not may_begin and not self.path.exists():
            self.read()  # says what is wrong, where the lock would leave a file behind
        with self._told(), locked(self.path):
            accounts = self.read() if self.path.exists() or not may_begin else {}
            before = dict(accounts)
            yield accounts
            if accounts != before or not self.path.exists():
                replace_text(self.path, render_users(accounts))

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise UsersFileError(f"{self.path}: cannot be written: {error.strerror}") from error


def _end(now: datetime, ttl_days: float | None) -> datetime | None:
    days = check_ttl_days(ttl_days)
    if days is None:
        return None
    if days == 0:
        raise InvalidArgumentError("ttl_days must be more than 0, or None, got 0", argument="ttl_days")
    try:
        return now + timedelta(days=days)
    except OverflowError:
        return END_OF_TIME
