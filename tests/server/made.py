"""What the tests of the server's users are made of: cheap hashes that are counted, a clock moved by hand."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta, timezone
from pathlib import Path

from argon2 import PasswordHasher

from hitherto.lifetime import Clock, utc_now
from hitherto.server.credentials import Passwords
from hitherto.server.users_file import UsersFile

PASSWORD = "correct horse"


class CountedPasswords(Passwords):
    """Argon2 at its smallest price, counting what is asked of it."""

    def __init__(self, time_cost: int = 1) -> None:
        super().__init__(PasswordHasher(time_cost=time_cost, memory_cost=8, parallelism=1))
        self.hashed = self.compared = 0

    def hash(self, password: str) -> str:
        self.hashed += 1
        return super().hash(password)

    def fits(self, kept: str, password: str) -> bool:
        self.compared += 1
        return super().fits(kept, password)


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2026, 5, 1, tzinfo=timezone.utc) + timedelta(seconds=self.seconds)


def users_file(path: Path, *names: str, clock: Clock = utc_now) -> UsersFile:
    """Make a users file with these users, who all have the same password."""
    users = UsersFile(path, passwords=CountedPasswords(), clock=clock)
    for name in names:
        users.add(name, PASSWORD)
    return users


def basic(name: str, password: str, encoding: str = "utf-8") -> str:
    """Return the header of HTTP Basic authentication."""
    return "Basic " + base64.b64encode(f"{name}:{password}".encode(encoding)).decode()
