"""Any message comes back as it was, and any scope lets through what its rule says, on every store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.postgres import fresh

from hitherto.messages import ImageContent, Message, TextContent
from hitherto.notset import NOT_SET
from hitherto.scope import SearchScope, resolve_for_store
from hitherto.store.base import MemoryStore
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing import strategies
from hitherto.testing.reference import ReferenceStore

OWNER = st.none() | strategies.ids()


@pytest.fixture(
    scope="module",
    params=[ReferenceStore, lambda: SQLiteStore(":memory:"), fresh],
    ids=["reference", "sqlite", "postgres"],
)
def store(request: pytest.FixtureRequest) -> Iterator[MemoryStore]:
    """Return a store; examples delete what they stored."""
    with request.param() as opened:
        yield opened


def as_read(content: Any) -> Any:
    """Return content as it is read back: one text alone is that text."""
    alone = not isinstance(content, str) and len(content) == 1 and isinstance(content[0], TextContent)
    return content[0].text if alone else content


def without_bytes(content: Any) -> Any:
    """Return content as a read without bytes gives it."""
    if isinstance(content, str):
        return content
    return tuple(replace(part, bytes=None) if isinstance(part, ImageContent) else part for part in content)


@given(said=st.lists(strategies.messages(), min_size=1, max_size=4))
def test_messages_come_back_as_they_were(store: MemoryStore, said: list[Message]) -> None:
    """Texts, parts, bytes, roles and metadata of any message are returned as they were given, in order."""
    store.add(
        [message.content for message in said],
        "message",
        thread_ids="t",
        roles=[message.role for message in said],
        metadata=[message.metadata for message in said],
    )
    try:
        found = store.list_thread_messages("t", include_bytes=True)
        assert [(item.content, item.role, item.metadata) for item in found] == [
            (as_read(message.content), message.role, message.metadata) for message in said
        ]
        plain = store.list_thread_messages("t")
        assert [item.content for item in plain] == [
            without_bytes(as_read(message.content)) for message in said
        ]
    finally:
        store.delete("thread", "t", cascade=True)
        for item in store.list("message"):
            store.delete("message", item.id)
    assert store.list("image") == []


@settings(max_examples=100)
@given(
    owners=st.lists(st.tuples(OWNER, OWNER, OWNER), min_size=1, max_size=8), scope=strategies.search_scopes()
)
def test_a_search_sees_what_its_scope_admits(
    store: MemoryStore, owners: list[tuple[str | None, str | None, str | None]], scope: SearchScope
) -> None:
    """For any owners and any scope the hits are exactly the records that the scope's one rule admits."""
    columns = [list(column) for column in zip(*owners, strict=True)]
    made = store.add(
        ["tea"] * len(owners), "fact", user_ids=columns[0], agent_ids=columns[1], thread_ids=columns[2]
    )
    try:
        given_scope = {name: value for name, value in vars(scope).items() if value is not NOT_SET}
        resolved = resolve_for_store(scope)
        expected = {record.id for record in store.list("fact") if resolved.admits(record)}
        found = store.search("tea", 100, **given_scope)
        assert {record.id for record, _ in found} == expected
        assert len(found) == len(expected)
    finally:
        for record_id in made:
            store.delete("fact", record_id)
