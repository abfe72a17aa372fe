"""Row-level security, tested with SQL written by hand, and roles that may only read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.postgres import fresh, server

from hitherto import AgentMemory, MemoryExtractionConfig
from hitherto.errors import ConflictError, SchemaError, StoreError
from hitherto.store.postgres.store import PostgresStore
from hitherto.testing.scripted import HashEmbedder, TaskLLM

ROLE = "hitherto_user"
TABLES = (
    "records",
    "entries",
    "vectors",
    "chunk_texts",
    "images",
    "links",
    "scopes",
    "tombstones",
    "jobs",
    "ids",
    "thread_users",
    "link_targets",
)


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    """Return a store in which two users have facts with vectors, links and deleted records."""
    with fresh(embedder=HashEmbedder()) as opened:
        for user in ("u1", "u2"):
            opened.add(
                [f"{user} likes tea", f"{user} likes jazz", "gone"],
                "fact",
                record_ids=[f"{user}-a", f"{user}-b", f"{user}-c"],
                user_ids=user,
                index_texts=[f"{user} tea", f"{user} jazz", "gone"],
            )
            opened.add_relations(f"{user}-a", "fact", f"{user}-b", "fact", "related_to")
            opened.delete("fact", f"{user}-c")
        opened.add(["shared with nobody"], "fact", record_ids="nobody")
        opened.isolate_users()
        opened.isolate_users()
        yield opened


@pytest.fixture
def login(store: PostgresStore) -> str:
    """Return the URL of a login that owns nothing and is a member of the role."""
    with psycopg.connect(server().get_uri(), autocommit=True) as conn:
        if not conn.execute("SELECT 1 FROM pg_roles WHERE rolname = 'app'").fetchone():
            conn.execute("CREATE ROLE app LOGIN")
        conn.execute(f"GRANT {ROLE} TO app")
    return store._url.replace("postgres:@", "app:@")


def all_rows(store: PostgresStore, user: str, login: str) -> dict[str, list[Any]]:
    """Return what hand-written SQL finds in every table through a user's connection."""
    with store.for_user(user, url=login) as bound, bound._read() as conn:
        return {table: conn.exec_driver_sql(f"SELECT * FROM {table}").all() for table in TABLES}


def test_hand_written_sql_finds_only_the_users_own_rows(store: PostgresStore, login: str) -> None:
    """SELECT without any condition gives one user's rows of every table, and nobody's of no user."""
    found = all_rows(store, "u1", login)
    assert {row.id for row in found["records"]} == {"u1-a", "u1-b"}
    assert [row.user_id for row in found["scopes"]] == ["u1"]
    assert len(found["entries"]) == len(found["vectors"]) == 2
    assert {row.id for row in found["ids"]} >= {"u1-a", "u1-b"}
    assert len(found["links"]) == len(found["tombstones"]) == 1
    assert "u2" not in str(found)


def test_a_session_cannot_pass_for_another_user(store: PostgresStore, login: str) -> None:
    """With the user's name set but not the seal, with the seal of oneself, or unbound, nothing is found."""
    with store.for_user("u1", url=login) as bound, bound._read() as conn:
        conn.exec_driver_sql("SELECT set_config('hitherto.user_id', 'u2', false)")
        assert conn.exec_driver_sql("SELECT count(*) FROM records").scalar() == 0
        assert conn.exec_driver_sql("SELECT count(*) FROM meta WHERE key = 'isolation_secret'").scalar() == 0
    with psycopg.connect(login) as conn:
        assert conn.execute("SELECT count(*) FROM records").fetchone() == (0,)
    with psycopg.connect(login) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT * FROM entries_p0")
    with psycopg.connect(login) as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SET ROLE postgres")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET content = 'x' WHERE id LIKE 'u2%%'",
        "DELETE FROM records WHERE id LIKE 'u2%%'",
        "DELETE FROM vectors WHERE record_no IN (1, 2, 3, 4, 5, 6) AND user_no = 2",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'x'",
    ],
)
def test_hand_written_sql_changes_no_row_of_another(store: PostgresStore, login: str, statement: str) -> None:
    """UPDATE and DELETE that name another's rows, or the store's settings, reach none."""
    with store.for_user("u1", url=login) as bound, bound._write() as conn:
        assert conn.exec_driver_sql(statement).rowcount == 0
    assert {record.id for record in store.list("fact", user_id="u2")} == {"u2-a", "u2-b"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE counters SET value = 0",
        "SELECT setval('record_no_seq', 1)",
        "ALTER SEQUENCE version_seq RESTART",
        "DROP TABLE ids",
        "TRUNCATE ids",
    ],
)
def test_a_session_cannot_set_the_counters_back(store: PostgresStore, login: str, statement: str) -> None:
    """What numbers records is out of a bound session's reach: it may take numbers, and the others go on writing."""
    with psycopg.connect(login) as conn, pytest.raises(psycopg.Error):
        conn.execute(statement)
    with store.for_user("u1", url=login) as bound, bound._write() as writing:
        writing.exec_driver_sql("SELECT nextval('record_no_seq') FROM generate_series(1, 1000)")
    store.add(["after"], "fact", user_ids="u2")
    assert store.list("fact", user_id="u2")[-1].content == "after"


