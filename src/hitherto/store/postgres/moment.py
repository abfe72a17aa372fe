"""What has changed in a whole store, where writers of different users commit side by side.

A version is then in the order of commits among those of one user alone. Each scope says in which transaction it was
changed last. What a snapshot did not show was changed in a transaction that ran at that time, or in one with a later
number than all that had ended. So a shelf of the whole store knows the version of each user, and asks for the scopes
that were changed in those. After a crash the server gives numbers out again that nothing committed had: later ones are
all from behind the newest change.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto.store.sql.index_sql import Driver
from hitherto.store.sql.moment import Changes, Moment
from hitherto.store.sql.tables import NO_USER

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANGED: Final = "unnest(?::bigint[], ?::bigint[]) AS s (user_no, since)"
"""What the scopes that changed are selected from; the values are their users and the versions that are known."""

# A session that is bound to a user sees that user's scope alone, as long as there is one. A replica does not know what
# runs: there all from xmin on may be new.
_NOW: Final = (
    "SELECT (SELECT value FROM meta WHERE key = 'store_id') AS store, "
    "coalesce((SELECT epoch FROM scopes WHERE user_no = ?)::text, "
    "(SELECT max(user_no || ' ' || epoch) FROM scopes), '') AS epoch, "
    "least(CASE WHEN cardinality(running) = 0 THEN oldest ELSE ahead END, "
    "(SELECT max(changed_in) + 1 FROM scopes WHERE changed_in < ahead)) AS mark, running, ahead "
    "FROM (SELECT pg_snapshot_xmin(now)::text::bigint AS oldest, pg_snapshot_xmax(now)::text::bigint AS ahead, "
    "ARRAY(SELECT number::text::bigint FROM pg_snapshot_xip(now) AS number) AS running "
    "FROM pg_current_snapshot() AS now) snapshot"
)
# Numbers that are still to come are those of a server that the store was brought from.
_SINCE: Final = (
    "SELECT n.store, n.epoch, n.mark, n.running, s.user_no, s.version "  # noqa: S608  own text
    f"FROM ({_NOW}) n LEFT JOIN scopes s "
    "ON (s.changed_in >= ? OR s.changed_in = ANY(?::bigint[])) AND s.changed_in < n.ahead"
)
_ALL: Final = "SELECT user_no, version FROM scopes ORDER BY user_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMoment(Moment):
    """What of a whole store a shelf shows.

    Attributes:
        mark: What changes later has this number or a greater one, or one of those that ran.
        running: The numbers of transactions that ran.
        users: The numbers of users, in order.
        versions: The newest change of each that is shown.
    """

    mark: int
    running: list[int]
    users: NDArray[np.int64]
    versions: NDArray[np.int64]


def store_changes(driver: Driver, before: Moment | None) -> Changes:
    """Return what has changed in the whole store.

    Args:
        driver: A connection in a read transaction.
        before: What the shelf shows, or None without one.
    """
    if isinstance(before, StoreMoment):
        rows = driver.execute(_SINCE, (NO_USER, before.mark, before.running)).fetchall()
        if tuple(rows[0][:2]) == before.epoch:
            return _since(rows, before)
    store, epoch, mark, running, _ = driver.execute(_NOW, (NO_USER,)).fetchone()
    users, versions = _columns(driver.execute(_ALL).fetchall())
    return Changes(StoreMoment(0, (store, epoch), mark=mark, running=running, users=users, versions=versions))


def _columns(scopes: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    table = np.array(scopes, np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _since(rows: list[tuple[Any, ...]], before: StoreMoment) -> Changes:
    users, versions = _columns([(row[4], row[5]) for row in rows if row[4] is not None])
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
    # A search whose transaction began before the shelf was renewed says less of what is to come.
    mark, running = max(tuple(rows[0][2:4]), (before.mark, before.running), key=itemgetter(0))
    moment = StoreMoment(
        0,
        before.epoch,
        mark=mark,
        running=running,
        users=np.insert(before.users, at, users[new][order]),
        versions=np.insert(merged, at, versions[new][order]),
    )
    return Changes(moment, (users[newer].tolist(), seen[newer].tolist()), anew=False)
