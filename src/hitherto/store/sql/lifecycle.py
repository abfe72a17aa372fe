"""Status from links: a memory is invalid if it was set so by hand, or if a link that points at it makes it so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select, update

from hitherto.relations import INVALIDATION_REASONS, invalidation_reason
from hitherto.store.checks import json_text
from hitherto.store.sql.divided import Owners, linking_users, of_users
from hitherto.store.sql.numbers import change_scopes
from hitherto.store.sql.rows import index_rows, owners_of, rows_by_no, slices
from hitherto.store.sql.tables import links, records

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row

    from hitherto.store.sql.search_index import SearchIndex

_INCOMING = (
    select(links.c.target_no, links.c.relation_type)
    .where(links.c.target_no.in_(bindparam("nos", expanding=True)))
    .order_by(links.c.created_at, links.c.id)
)
_SET = (
    update(records)
    .where(records.c.user_no == bindparam("user"), records.c.record_no == bindparam("no"))
    .values(status=bindparam("new_status"), metadata=bindparam("new_metadata"))
)


def with_reason(metadata: dict[str, Any] | None, reason: str | None) -> dict[str, Any] | None:
    """Return metadata that give the reason of an invalidation by a link, or give it no longer.

    Args:
        metadata: The metadata as they are.
        reason: The reason, or None if no link invalidates.

    Returns:
        New metadata; a reason in other words than a link's is only overwritten, never removed.

    Examples:
        >>> with_reason({"a": 1}, "Superseded by another memory.")
        {'a': 1, '$agent_memory': {'invalidation_reason': 'Superseded by another memory.'}}
        >>> with_reason(with_reason(None, "Superseded by another memory."), None) is None
        True
    """
    inner = (metadata or {}).get("$agent_memory")
    inner = dict(inner) if isinstance(inner, dict) else {}
    if reason is not None:
        inner["invalidation_reason"] = reason
        return {**(metadata or {}), "$agent_memory": inner}
    if inner.get("invalidation_reason") not in INVALIDATION_REASONS.values():
        return metadata
    del inner["invalidation_reason"]
    rest = {key: value for key, value in (metadata or {}).items() if key != "$agent_memory"}
    if inner:
        rest["$agent_memory"] = inner
    return rest or None


def recalculate(conn: Connection, index: SearchIndex, owners: Owners) -> None:
    """Derive the status of memories anew from their links.

    Args:
        conn: A connection in a write transaction.
        index: What makes them findable.
        owners: Their numbers, with those of their users; others than memories are left alone.
    """
    if not owners:
        return
    numbers = sorted(owners)
    incoming: dict[int, list[str]] = {}
    pointing = of_users(conn, _INCOMING, links, linking_users(conn, owners))
    for nos in slices(numbers):
        for record_no, kind in conn.execute(pointing, {"nos": nos}):
            incoming.setdefault(record_no, []).append(kind)
    users = set(owners.values())
    rows = rows_by_no(conn, numbers, users).values()
    changed = [
        (row, new) for row in rows if (new := _derived(row, incoming.get(row.record_no, []))) is not None
    ]
    if not changed:
        return
    conn.execute(
        _SET,
        [
            {"user": row.user_no, "no": row.record_no, "new_status": status, "new_metadata": text}
            for row, (status, text) in changed
        ],
    )
    if any(row.status != status for row, (status, _) in changed):
        touch(conn, index, owners_of(row for row, _ in changed))


def _derived(row: Row[Any], incoming: list[str]) -> tuple[str, str | None] | None:
    if row.id_space != "memory":
        return None
    reason = invalidation_reason(incoming)
    status = "invalid" if reason is not None or row.hand_status == "invalid" else "valid"
    metadata = json_text(with_reason(None if row.metadata is None else json.loads(row.metadata), reason))
    return None if (status, metadata) == (row.status, row.metadata) else (status, metadata)


def touch(conn: Connection, index: SearchIndex, owners: Owners) -> None:
    """Tell the index that status or expiry of records changed.

    Args:
        conn: A connection in a write transaction.
        index: The index.
        owners: The records' numbers, with those of their users.
    """
    rows = list(rows_by_no(conn, sorted(owners), set(owners.values())).values())
    version = change_scopes(conn, dict.fromkeys((row.user_no for row in rows), 0))
    indexed = index_rows(conn, rows)
    if indexed:
        index.touch(conn, indexed, version)
