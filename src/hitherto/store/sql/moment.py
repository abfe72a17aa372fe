"""Of which moment a shelf is, and what has changed in the database since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hitherto.store.sql.index_sql import Driver

_USER: Final = (
    "SELECT version, epoch, row_count, (SELECT value FROM meta WHERE key = 'store_id') "
    "FROM scopes WHERE user_no = ?"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What of a scope a shelf shows.

    Attributes:
        version: The newest change that is in it.
        epoch: What has to be as in the database for the shelf to be of use.
        rows: How many records a user's scope has.
    """

    version: int
    epoch: tuple[Any, ...]
    rows: int = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since a shelf was read.

    Attributes:
        moment: Of which moment the shelf is once it has taken them in.
        since: The values of the statements that read them.
        none: Whether the shelf shows all of it already.
        anew: Whether the scope has to be read anew.
    """

    moment: Moment
    since: tuple[Any, ...] = ()
    none: bool = False
    anew: bool = True


def compared(now: Moment, before: Moment | None, *, since: tuple[Any, ...]) -> Changes:
    """Return what has changed where versions are in the order of commits.

    Args:
        now: What is in the database.
        before: What the shelf shows, or None without one.
        since: The values of the statements that read changes.
    """
    if before is None or now.epoch != before.epoch:
        return Changes(now)
    # A search whose transaction began before the shelf was renewed takes the newer one.
    return Changes(now, since, none=now.version <= before.version, anew=False)


def user_changes(driver: Driver, user_no: int, before: Moment | None) -> Changes:
    """Return what has changed of a user.

    Args:
        driver: A connection in a read transaction.
        user_no: The user.
        before: What the shelf shows, or None without one.
    """
    version, epoch, rows, store = driver.execute(_USER, (user_no,)).fetchone() or (0, 0, 0, None)
    since = () if before is None else (before.version,)
    return compared(Moment(version, (store, epoch), rows), before, since=since)
