"""Every table that grows is divided by user, and no call about one user looks into more than the user's partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import psycopg
import pytest
from sqlalchemy import event
from tests.postgres import schema_url

from hitherto import AgentMemory
from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.records import RecordStatus
from hitherto.store.postgres.store import PostgresStore
from hitherto.store.postgres.tables import DIVIDED
from hitherto.testing.scripted import HashEmbedder

PARTITIONS = 8
BY_ANOTHER_KEY = {"ids": 6, "thread_users": 2}
"""Divided by the id or thread: as many partitions at most as a statement names keys, which is six messages here."""
_SCAN = re.compile(r"\bon (\w+?)_p(\d+)\b")


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """Return a store of eight partitions with forty users."""
    with PostgresStore(
        schema_url("parts"), partitions=PARTITIONS, embedder=HashEmbedder(), schema_policy="recreate"
    ) as opened:
        for n in range(40):
            opened.add(
                [f"user {n} says {place}" for place in range(5)],
                "message",
                user_ids=f"u{n}",
                thread_ids=f"t{n}",
                metadata={"n": n},
            )
        with opened._write() as conn:
            conn.exec_driver_sql(f"ANALYZE {', '.join(DIVIDED)}")
        yield opened


class Explaining(psycopg.Cursor[Any]):
    """A cursor that has the server explain what each statement does, undoes that, and then runs it."""

    found: ClassVar[list[str]] = []

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        """Explain and run a statement."""
        self._explain(query, params)
        return super().execute(query, params, **options)

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        """Explain a statement for the first row, and run it for each."""
        rows = list(params_seq)
        if rows:
            self._explain(query, rows[0])
        super().executemany(query, rows, **options)

    def _explain(self, query: Any, params: Any) -> None:
        said = query if isinstance(query, bytes) else str(query).encode()
        if said.split()[0] not in {b"SELECT", b"INSERT", b"UPDATE", b"DELETE"}:
            return
        with psycopg.Cursor(self.connection) as cursor:
            cursor.execute("SAVEPOINT before")
            cursor.execute(b"EXPLAIN (ANALYZE, TIMING OFF) " + said, params)
            plan = "\n".join(row[0] for row in cursor.fetchall())
            cursor.execute("ROLLBACK TO before")
        self.found.append(f"{said.decode()}\n{plan}")


@contextmanager
def plans(store: PostgresStore) -> Iterator[list[str]]:
    """Collect the plan of every statement that the store runs, as the server explains what it has done."""

    def explain(driver: Any, *rest: Any) -> None:
        driver.cursor_factory = Explaining

    Explaining.found.clear()
    store._engine._engine.dispose()
    event.listen(store._engine._engine, "connect", explain)
    try:
        yield Explaining.found
    finally:
        event.remove(store._engine._engine, "connect", explain)
        store._engine._engine.dispose()


def touched(plan: str) -> dict[str, set[str]]:
    """Return which partitions of each table a plan has looked into."""
    parts: dict[str, set[str]] = {}
    for line in plan.splitlines():
        for table, number in _SCAN.findall(line):
            if "never executed" not in line:
                parts.setdefault(table, set()).add(number)
    return parts


def check(found: list[str]) -> None:
    """Fail if a statement has looked into more than one partition of a table that is divided by user."""
    assert found, "the server explained nothing"
    for plan in found:
        for table, parts in touched(plan).items():
            assert table in DIVIDED
            assert len(parts) <= BY_ANOTHER_KEY.get(table, 1), plan


def test_the_stores_verbs_about_one_user(store: PostgresStore) -> None:
    """Adding, reading, searching, changing, linking and deleting what one user has look into one partition each."""
    image = ImageContent(b"png", ImageMimeType.PNG, "a cat", id="i")
    mine: dict[str, Any] = {"user_id": "u7", "exact_user_match": True}
    with plans(store) as found:
        store.add(
            ["likes tea", "likes jazz"],
            "fact",
            record_ids=["a", "b"],
            user_ids="u7",
            index_texts=["tea", "jazz"],
            metadata={"rare": 1},
        )
        store.add([[TextContent("look"), image]], "message", record_ids="m", user_ids="u7", thread_ids="t7")
        store.add(["tidy"], "user_profile", record_ids="u7")
        assert store.get("fact", "a") is not None
        assert store.get("message", "m", include_bytes=True) is not None
        assert len(store.list("message", user_id="u7", limit=3)) == 3
        assert len(store.list("message", thread_id="t7")) == 6
        assert len(store.list("fact", user_id="u7", metadata_filter={"rare": 1})) == 2
        assert len(store.list_thread_messages("t7", include_bytes=True)) == 6
        assert len(store.list_thread_messages("t7", last_n=2)) == 2
        for options in ({}, {"metadata_filter": {"rare": 1}}, {"thread_id": "t7"}):
            assert store.search("likes tea", 3, **mine, **options)
        assert store.search("says", 3, thread_id="t7", exact_thread_match=True)
        store.add_relations("a", "fact", "b", "fact", "supersedes", relation_ids="l")
        assert store.search("likes tea", 3, num_hops=2, **mine)
        assert len(store.list_relations(source_record_id="a")) == 1
        assert len(store.list_relations(target_record_id="b", relation_id="l")) == 1
        store.update_relations("l", metadata={"k": 1})
        store.update("fact", "a", content="likes green tea", metadata={"rare": 2})
        store.update("fact", "b", status=RecordStatus.INVALID)
        store.update("message", "m", ttl_days=3)
        store.delete_relations("l")
        store.delete("fact", "b")
        store.delete("message", "m")
        store.delete("thread", "t7", cascade=True)
        store.erase_user("u7")
    check(found)
    kinds = {table for plan in found for table in touched(plan)}
    assert kinds >= {"records", "entries", "vectors", "links", "ids", "chunk_texts", "images", "thread_users"}


def test_the_clients_verbs_about_one_user(store: PostgresStore) -> None:
    """A conversation of one user, its search and its deletion look into one partition of each table."""
    with AgentMemory(store=store) as memory, plans(store) as found:
        thread = memory.create_thread(thread_id="talk", user_id="u9")
        thread.add_messages(
            [{"role": "user", "content": "I play the cello"}, {"role": "assistant", "content": "How nice"}]
        )
        memory.add_memory("u9 plays the cello", memory_type="fact", user_id="u9")
        assert memory.search("cello", user_id="u9")
        assert len(thread.get_messages()) == 2
        memory.delete_thread("talk")
    check(found)


def test_a_call_about_everybody_looks_everywhere(store: PostgresStore) -> None:
    """A list of no user's is shown to look into all partitions, so that the tests above see what they should."""
    with plans(store) as found:
        store.list("message", limit=1000)
    assert any(len(touched(plan).get("records", ())) == PARTITIONS for plan in found)


