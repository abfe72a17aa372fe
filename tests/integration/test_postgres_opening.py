"""Opening a PostgreSQL store: what is created, where, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres import fresh, schema_url, server

from hitherto import AgentMemory
from hitherto.errors import (
    ArgumentTypeError,
    ClosedError,
    EmbedderMismatchError,
    InvalidArgumentError,
    SchemaError,
    StoreError,
)
from hitherto.store.opening import open_store
from hitherto.store.postgres.store import PostgresStore
from hitherto.testing.scripted import HashEmbedder


@pytest.fixture
def database() -> Iterator[str]:
    """Return the URL of a new database without the extension, with the schemas a and b."""
    uri = server().get_uri()
    with psycopg.connect(uri, autocommit=True) as conn:
        conn.execute("DROP DATABASE IF EXISTS bare WITH (FORCE)")
        conn.execute("CREATE DATABASE bare")
    url = uri.replace("/postgres?", "/bare?")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA a")
        conn.execute("CREATE SCHEMA b")
    yield url
    with psycopg.connect(uri, autocommit=True) as conn:
        conn.execute("DROP DATABASE bare WITH (FORCE)")


def test_stores_in_two_schemas_of_a_new_database(database: str) -> None:
    """The extension is created for both; neither store sees what the other has."""
    for schema in ("a", "b"):
        with PostgresStore(f"{database}&options=-csearch_path%3D{schema},public", partitions=1) as store:
            assert store.list("fact") == []
            store.add([schema], "fact", record_ids="x")
            assert store.search(schema, 1) != []


def test_an_extension_that_is_out_of_sight_is_named(database: str) -> None:
    """pgvector in a schema off the search path is an error that says which schema to add."""
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector SCHEMA a")
    with pytest.raises(SchemaError, match="schema 'a'"):
        PostgresStore(f"{database}&options=-csearch_path%3Db,public")


def test_require_existing_creates_nothing() -> None:
    """An empty schema is refused by REQUIRE_EXISTING, and nothing is there afterwards."""
    url = schema_url("untouched")
    with pytest.raises(SchemaError, match="has no hitherto schema"):
        PostgresStore(url, schema_policy="require_existing")
    with psycopg.connect(url) as conn:
        assert conn.execute("SELECT to_regclass('schema_version')").fetchone() == (None,)


@pytest.mark.parametrize("policy", ["create_if_necessary", "create_if_empty", "recreate"])
@pytest.mark.parametrize("table", ["meta", "links", "entries_p0", "schema_version"])
def test_a_name_that_is_taken_is_named(table: str, policy: str) -> None:
    """Another program's table by a name that is needed is neither used nor deleted, and nothing is created."""
    url = schema_url(f"taken_{table}")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"CREATE TABLE IF NOT EXISTS {table} (ours TEXT)")
    with pytest.raises(
        SchemaError, match=f"the table '{table}' that hitherto did not make.*CREATE SCHEMA memory"
    ):
        PostgresStore(url, schema_policy=policy, partitions=1)
    with psycopg.connect(url) as conn:
        found = conn.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        )
        assert found.fetchall() == [(table,)]
    with pytest.raises(SchemaError, match="has no hitherto schema"):
        PostgresStore(url, schema_policy="require_existing")


def test_a_schema_is_shared_with_other_tables() -> None:
    """Tables of other names in the schema are left alone, also when the store is made anew."""
    url = schema_url("shared_with_others")
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE customers (id INT)")
    for policy in ("create_if_necessary", "recreate"):
        with PostgresStore(url, schema_policy=policy, partitions=1) as store:
            store.add(["tea"], "fact")
    with psycopg.connect(url) as conn:
        assert conn.execute("SELECT count(*) FROM customers").fetchone() == (0,)


def test_recreate_begins_anew() -> None:
    """RECREATE leaves nothing of what was stored, and gives the store another id."""
    with fresh(embedder=HashEmbedder()) as store:
        store.add(["x"], "fact", user_ids="u")
        before, url = store.memory_store_id, store._url
    with PostgresStore(url, schema_policy="recreate", partitions=3) as store:
        assert store.statistics() == {"records": {}, "users": 0, "embedder": None}
        assert store.memory_store_id != before


def test_another_embedder_is_refused() -> None:
    """Vectors of another embedder than the stored ones are an error when the store is opened."""
    with fresh(embedder=HashEmbedder()) as store:
        store.add(["x"], "fact")
        with pytest.raises(EmbedderMismatchError):
            PostgresStore(store._url, embedder=HashEmbedder(12, "other"))


def test_the_client_opens_a_url() -> None:
    """AgentMemory takes the URL, and finds in the next process what this one stored."""
    url = schema_url("client")
    with AgentMemory(url, embedder=None, partitions=2) as memory:
        thread = memory.create_thread(user_id="u")
        thread.add_messages([{"role": "user", "content": "I play the cello"}])
    with AgentMemory(url, embedder=None) as memory:
        assert memory.search("cello", user_id="u")[0].content == "I play the cello"
    with (
        open_store(url, embedder=None, read_only=True) as store,
        pytest.raises(StoreError, match="reading only"),
    ):
        store.add(["x"], "fact")


def test_a_closed_store_says_so() -> None:
    """After close() every call is a ClosedError, and closing again does nothing."""
    store = fresh()
    store.close()
    store.close()
    with pytest.raises(ClosedError):
        store.list("fact")


@pytest.mark.parametrize(
    ("options", "argument", "error"),
    [
        ({"url": 5}, "url", ArgumentTypeError),
        ({"url": "mysql://ana:secret@h/d"}, "url", InvalidArgumentError),
        ({"pool_size": 0}, "pool_size", InvalidArgumentError),
        ({"partitions": "2"}, "partitions", InvalidArgumentError),
        ({"busy_timeout_s": -1}, "busy_timeout_s", InvalidArgumentError),
        ({"busy_timeout_s": float("nan")}, "busy_timeout_s", InvalidArgumentError),
        ({"search_settings": 5}, "search_settings", ArgumentTypeError),
        ({"cache_bytes": "x"}, "cache_bytes", ArgumentTypeError),
        ({"cache_bytes": -1}, "cache_bytes", InvalidArgumentError),
        ({"read_only": "no"}, "read_only", ArgumentTypeError),
        ({"check_embedder": "no"}, "check_embedder", ArgumentTypeError),
        ({"clock": 5}, "clock", ArgumentTypeError),
        ({"embedder": 5}, "embedder", ArgumentTypeError),
        ({"search_strategy": "hybrid"}, "search_strategy", ArgumentTypeError),
        ({"schema_policy": 5}, "schema_policy", ArgumentTypeError),
        ({"replica_url": 5}, "replica_url", ArgumentTypeError),
    ],
)
def test_arguments_that_are_not_allowed_are_named(
    options: dict[str, object], argument: str, error: type[Exception]
) -> None:
    """An error names the argument, and never a password."""
    with pytest.raises(error) as caught:
        PostgresStore(**{"url": "postgresql://ana:secret@localhost/d", **options})  # type: ignore[arg-type]
    assert caught.value.argument == argument  # type: ignore[attr-defined]
    assert "secret" not in str(caught.value)
