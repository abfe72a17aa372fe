"""Opening a store by its path or URL."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hitherto.errors import (
    ArgumentTypeError,
    EmbedderMismatchError,
    InvalidArgumentError,
    MissingExtraError,
    SchemaError,
)
from hitherto.models import local
from hitherto.store.opening import open_store
from hitherto.store.sqlite.store import SQLiteStore
from hitherto.testing.network import block_network
from hitherto.testing.scripted import HashEmbedder


class NoWeights:
    """Stands for the local embedder where its extra is not installed."""

    def __init__(self) -> None:
        raise MissingExtraError("install hitherto[local]")


class Installed(HashEmbedder):
    """Stands for the local embedder where it is installed."""

    def __init__(self) -> None:
        super().__init__(8, "local")


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_path_and_its_url_are_the_same_store(tmp_path: Path, form: str) -> None:
    """A path, as text or Path, and a URL with it open the same file."""
    file = tmp_path / "memory.db"
    with open_store(file, embedder=None) as store:
        store.add(["tea"], "fact", record_ids="x")
    with open_store(form.format(file), embedder=None) as store:
        assert store.get("fact", "x") is not None


def test_a_url_of_another_kind_is_refused_without_its_password() -> None:
    """Only the scheme is shown."""
    with pytest.raises(InvalidArgumentError, match="mysql://") as caught:
        open_store("mysql://ana:secret@example.org/db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "argument"), [({"target": 5}, "path"), ({"embedder": "openai"}, "embedder")]
)
def test_arguments_of_another_type_are_named(given: dict[str, Any], argument: str) -> None:
    """A number is no path, and a provider's name is no embedder."""
    with pytest.raises(ArgumentTypeError) as caught:
        open_store(**{"target": ":memory:", **given})
    assert caught.value.argument == argument


def test_without_weights_words_alone_are_searched_and_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No hosted service steps in for a missing embedder, whatever keys lie in the environment."""
    monkeypatch.setattr(local, "LocalEmbedder", NoWeights)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN", "COHERE_API_KEY"):
        monkeypatch.setenv(name, "https://192.0.2.1/v1")
    with block_network(), open_store(tmp_path / "memory.db") as store:
        assert store.embedder is None
        store.add(["Ana plays the cello"], "fact", record_ids="x")
        assert [record.id for record, _ in store.search("cello", 1)] == ["x"]


def test_an_existing_store_gets_the_embedder_of_its_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "auto" opens with the local embedder what it made, and refuses the vectors of any other by name."""
    monkeypatch.setattr(local, "LocalEmbedder", Installed)
    with open_store(tmp_path / "ours.db") as store:
        store.add(["tea"], "fact")
    with open_store(tmp_path / "ours.db") as store:
        assert isinstance(store.embedder, Installed)
    with open_store(tmp_path / "other.db", embedder=HashEmbedder(8, "other")) as store:
        store.add(["tea"], "fact")
    with pytest.raises(EmbedderMismatchError, match="other"):
        open_store(tmp_path / "other.db")
    monkeypatch.setattr(local, "LocalEmbedder", NoWeights)
    with pytest.raises(MissingExtraError):
        open_store(tmp_path / "ours.db")
    with open_store(tmp_path / "ours.db", embedder=None) as store:
        assert len(store.search("tea", 1)) == 1


@pytest.mark.parametrize(
    "options",
    [{"schema_policy": "require_existing"}, {"schema_policy": "no_check"}, {"read_only": True}],
    ids=str,
)
def test_looking_for_the_embedder_keeps_to_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """Whose vectors a file holds is asked without making or changing its schema."""
    monkeypatch.setattr(local, "LocalEmbedder", Installed)
    file = tmp_path / "app.db"
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("CREATE TABLE customers (id)")
    with pytest.raises(SchemaError):
        open_store(file, **options)
    with closing(sqlite3.connect(file)) as conn:
        assert conn.execute("SELECT name FROM sqlite_schema").fetchall() == [("customers",)]


def foreign_file(file: Path, *tables: str) -> bytes:
    """Make another program's database, and return its bytes."""
    with closing(sqlite3.connect(file)) as conn:
        for table in tables:
            conn.execute(f"CREATE TABLE {table} (id)")
        conn.commit()
    return file.read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"schema_policy": "recreate"},
        {"schema_policy": "require_existing"},
        {"schema_policy": "no_check"},
        {"read_only": True},
    ],
    ids=str,
)
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, options: dict[str, Any]) -> None:
    """Opening it is refused before a byte of it is changed, its kind of journal included."""
    file = tmp_path / "app.db"
    before = foreign_file(file, "customers", "orders")
    with pytest.raises(SchemaError, match=r"app\.db has no"):
        SQLiteStore(file, **options)
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["app.db"]


def test_a_file_is_shared_with_another_program_on_purpose(tmp_path: Path) -> None:
    """CREATE_IF_EMPTY, which the refusal names, puts our tables beside the others; from then on any policy opens it."""
    file = tmp_path / "app.db"
    foreign_file(file, "customers")
    with pytest.raises(SchemaError, match="CREATE_IF_EMPTY"):
        SQLiteStore(file)
    with SQLiteStore(file, schema_policy="create_if_empty") as store:
        store.add(["tea"], "fact", record_ids="x")
    with closing(sqlite3.connect(file)) as conn:
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with SQLiteStore(file) as store:
        assert store.get("fact", "x") is not None
    SQLiteStore(file, schema_policy="recreate").close()
    with closing(sqlite3.connect(file)) as conn:
        assert conn.execute("SELECT count(*) FROM customers").fetchone() == (0,)


@pytest.mark.parametrize("policy", ["create_if_necessary", "create_if_empty", "recreate"])
@pytest.mark.parametrize("table", ["links", "entries", "schema_version"])
def test_a_name_that_is_taken_is_named(tmp_path: Path, table: str, policy: str) -> None:
    """Another program's table by a name that is needed is neither used nor deleted, and nothing is created."""
    file = tmp_path / "app.db"
    before = foreign_file(file, table, "customers")
    with pytest.raises(SchemaError, match=f"the table '{table}' that hitherto did not make.*file of its own"):
        SQLiteStore(file, schema_policy=policy)
    assert file.read_bytes() == before


def test_a_missing_file_says_what_would_make_it(tmp_path: Path) -> None:
    """No policy makes a file that is opened for reading only."""
    with pytest.raises(SchemaError, match="once without read_only=True to create"):
        SQLiteStore(tmp_path / "absent.db", read_only=True)
    with pytest.raises(SchemaError, match="CREATE_IF_NECESSARY to create"):
        SQLiteStore(tmp_path / "absent.db", schema_policy="require_existing")
    (tmp_path / "empty.db").touch()
    with pytest.raises(SchemaError, match=r"once without read_only=True, with schema_policy=.* to create"):
        SQLiteStore(tmp_path / "empty.db", read_only=True)


def test_a_file_that_is_gone_is_said_to_be_and_does_not_come_back_empty(tmp_path: Path) -> None:
    """A new connection to a deleted or replaced file says so, instead of missing a table."""
    file = tmp_path / "memory.db"
    with SQLiteStore(file) as store:
        store._engine._idle.clear()
        file.unlink()
        with pytest.raises(SchemaError, match="was deleted while it was open"):
            store.list("fact")
        assert not file.exists()
        foreign_file(file, "customers")
        with pytest.raises(SchemaError, match="was replaced while it was open"):
            store.list("fact")