def test_links_between_users_are_found_from_both_ends(store: PostgresStore) -> None:
    """A link to another user's memory is listed, followed and deleted from either end."""
    store.add(["red tea", "blue tea"], "fact", record_ids=["x", "y"], user_ids=["u1", "u2"])
    store.add_relations("x", "fact", "y", "fact", "supersedes", relation_ids="across")
    assert [link.id for link in store.list_relations(target_record_id="y")] == ["across"]
    assert [link.id for link in store.list_relations(source_record_id="x")] == ["across"]
    found = store.get("fact", "y")
    assert found is not None
    assert found.status.value == "invalid"
    ((record, _),) = store.search("blue tea", 1, user_id="u2", num_hops=1, include_invalid_results=True)
    assert [linked.id for _, linked in record.linked_results] == ["x"]
    store.delete("fact", "y")
    assert store.list_relations(source_record_id="x") == []
    with store._read() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM link_targets").scalar() == 0


def test_every_divided_table_has_its_users_number_first(store: PostgresStore) -> None:
    """The primary key of each begins with what it is divided by, as distribution over machines wants it."""
    with store._read() as conn:
        for table in DIVIDED:
            key = conn.exec_driver_sql(
                "SELECT pg_get_partkeydef(i.indrelid), pg_get_indexdef(i.indexrelid) FROM pg_index i "
                f"WHERE i.indrelid = '{table}'::regclass AND i.indisprimary"
            ).one()
            by = key[0].removeprefix("HASH (").removesuffix(")")
            assert key[1].split("(")[1].split(",")[0] == by, key
