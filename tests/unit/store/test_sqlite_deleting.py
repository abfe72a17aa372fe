"""Deleting: nothing is left behind, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from .conftest import CountingEmbedder

SECRET = "xylophonic quagmire 8d1f"


def fill(store: SQLiteStore, user: str, thread: str) -> None:
    """Store one of everything for a user."""
    store.add_user(user, f"profile {SECRET}")
    store.create_thread_record(thread, user, "bot", {"note": SECRET}, {"a": 1}, {"b": SECRET})
    picture = ImageContent(SECRET.encode(), ImageMimeType.PNG, f"picture {SECRET}", id=f"i-{user}")
    store.add(
        [[TextContent(f"said {SECRET}"), picture], "plain"],
        "message",
        record_ids=[f"m1-{user}", f"m2-{user}"],
        user_ids=user,
        agent_ids="bot",
        thread_ids=thread,
        roles="user",
    )
    store.add(
        [f"fact {SECRET}", "newer"],
        "fact",
        record_ids=[f"f1-{user}", f"f2-{user}"],
        user_ids=user,
        thread_ids=thread,
    )
    store.add(["loose"], "preference", record_ids=f"p-{user}", user_ids=user, index_texts=[[SECRET, "two"]])
    store.add([{"text": SECRET}], "thread_summary", record_ids=f"s-{user}", thread_ids=thread, user_ids=user)
    store.add_relations(f"f2-{user}", "fact", f"f1-{user}", "fact", "supersedes", metadata={"why": SECRET})


TYPES = ("user_profile", "thread", "message", "fact", "preference", "thread_summary", "image")


def contents(store: SQLiteStore, user: str) -> dict[str, list[object]]:
    found = {name: store.list(name, user_id=user) for name in TYPES[1:]}
    return {
        **found,
        "links": [item for item in store.list_relations() if item.source_record_id.endswith(user)],
    }  # type: ignore[dict-item]


def orphans(store: SQLiteStore) -> int:
    """Count rows of other tables whose record is gone."""
    with store._read() as conn:
        return sum(
            conn.execute(
                text(f"SELECT count(*) FROM {table} WHERE record_no NOT IN (SELECT record_no FROM records)")
            ).scalar_one()
            for table in ("vectors", "entries", "chunk_texts", "images")
        )


@pytest.fixture
def filled(file: Path, embedder: CountingEmbedder) -> SQLiteStore:
    store = SQLiteStore(file, embedder=embedder)
    for user in ("ana", "bo"):
        fill(store, user, f"t-{user}")
    return store


def test_a_thread_takes_its_content_along(filled: SQLiteStore) -> None:
    """Deleting a thread deletes its messages, images, memories, summaries and links, and nothing else."""
    other = contents(filled, "bo")
    assert filled.delete_thread("t-ana") == 1
    left = contents(filled, "ana")
    assert {name: len(items) for name, items in left.items() if items} == {"preference": 1}
    assert filled.get("user_profile", "ana") is not None
    assert contents(filled, "bo") == other
    assert orphans(filled) == 0
    assert filled.delete_thread("t-ana") == 0


def test_a_user_goes_alone_or_with_everything(filled: SQLiteStore) -> None:
    """Without cascade only the profile goes; with it, all that carries the user's id, even without a profile."""
    before = contents(filled, "ana")
    assert filled.delete("user_profile", "ana") == 1
    assert contents(filled, "ana") == before
    other = contents(filled, "bo")
    assert filled.delete("user_profile", "ana", cascade=True) == 0
    assert not any(contents(filled, "ana").values())
    assert contents(filled, "bo") == other
    assert orphans(filled) == 0


def test_an_agent_takes_its_threads_along(filled: SQLiteStore) -> None:
    """The threads of an agent go with all their content, whoever's it is."""
    filled.add_agent("bot", "helps")
    assert filled.delete("agent_profile", "bot", cascade=True) == 1
    assert filled.list("message") == filled.list("fact") == filled.list("thread") == []
    assert len(filled.list("preference")) == 2
    assert orphans(filled) == 0


def test_a_message_takes_its_images_along(filled: SQLiteStore) -> None:
    """An image in a message does not outlive it."""
    assert filled.delete("message", "m1-ana") == 1
    assert [image.id for image in filled.list("image")] == ["i-bo"]
    assert orphans(filled) == 0


def test_an_erased_user_leaves_no_trace_in_the_file(file: Path, filled: SQLiteStore) -> None:
    """After erase_user neither texts nor ids stand in the database file or beside it, live or freed."""
    filled.erase_user("bo")
    filled.add(["kept"], "fact", record_ids="kept", user_ids="cy")
    assert filled.erase_user("ana") > 0
    assert filled.erase_user("ana") == 0
    for path in file.parent.glob(file.name + "*"):
        data = path.read_bytes()
        for trace in (SECRET, "quagmire", "t-ana", "f1-ana", "ana"):
            assert trace.encode() not in data, (path.name, trace)
    assert [record.id for record in filled.list("fact")] == ["kept"]
    filled.close()


def test_erasing_works_while_another_store_reads(file: Path, filled: SQLiteStore) -> None:
    """A second open store does not keep a user from being erased, and sees it at once."""
    with SQLiteStore(file) as other:
        assert other.list("fact", user_id="ana")
        filled.erase_user("ana")
        assert not any(contents(other, "ana").values())
    filled.close()
