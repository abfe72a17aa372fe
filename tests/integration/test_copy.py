"""Copying a store to another backend and back gives an equal store; what was interrupted is resumed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import folder_url, fresh

from hitherto import SQLiteStore
from hitherto.errors import ConflictError, StoreError
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.store.sql import copy as copying
from hitherto.store.sql.copy import copy_store
from hitherto.store.sql.store import SqlMemoryStore
from hitherto.testing.scripted import HashEmbedder


def filled(path: Path) -> SQLiteStore:
    """Return a store with every kind of thing in it."""
    store = SQLiteStore(path, embedder=HashEmbedder())
    for user in ("u1", "u2", None):
        store.add([f"{user} says {n}" for n in range(20)], "message", thread_ids=f"t-{user}", user_ids=user)
    store.add(["a", "b", "c"], "fact", record_ids=["a", "b", "c"], user_ids="u1", index_texts=["x", "y", "z"])
    store.add_relations("a", "fact", "b", "fact", "supersedes")
    store.delete("fact", "c")
    image = ImageContent(b"\0png", ImageMimeType.PNG, "a cat", id="i")
    store.add([[TextContent("look"), image]], "message", record_ids="m", user_ids="u2", thread_ids="t-u2")
    store.add(["likes tea"], "user_profile", record_ids="u1")
    return store


def seen(store: SqlMemoryStore) -> list[Any]:
    """Return what a caller can see of a store, searches with their distances included."""
    return [
        store.statistics(),
        store.list("fact"),
        store.list_thread_messages("t-u1"),
        store.list_thread_messages("t-u2", include_bytes=True),
        store.list_relations(),
        store.search("says 7", 10),
        store.search("says 7", 10, user_id="u1", exact_user_match=True),
    ]


def test_to_postgresql_and_back_gives_an_equal_store(tmp_path: Path) -> None:
    """SQLite to PostgreSQL to SQLite: all three answer the same, and go on numbering where the first ended."""
    with (
        filled(tmp_path / "a.db") as first,
        fresh(embedder=HashEmbedder()) as second,
        SQLiteStore(tmp_path / "b.db", embedder=HashEmbedder()) as third,
    ):
        counts = copy_store(first, second)
        assert copy_store(second, third) == counts
        assert seen(first) == seen(second) == seen(third)
        for store in (first, second, third):
            store.add(["next"], "message", record_ids="next", thread_ids="t-u1", user_ids="u1")
            store.add(["d"], "fact", record_ids="d", user_ids="u1")
            store.add_relations("a", "fact", "d", "fact", "related_to", relation_ids="l")
        assert [record for record, _ in first.search("next", 3)] == [
            record for record, _ in second.search("next", 3)
        ]
        assert seen(first)[1:4] == seen(second)[1:4] == seen(third)[1:4]


def test_what_was_interrupted_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each batch that is interrupted the next attempt goes on; no row is written twice."""
    monkeypatch.setattr(copying, "BATCH", 7)
    batches: list[tuple[str, int]] = []

    def interrupt(table: str, done: int, total: int) -> None:
        batches.append((table, done))
        raise KeyboardInterrupt

    with filled(tmp_path / "a.db") as source, fresh(embedder=HashEmbedder()) as target:
        while True:
            try:
                copy_store(source, target, interrupt)
                break
            except KeyboardInterrupt:
                continue
        assert len(batches) == len(set(batches)) > 10
        assert seen(source) == seen(target)


def hits(store: SqlMemoryStore) -> list[int]:
    """Return how many records searches in everything and in one user's find."""
    return [
        len(store.search("says 7", 30)),
        len(store.search("says 7", 30, user_id="u1", exact_user_match=True)),
    ]


@pytest.mark.parametrize("divided", [True, False])
def test_a_target_that_is_searched_meanwhile_finds_all_in_the_end(tmp_path: Path, divided: bool) -> None:
    """What a search saw of a copy that was not complete yet is forgotten with it."""
    meanwhile: list[list[int]] = []
    with (
        filled(tmp_path / "a.db") as source,
        fresh(embedder=HashEmbedder())
        if divided
        else SQLiteStore(tmp_path / "b.db", embedder=HashEmbedder()) as target,
    ):
        copy_store(source, target, lambda *_: meanwhile.append(hits(target)))
        assert hits(target) == hits(source) != meanwhile[0]


def test_a_target_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    """Neither a store with records is written over, nor a half copy of what has changed since."""
    with filled(tmp_path / "a.db") as source, fresh() as target, fresh() as other:
        other.add(["x"], "fact")
        with pytest.raises(ConflictError, match="not empty"):
            copy_store(source, other)

        def interrupt(table: str, done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            copy_store(source, target, interrupt)
        source.add(["new"], "fact")
        with pytest.raises(ConflictError, match="before it changed"):
            copy_store(source, target)


def test_a_row_that_differs_is_found(tmp_path: Path) -> None:
    """A value that was changed in the copy before it was complete fails the comparison."""
    with filled(tmp_path / "a.db") as source, fresh() as target:

        def spoil(table: str, done: int, total: int) -> None:
            if table == "entries":
                with target._write() as conn:
                    conn.exec_driver_sql("UPDATE records SET content = 'spoilt' WHERE id = 'a'")

        with pytest.raises(StoreError, match="copy of records"):
            copy_store(source, target, spoil)


def test_the_command_copies(tmp_path: Path) -> None:
    """`hitherto copy` goes both ways and says how many rows it verified."""
    filled(tmp_path / "a.db").close()
    url = folder_url(tmp_path)
    for source, target in ((str(tmp_path / "a.db"), url), (url, str(tmp_path / "b.db"))):
        done = subprocess.run(
            [sys.executable, "-m", "hitherto", "copy", source, target, "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["copied"]["records"] == 65
