"""Text: what can be stored, and what is refused before anything is."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import InvalidArgumentError
from hitherto.messages import TextContent
from hitherto.store.base import MemoryStore
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import HashEmbedder

GOOD = [
    "",
    "🙂👩‍👩‍👧",
    "line\nbreak\ttab\r",
    "e\u0301",
    "日本語",
    "x" * 100_000,
    "\u200b\ufeff\ufffd",
    "<b>&amp;</b>",
]


class TextConformance(ConformanceBase):
    """Texts and metadata."""

    @pytest.mark.parametrize("text", GOOD, ids=lambda text: repr(text[:12]))
    def test_texts_round_trip(self, store: MemoryStore, text: str) -> None:
        """A text comes back to the character, in messages and in metadata."""
        store.add([text], "message", record_ids="m", thread_ids="t", roles="user", metadata={"k": text})
        found = store.get("message", "m")
        assert found is not None
        assert (found.content, found.metadata) == (text, {"k": text})

    @pytest.mark.parametrize("bad", ["nul\0", "\ud800", "x\udfff"])
    def test_unstorable_text_is_refused_before_anything_is_written(
        self, store: MemoryStore, bad: str
    ) -> None:
        """NUL and lone surrogates are one clear error wherever they stand, and nothing is stored."""
        wrong: list[dict[str, Any]] = [
            {"contents": ["fine", bad]},
            {"contents": [(TextContent(bad),)], "record_type": "message", "thread_ids": "t"},
            {"contents": ["fine"], "metadata": {"k": bad}},
            {"contents": ["fine"], "metadata": {bad: 1}},
            {"contents": ["fine"], "timestamps": bad},
            {"contents": ["fine"], "index_texts": [bad]},
        ]
        for arguments in wrong:
            with pytest.raises(InvalidArgumentError):
                store.add(**{"record_type": "fact", **arguments})
        assert store.list("fact") == []
        assert store.list("message") == []

    @pytest.mark.parametrize("bad", [{"k": float("nan")}, {"k": object()}, {1: "x"}, [1], "text"])
    def test_metadata_must_be_json(self, store: MemoryStore, bad: Any) -> None:
        """Metadata are a JSON object; anything else is refused."""
        with pytest.raises((TypeError, ValueError)):
            store.add(["fine"], "fact", metadata=bad)
        assert store.list("fact") == []

    def test_tags_with_separators_round_trip_and_filter(self, store: MemoryStore) -> None:
        """Commas, pipes, quotes and brackets in values are nothing special."""
        tags = ["a,b", "c|d", "e'f", 'g"h', "[i]", "j\\k", "{l}"]
        store.add(["words"], "fact", record_ids="x", metadata={"tags": tags})
        for tag in tags:
            assert ids(store.list("fact", metadata_filter={"tags": {"$array_contains": tag}})) == ["x"]
        assert store.list("fact", metadata_filter={"tags": {"$array_contains": "a"}}) == []

    def test_blank_text_reaches_no_model(self, store: MemoryStore) -> None:
        """A blank query or memory is refused before the embedder is asked."""
        embedder: Any = store.embedder
        assert isinstance(embedder, HashEmbedder)
        calls = embedder.calls
        with pytest.raises(InvalidArgumentError):
            store.search("  ", 3)
        assert embedder.calls == calls
