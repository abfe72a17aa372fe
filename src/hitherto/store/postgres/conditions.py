"""The conditions of a search in PostgreSQL's SQL, on rows of ``entries`` named ``e``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg

from hitherto.store.sql.entries import TYPE_NUMBERS, microseconds_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hitherto.store.requests import StoreQuery


@dataclass
class Wanted:
    """Conditions that all must hold, with their values.

    Attributes:
        clauses: The conditions.
        values: Their values, in order.
    """

    clauses: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, clause: str, *values: Any) -> None:
        """Add a condition.

        Args:
            clause: The condition.
            *values: Its values.
        """
        self.clauses.append(clause)
        self.values.extend(values)

    def join(self, other: Wanted) -> Wanted:
        """Return these conditions and others.

        Args:
            other: The others.
        """
        return Wanted([*self.clauses, *other.clauses], [*self.values, *other.values])

    @property
    def sql(self) -> str:
        """All of them, as one condition."""
        return " AND ".join(self.clauses) if self.clauses else "TRUE"


def of_ranked(query: StoreQuery, user_no: int | None) -> Wanted:
    """Return what rows must meet to say anything, be it of their neighbours: whose they are, and not expired.

    Args:
        query: The search.
        user_no: The one user who is searched, or None for all users.
    """
    wanted = Wanted()
    if user_no is not None:
        wanted.add("e.user_no = %s", user_no)
    wanted.add("e.expires > %s", microseconds_of(query.now))
    return wanted


def of_thread(query: StoreQuery) -> Wanted:
    """Return what rows and their neighbours must meet to be found: the thread.

    Args:
        query: The search.
    """
    wanted = Wanted()
    _match(wanted, "e.thread_id", query.scope.thread.exact, query.scope.thread.id)
    return wanted


def of_found(query: StoreQuery) -> Wanted:
    """Return what rows must meet to be found, beside :func:`of_ranked`.

    Args:
        query: The search.
    """
    wanted = of_thread(query)
    _match(wanted, "e.agent_id", query.scope.agent.exact, query.scope.agent.id)
    if query.record_types is not None:
        wanted.add("e.record_type = ANY(%s)", [TYPE_NUMBERS[name] for name in sorted(query.record_types)])
    if not query.include_invalid:
        wanted.add("e.valid = 1")
    return wanted


def _match(wanted: Wanted, column: str, exact: bool, wanted_id: str | None) -> None:
    if exact and wanted_id is None:
        wanted.add(f"{column} IS NULL")
    elif exact:
        wanted.add(f"{column} = %s", wanted_id)


def driver_of(conn: Connection) -> psycopg.Connection[Any]:
    """Return the driver's connection.

    Args:
        conn: A connection.
    """
    driver = conn.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)  # noqa: S101  narrows the driver's type
    return driver
