"""What has changed in a whole store, where writers of different users commit side by side.

A version is then in the order of commits among those of one user alone. Each scope says in which transaction it was
changed last; a transaction that a snapshot did not show has a number from that snapshot's ``xmin`` on. So a shelf of
the whole store knows the version of each user, and asks for the scopes that were changed from there on. After a crash
the server gives numbers out again that nothing committed had: it asks no later than from behind the newest change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from hitherto.store.sql.index_sql import Driver
from hitherto.store.sql.moment import Changes, Moment
from hitherto.store.sql.tables import NO_USER

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANGED: Final = "unnest(?::bigint[], ?::bigint[]) AS s (user_no, since)"
"""What the scopes that changed are selected from; the values are their users and the versions that are known."""

# A session that is bound to a user sees that user's scope alone, as long as there is one.
_STORE: Final = (
    "SELECT (SELECT value FROM meta WHERE key = 'store_id') AS store, "
    "coalesce((SELECT epoch FROM scopes WHERE user_no = ?)::text, "
    "(SELECT max(user_no || ' ' || epoch) FROM scopes), '') AS epoch, "
    "least(pg_snapshot_xmin(pg_current_snapshot())::text::bigint, "
    "(SELECT max(changed_in) + 1 FROM scopes WHERE changed_in < ahead)) AS mark, ahead "
    "FROM (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS ahead) snapshot"
)
_ALL: Final = (
    "SELECT n.store, n.epoch, n.mark, s.user_no, s.version "  # noqa: S608  own text
    f"FROM ({_STORE}) n LEFT JOIN scopes s ON true"
)
# Numbers that are still to come are those of a server that the store was brought from.
_SINCE: Final = _ALL.replace("ON true", "ON s.changed_in >= ? AND s.changed_in < n.ahead")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMoment(Moment):
    """What of a whole store a shelf shows.

    Attributes:
        mark: What transactions with smaller numbers changed is shown.
        users: The numbers of users, in order.
        versions: The newest change of each that is shown.
    """

    mark: int
    users: NDArray[np.int64]
    versions: NDArray[np.int64]


def store_changes(driver: Driver, before: Moment | None) -> Changes:
    """Return what has changed in the whole store.

    Args:
        driver: A connection in a read transaction.
        before: What the shelf shows, or None without one.
    """
    if isinstance(before, StoreMoment):
        rows = driver.execute(_SINCE, (NO_USER, before.mark)).fetchall()
        if (rows[0][0], rows[0][1]) == before.epoch:
            return _since(rows[0][2], rows, before)
    rows = driver.execute(_ALL, (NO_USER,)).fetchall()
    users, versions = _scopes(rows)
    order = np.argsort(users)
    store, epoch, mark = rows[0][:3]
    moment = StoreMoment(0, (store, epoch), mark=mark, users=users[order], versions=versions[order])
    return Changes(moment)


def _scopes(rows: list[tuple[str, str, int, int | None, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    found = [(row[3], row[4]) for row in rows if row[3] is not None]
    table = np.array(found, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _since(mark: int, rows: list[tuple[str, str, int, int | None, int]], before: StoreMoment) -> Changes:
    users, versions = _scopes(rows)
    places = np.searchsorted(before.users, users)
    known = places < before.users.size
    known[known] = before.users[places[known]] == users[known]
    seen = np.zeros(users.size, np.int64)
    seen[known] = before.versions[places[known]]
    # One that is older than what is known is of a transaction that began before the shelf was renewed.
    newer = versions > seen
    if not newer.any():
        return Changes(before, none=True, anew=False)
    merged = before.versions.copy()
    merged[places[known & newer]] = versions[known & newer]
    new = ~known
    order = np.argsort(users[new])
    at = places[new][order]
    moment = StoreMoment(
        0,
        before.epoch,
        mark=max(mark, before.mark),
        users=np.insert(before.users, at, users[new][order]),
        versions=np.insert(merged, at, versions[new][order]),
    )
    return Changes(moment, (users[newer].tolist(), seen[newer].tolist()), anew=False)
