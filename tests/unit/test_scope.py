"""Scope: omitted, None and an id are three things; the defaults of each layer."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, InvalidIdError
from hitherto.records import (
    AgentProfileRecord,
    MemoryRecord,
    MessageRecord,
    Record,
    ThreadRecord,
    UserProfileRecord,
)
from hitherto.scope import (
    DIMENSIONS,
    Match,
    ResolvedScope,
    Scope,
    SearchScope,
    check_id,
    record_scope,
    resolve_for_client,
    resolve_for_store,
    resolve_for_thread,
)

GOOD_IDS = [
    "a",
    "u1",
    " padded ",
    "ana@example.org",
    "a/b\\c",
    "%_*",
    "日本語",
    "🙂",
    "x" * 128,
    "é" * 128,
    "\t",
    "0",
]
BAD_IDS = ["", "x" * 129, "nul\0", "\ud800", "a\udfff"]
OWN = {"user_id": "u", "agent_id": "a", "thread_id": "t"}


@pytest.mark.parametrize("good", GOOD_IDS)
def test_ids_are_literal(good: str) -> None:
    """Any text of 1 to 128 characters is an id as it stands, neither trimmed nor folded."""
    assert check_id(good, argument="x") == good


@pytest.mark.parametrize("bad", [*BAD_IDS, None, 5, b"x"])
def test_other_ids_are_refused_by_name(bad: Any) -> None:
    """An empty, overlong or unstorable id, or one that is no text, is refused with the argument's name."""
    with pytest.raises(InvalidIdError, match="thread_id") as caught:
        check_id(bad, argument="thread_id")
    assert caught.value.argument == "thread_id"


def test_ids_in_a_scope_are_checked() -> None:
    """No illegal id passes into a search."""
    for name in DIMENSIONS:
        for bad in BAD_IDS:
            with pytest.raises(InvalidIdError, match=f"{name}_id"):
                resolve_for_store(SearchScope(**{f"{name}_id": bad}))


def test_a_store_filters_only_by_exact_ids() -> None:
    """In a store everything is open by default, and an id without its flag only ranks."""
    assert resolve_for_store(SearchScope()) == ResolvedScope()
    given = resolve_for_store(SearchScope("u", None, "t", exact_agent_match=True, exact_thread_match=True))
    assert given == ResolvedScope(Match("u"), Match(None, exact=True), Match("t", exact=True))
    assert (given.user.preferred_id, given.thread.preferred_id) == ("u", None)


def test_a_client_needs_a_user_and_is_exact_about_it() -> None:
    """The user must be given and exact; a given agent is exact; a thread only ranks."""
    given = resolve_for_client(SearchScope("u", "a", "t"))
    assert given == ResolvedScope(Match("u", exact=True), Match("a", exact=True), Match("t"))
    assert resolve_for_client(SearchScope(None)).user == Match(None, exact=True)
    with pytest.raises(InvalidArgumentError, match="user_id must be given"):
        resolve_for_client(SearchScope())
    with pytest.raises(InvalidArgumentError, match="exact_user_match must be True"):
        resolve_for_client(SearchScope("u", exact_user_match=False))


def test_a_thread_brings_its_own_ids() -> None:
    """What is omitted is the thread's own: user and agent exact, the thread ranking; what is given holds."""
    own = resolve_for_thread(SearchScope(), **OWN)
    assert own == ResolvedScope(Match("u", exact=True), Match("a", exact=True), Match("t"))
    flags = SearchScope(exact_user_match=False, exact_thread_match=True)
    assert resolve_for_thread(flags, **OWN) == ResolvedScope(
        Match("u"), Match("a", exact=True), Match("t", exact=True)
    )
    other = resolve_for_thread(SearchScope("other", None, None, exact_thread_match=True), **OWN)
    assert other == ResolvedScope(
        Match("other", exact=True), Match(None, exact=True), Match(None, exact=True)
    )


@pytest.mark.parametrize("name", DIMENSIONS)
def test_being_exact_about_nothing_is_an_error(name: str) -> None:
    """A flag without an id would silently widen the search, so it is refused, naming both."""
    with pytest.raises(InvalidArgumentError, match=f"exact_{name}_match needs {name}_id"):
        resolve_for_store(SearchScope(**{f"exact_{name}_match": True}))
    assert resolve_for_store(SearchScope(**{f"exact_{name}_match": False})) == ResolvedScope()


@pytest.mark.parametrize("flag", [1, 0, None, "yes"])
def test_a_flag_is_a_bool(flag: Any) -> None:
    """Nothing else counts as true or false."""
    for resolve in (resolve_for_store, resolve_for_client):
        with pytest.raises(ArgumentTypeError, match="exact_user_match"):
            resolve(SearchScope("u", exact_user_match=flag))


def test_scopes_are_plain_values_to_fill_in() -> None:
    """A scope can be changed, compared and printed, but is no key of a dict."""
    scope = SearchScope("u")
    scope.agent_id = "a"
    assert scope == SearchScope("u", "a")
    assert SearchScope("u") != Scope("u")
    assert "thread_id=NOT_SET" in repr(scope)
    with pytest.raises(TypeError):
        hash(scope)


def test_records_are_matched_by_their_ids_and_profiles_by_their_own() -> None:
    """A profile is its own user or agent; a record without scope has none."""
    assert record_scope(MemoryRecord("m", **OWN)) == ("u", "a", "t")
    assert record_scope(ThreadRecord("t1", user_id="u")) == ("u", None, None)
    assert record_scope(UserProfileRecord("u")) == ("u", None, None)
    assert record_scope(AgentProfileRecord("a")) == (None, "a", None)
    assert record_scope(Record("x", "episode")) == (None, None, None)


def test_exact_admits_equals_only() -> None:
    """ "u1" does not admit "u10", None admits only records without an id, and all dimensions must agree."""
    scope = ResolvedScope(Match("u1", exact=True), Match(None, exact=True), Match("t"))
    assert scope.admits(MessageRecord("m", user_id="u1", thread_id="other", seq_no=1))
    assert not scope.admits(MemoryRecord("m", user_id="u10"))
    assert not scope.admits(MemoryRecord("m", user_id="u1", agent_id="a"))
    assert not scope.admits(MemoryRecord("m"))
    assert scope.admits(UserProfileRecord("u1"))
    assert ResolvedScope().admits(MemoryRecord("m", **OWN))