def test_a_row_cannot_be_given_to_another(store: PostgresStore, login: str) -> None:
    """INSERT for another user, and UPDATE of one's own row to another's, are refused."""
    with store.for_user("u1", url=login) as bound:
        for statement in (
            "UPDATE records SET user_no = user_no + 1 WHERE id = 'u1-a'",
            "INSERT INTO entries SELECT user_no + 1, record_no, 9, version, record_type, agent_id, thread_id, valid, "
            "expires, speaker, question, tokens, dates, code FROM entries LIMIT 1",
        ):
            with pytest.raises(StoreError, match="row-level security"), bound._write() as conn:
                conn.exec_driver_sql(statement)


@pytest.mark.parametrize("by_login", [True, False])
def test_the_api_works_for_the_user(store: PostgresStore, login: str, by_login: bool) -> None:
    """Through a bound client everything works on the user's own records, and others do not exist."""
    with (
        AgentMemory(store=store) as memory,
        memory.for_user("u1", url=login if by_login else None) as mine,
    ):
        assert {result.content for result in mine.search("likes tea jazz", user_id="u1")} == {
            "u1 likes tea",
            "u1 likes jazz",
        }
        assert mine.search("likes", user_id="u2") == []
        mine.add_memory("u1 likes figs", memory_id="new", memory_type="fact", user_id="u1")
        assert store.get("fact", "new") is not None
        with pytest.raises(StoreError):
            mine.add_memory("a lie", memory_type="fact", user_id="u2")
        with pytest.raises(ConflictError):
            mine.add_memory("mine now", memory_id="u2-a", memory_type="fact", user_id="u1")


def test_a_user_who_is_new_can_begin(store: PostgresStore, login: str) -> None:
    """A user of whom nothing is stored yet stores the first record alone."""
    with store.for_user("u3", url=login) as bound:
        bound.add(["hello"], "fact", record_ids="n", user_ids="u3")
        assert bound.get("fact", "n") is not None
        assert bound.statistics()["records"] == {"fact": 1}


def test_vectors_of_an_unknown_model_are_gone_on_with() -> None:
    """A session that may not say what made the first vectors adds others like them; the owner then says it."""
    embedder = HashEmbedder()
    with fresh() as plain:
        plain.add(["tea"], "fact", user_ids="u1", embeddings=[[1.0] * embedder.embedding_dimension])
        plain.isolate_users()
        with PostgresStore(plain._url, embedder=embedder) as named:
            with named.for_user("u2") as bound:
                bound.add(["jazz"], "fact", user_ids="u2")
            assert named.stored_fingerprint == plain.stored_fingerprint
            named.add(["rain"], "fact", user_ids="u3")
            assert named.stored_fingerprint == embedder.fingerprint


def test_isolation_must_have_been_set_up() -> None:
    """for_user() of a store that never isolated users says what to call; SQLite says that it cannot."""
    with fresh() as plain, pytest.raises(SchemaError, match="isolate_users"):
        plain.for_user("u1")
    with (
        AgentMemory(":memory:", embedder=None) as memory,
        pytest.raises(StoreError, match="only PostgreSQL"),
    ):
        memory.for_user("u1")


def test_a_role_that_may_only_read_searches() -> None:
    """With SELECT alone a store opens by REQUIRE_EXISTING and searches; a write is refused."""
    with fresh(embedder=HashEmbedder()) as store:
        store.add(["tea"], "fact", record_ids="f", user_ids="u")
        with psycopg.connect(store._url, autocommit=True) as conn:
            if not conn.execute("SELECT 1 FROM pg_roles WHERE rolname = 'reader'").fetchone():
                conn.execute("CREATE ROLE reader LOGIN")
            schema = conn.execute("SELECT current_schema()").fetchone()
            assert schema is not None
            conn.execute(f"GRANT USAGE ON SCHEMA {schema[0]} TO reader")
            conn.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema[0]} TO reader")
        url = store._url.replace("postgres:@", "reader:@")
        with PostgresStore(url, embedder=HashEmbedder(), schema_policy="require_existing") as reader:
            assert [record.id for record, _ in reader.search("tea", 1, user_id="u")] == ["f"]
            with pytest.raises(StoreError, match="may not be changed"):
                reader.add(["no"], "fact", user_ids="u")


def test_a_bound_client_learns_for_its_user_alone(store: PostgresStore) -> None:
    """Extraction of a bound client stores memories and jobs of its user; another's jobs are not seen."""
    model = TaskLLM(extract={"memories": [{"text": "u1 sails", "record_type": "fact"}]})
    config = MemoryExtractionConfig(enable_context_summary=False)
    with AgentMemory(store=store, llm=model, memory_extraction_config=config) as memory:
        later = MemoryExtractionConfig(memory_extraction_frequency=9, enable_context_summary=False)
        other = memory.create_thread(user_id="u2", memory_extraction_config=later)
        other.add_messages([{"role": "user", "content": "of u2"}])
        with memory.for_user("u1") as bound:
            thread = bound.create_thread(user_id="u1")
            thread.add_messages([{"role": "user", "content": "I sail"}])
            bound.wait_for_memory_extraction(timeout=60)
            assert "u1 sails" in [one.content for one in bound.list_memories("u1")]
            assert [job.user_id for job in bound.list_extractions()] == []
            assert bound.list_memories("u2") == []
        assert [one.content for one in memory.list_memories("u2")] == ["u2 likes tea", "u2 likes jazz"]
