"""Scope: whose records are meant. The only place that reads omitted, None and an id.

A scope has three independent dimensions: user, agent and thread. In each, *omitted*, ``None`` and an id are
three different things, and an exact flag says whether the id filters or only ranks:

| given | meaning |
|---|---|
| nothing | the layer's default: a thread's own ids, or no filter |
| an id or None, exact False | no filter; records whose value equals the id rank above otherwise equal ones |
| an id, exact True | only that id |
| None, exact True | only records with no id in that dimension |

The defaults differ by layer and stand in :func:`resolve_for_thread`, :func:`resolve_for_client` and
:func:`resolve_for_store`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from hitherto.characters import is_storable
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, InvalidIdError, shown
from hitherto.notset import NOT_SET, NOT_SET_MARKER, NotSetType
from hitherto.records import Record, ScopedRecord

__all__ = [
    "NOT_SET",
    "NOT_SET_MARKER",
    "Match",
    "NotSetType",
    "ResolvedScope",
    "Scope",
    "SearchScope",
    "check_id",
    "record_scope",
    "resolve_for_client",
    "resolve_for_store",
    "resolve_for_thread",
]

MAX_ID_LENGTH: Final = 128

Dimension = Literal["user", "agent", "thread"]
DIMENSIONS: Final[tuple[Dimension, ...]] = ("user", "agent", "thread")


@dataclass
class Scope:
    """Whose records are meant.

    Attributes:
        user_id: The user, None for records without one, or omitted.
        agent_id: The agent, None for records without one, or omitted.
        thread_id: The thread, None for records without one, or omitted.
    """

    user_id: str | None | NotSetType = NOT_SET
    agent_id: str | None | NotSetType = NOT_SET
    thread_id: str | None | NotSetType = NOT_SET


@dataclass
class SearchScope(Scope):
    """A scope for a search, with a flag per dimension that says whether its id filters.

    Attributes:
        exact_user_match: Whether only records of that very user qualify.
        exact_agent_match: Whether only records of that very agent qualify.
        exact_thread_match: Whether only records of that very thread qualify.

    Examples:
        >>> SearchScope(user_id="ana", thread_id="t1", exact_thread_match=True).user_id
        'ana'
    """

    exact_user_match: bool | NotSetType = NOT_SET
    exact_agent_match: bool | NotSetType = NOT_SET
    exact_thread_match: bool | NotSetType = NOT_SET


@dataclass(frozen=True, slots=True)
class Match:
    """What one dimension of a resolved scope asks for.

    Attributes:
        id: The id, or None.
        exact: Whether it filters. Not exact with an id: records with it rank above otherwise equal ones.
    """

    id: str | None = None
    exact: bool = False

    @property
    def preferred_id(self) -> str | None:
        """The id that ranks higher without filtering, or None."""
        return None if self.exact else self.id

    def admits(self, value: str | None) -> bool:
        """Return whether a record with this value in the dimension qualifies."""
        return not self.exact or value == self.id


@dataclass(frozen=True, slots=True)
class ResolvedScope:
    """A scope after a layer's defaults were applied; what a store is asked for.

    Attributes:
        user: The user dimension.
        agent: The agent dimension.
        thread: The thread dimension.
    """

    user: Match = Match()
    agent: Match = Match()
    thread: Match = Match()

    def admits(self, record: Record) -> bool:
        """Return whether a record lies within the scope.

        Examples:
            >>> from hitherto.records import MemoryRecord
            >>> ResolvedScope(user=Match("u1", exact=True)).admits(MemoryRecord("m", user_id="u10"))
            False
        """
        user_id, agent_id, thread_id = record_scope(record)
        return self.user.admits(user_id) and self.agent.admits(agent_id) and self.thread.admits(thread_id)


def record_scope(record: Record) -> tuple[str | None, str | None, str | None]:
    """Return the user, agent and thread id that a record is matched by.

    A profile is matched by its own id: a user's profile as the user, an agent's as the agent.
    """
    if record.record_type == "user_profile":
        return record.id, None, None
    if record.record_type == "agent_profile":
        return None, record.id, None
    if isinstance(record, ScopedRecord):
        return record.user_id, record.agent_id, record.thread_id
    return None, None, None


def check_id(value: object, *, argument: str) -> str:
    """Return *value* if it is a legal id.

    Ids are literal: nothing in them is a wildcard or separator, and they are neither trimmed nor folded.

    Args:
        value: The id that came.
        argument: The argument's name, for the message.

    Returns:
        The id.

    Raises:
        InvalidIdError: If it is not a str, is empty, is longer than 128 characters, or holds NUL or a lone
            surrogate.

    Examples:
        >>> check_id("ana@example.org/€", argument="user_id")
        'ana@example.org/€'
    """
    if not isinstance(value, str):
        raise InvalidIdError(f"{argument} must be a str, got {shown(value)}", argument=argument)
    if not value or len(value) > MAX_ID_LENGTH:
        raise InvalidIdError(
            f"{argument} must have 1 to {MAX_ID_LENGTH} characters, got {len(value)}", argument=argument
        )
    if not is_storable(value):
        raise InvalidIdError(
            f"{argument} must not hold NUL or a lone surrogate, got {shown(value)}", argument=argument
        )
    return value


def resolve_for_store(scope: SearchScope) -> ResolvedScope:
    """Apply a store's defaults: an omitted dimension is open, and an id filters only with its exact flag.

    Raises:
        InvalidArgumentError: If an exact flag is True without an id.
        ArgumentTypeError: If a flag is not a bool.
    """
    return ResolvedScope(*(_resolve(scope, name, default=Match(), exact=False) for name in DIMENSIONS))


def resolve_for_client(scope: SearchScope) -> ResolvedScope:
    """Apply a client's defaults: the user must be given and is exact, a given agent is exact, a thread not.

    Raises:
        InvalidArgumentError: If the user is omitted or not exact, or an exact flag is True without an id.
        ArgumentTypeError: If a flag is not a bool.
    """
    if scope.user_id is NOT_SET:
        raise InvalidArgumentError(
            "user_id must be given to search all of a client's records: an id, or None for records without a "
            "user; got nothing",
            argument="user_id",
        )
    user = _resolve(scope, "user", default=Match(), exact=True)
    if not user.exact:
        raise InvalidArgumentError(
            "exact_user_match must be True when searching all of a client's records, got False",
            argument="exact_user_match",
        )
    agent = _resolve(scope, "agent", default=Match(), exact=True)
    return ResolvedScope(user, agent, _resolve(scope, "thread", default=Match(), exact=False))


def resolve_for_thread(
    scope: SearchScope, *, user_id: str | None, agent_id: str | None, thread_id: str
) -> ResolvedScope:
    """Apply a thread's defaults: its own user and agent, exact; its own id, ranking only.

    Args:
        scope: What was asked for.
        user_id: The thread's user.
        agent_id: The thread's agent.
        thread_id: The thread's id.

    Raises:
        ArgumentTypeError: If a flag is not a bool.
    """
    return ResolvedScope(
        _resolve(scope, "user", default=Match(user_id, exact=True), exact=True),
        _resolve(scope, "agent", default=Match(agent_id, exact=True), exact=True),
        _resolve(scope, "thread", default=Match(thread_id, exact=False), exact=False),
    )


def _resolve(scope: SearchScope, name: Dimension, *, default: Match, exact: bool) -> Match:
    given = getattr(scope, f"{name}_id")
    flag = getattr(scope, f"exact_{name}_match")
    if flag is not NOT_SET and not isinstance(flag, bool):
        raise ArgumentTypeError(
            f"exact_{name}_match must be True or False, got {shown(flag)}", argument=f"exact_{name}_match"
        )
    if given is NOT_SET:
        # A thread has an id of its own to be exact about; without one the flag says nothing.
        if flag is True and default == Match():
            raise InvalidArgumentError(
                f"exact_{name}_match needs {name}_id: an id, or None for records without one; got no {name}_id",
                argument=f"exact_{name}_match",
            )
        return Match(default.id, flag if isinstance(flag, bool) else default.exact)
    if given is not None:
        check_id(given, argument=f"{name}_id")
    return Match(given, exact if flag is NOT_SET else flag)
