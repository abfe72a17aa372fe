"""Embedders: asked what they are, never assumed, never mixed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hitherto.errors import EmbedderMismatchError, ModelError
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import FailingEmbedder, HashEmbedder


class EmbedderConformance(ConformanceBase):
    """Embedders and their vectors."""

    @pytest.mark.parametrize("dimension", [8, 384, 1000])
    def test_the_dimension_is_the_embedders(self, tmp_path: Path, dimension: int) -> None:
        """Any dimension works; it is asked of the embedder."""
        with self.make_store(tmp_path, embedder=HashEmbedder(dimension)) as store:
            store.add(["tea", "boat"], "fact", record_ids=["t", "b"])
            assert ids(store.search("boat", 1)) == ["b"]

    def test_a_vector_of_another_dimension_is_refused(self, store: MemoryStore) -> None:
        """Precomputed vectors must have the embedder's dimension."""
        with pytest.raises(ValueError, match="64"):
            store.add(["tea"], "fact", embeddings=[[1.0, 2.0]])
        with pytest.raises(ValueError, match="64"):
            store.search(None, 1, query_vector=[1.0, 2.0])

    def test_a_failing_embedder_stores_nothing(self, tmp_path: Path) -> None:
        """When the embedder fails, its error is raised and nothing is half stored."""
        with self.make_store(tmp_path, embedder=FailingEmbedder()) as store:
            with pytest.raises(ModelError, match="down"):
                store.add(["tea"], "fact")
            assert store.list("fact") == []

    @pytest.mark.usefixtures("kept")
    def test_another_embedder_is_refused_at_open(self, tmp_path: Path) -> None:
        """A store opened with another embedder than made its vectors names both."""
        with self.make_store(tmp_path, embedder=HashEmbedder(64, "first")) as store:
            store.add(["tea"], "fact")
        with pytest.raises(EmbedderMismatchError, match=r"first.*second"):
            self.make_store(tmp_path, embedder=HashEmbedder(64, "second"))
        with self.make_store(tmp_path, embedder=HashEmbedder(64, "first")) as store:
            assert len(store.search("tea", 1)) == 1
