"""Opening a store by its path or URL."""

from __future__ import annotations

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
