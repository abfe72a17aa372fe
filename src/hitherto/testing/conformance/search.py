"""Search: by words and by meaning, filtered before the cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError
from hitherto.records import RecordStatus
from hitherto.store.base import MemoryStore, SearchStrategy
from hitherto.testing.conformance.base import ConformanceBase, ids
from hitherto.testing.scripted import HashEmbedder

TEXTS = {
    "cello": "Ana plays the cello in an orchestra",
    "train": "Bo prefers the night train to Vienna",
    "tea": "Ana drinks green tea in the morning",
    "boat": "The boat to the island leaves at noon",
}
STRANGE_QUERIES = [
    "NOT AND OR",
    '"unbalanced',
    "a* (b",
    "x:y^2 -z",
    "'; DROP TABLE records; --",
    "🙂🙂",
    "日本語のテキスト",
    "%_\\",
    "the of and",
    "?",
    "word " * 5000,
]


class SearchConformance(ConformanceBase):
    """Searching."""

    def _fill_texts(self, store: MemoryStore, **fields: Any) -> None:
        store.add(list(TEXTS.values()), "fact", record_ids=list(TEXTS), user_ids="u", **fields)

    @pytest.mark.parametrize("strategy", list(SearchStrategy))
    def test_every_strategy_finds_the_nearest_first(self, tmp_path: Path, strategy: SearchStrategy) -> None:
        """By words, by vectors and by both, the record that says it comes first, and distances grow."""
        with self.make_store(tmp_path, embedder=HashEmbedder(), search_strategy=strategy) as store:
            self._fill_texts(store)
            found = store.search("who plays the cello?", 4)
            assert found[0][0].id == "cello"
            distances = [distance for _, distance in found]
            assert distances == sorted(distances)
            assert all(distance >= 0 for distance in distances)

    def test_words_alone_without_an_embedder(self, tmp_path: Path) -> None:
        """A store without an embedder searches by words."""
        with self.make_store(tmp_path) as store:
            self._fill_texts(store)
            assert ids(store.search("night trains", 2))[:1] == ["train"]

    def test_what_is_stored_is_found_at_once(self, store: MemoryStore) -> None:
        """A record is found as soon as its add returns, under its new text as soon as its update returns."""
        self._fill_texts(store)
        store.add(["Zeppelin"], "fact", record_ids="z")
        assert ids(store.search("zeppelin", 1)) == ["z"]
        store.update("fact", "z", content="Dirigible")
        assert ids(store.search("dirigible", 1)) == ["z"]
        assert store.search("zeppelin", 1)[0][1] > store.search("dirigible", 1)[0][1]
        store.delete("fact", "z")
        assert "z" not in ids(store.search("dirigible", 9))

    def test_old_records_are_found_as_well_as_new_ones(self, store: MemoryStore) -> None:
        """No hidden cap: the first of many records is found like the last."""
        store.add([f"entry about topic{number}" for number in range(300)], "fact", user_ids="u")
        for number in (0, 150, 299):
            found: Any = store.search(f"topic{number}", 1, user_id="u", exact_user_match=True)[0][0]
            assert found.content == f"entry about topic{number}"

    def test_k_hits_whenever_k_qualify(self, store: MemoryStore) -> None:
        """Scope and types restrict the candidates before the best are taken."""
        store.add(["green tea"] * 50, "fact", user_ids="other")
        store.add(["green tea"] * 50, "message", user_ids="u", thread_ids="t", roles="user")
        store.add(["tea"] * 4, "fact", user_ids="u")
        found = store.search("green tea", 4, user_id="u", exact_user_match=True, record_types={"fact"})
        assert len(found) == 4

    def test_record_types_restrict(self, store: MemoryStore) -> None:
        """Only the types asked for are returned; threads and summaries never are."""
        store.create_thread_record("t", "u", "a", None, None)
        store.add(["tea"], "fact", record_ids="f")
        store.add(["tea"], "message", record_ids="m", thread_ids="t", roles="user")
        assert ids(store.search("tea", 9, record_types={"fact"})) == ["f"]
        assert ids(store.search("tea", 9, record_types={"thread"})) == []
        assert set(ids(store.search("tea", 9))) == {"f", "m"}

    @pytest.mark.parametrize("bad", ["fact", 5, {"rumour"}])
    def test_bad_record_types_are_refused(self, store: MemoryStore, bad: Any) -> None:
        """A bare string or an unknown type is named."""
        with pytest.raises((ArgumentTypeError, InvalidArgumentError)):
            store.search("x", 3, record_types=bad)

    def test_invalid_records_are_left_out_on_request(self, store: MemoryStore) -> None:
        """Invalid records are found unless that is switched off."""
        store.add(["tea"] * 2, "fact", record_ids=["valid", "invalid"])
        store.update("fact", "invalid", status=RecordStatus.INVALID)
        assert set(ids(store.search("tea", 9))) == {"valid", "invalid"}
        assert ids(store.search("tea", 9, include_invalid_results=False)) == ["valid"]

    @pytest.mark.parametrize("query", STRANGE_QUERIES)
    def test_any_text_is_a_legal_query(self, store: MemoryStore, query: str) -> None:
        """No query is a syntax error, however strange or long."""
        self._fill_texts(store)
        assert len(store.search(query, 3)) <= 3

    @pytest.mark.parametrize("bad", ["", "   ", 5])
    def test_blank_queries_are_refused(self, store: MemoryStore, bad: Any) -> None:
        """A query without words, or of another type, is refused."""
        with pytest.raises((ArgumentTypeError, InvalidArgumentError)):
            store.search(bad, 3)

    @pytest.mark.parametrize("bad", [0, -1, True, "3", 2.5])
    def test_bad_k_is_refused(self, store: MemoryStore, bad: Any) -> None:
        """K is a whole number from 1 on."""
        with pytest.raises((ArgumentTypeError, InvalidArgumentError)):
            store.search("x", bad)

    @pytest.mark.parametrize("bad", [-1, 6, "1"])
    def test_bad_hops_are_refused(self, store: MemoryStore, bad: Any) -> None:
        """Links are followed 0 to 5 steps."""
        with pytest.raises((ArgumentTypeError, InvalidArgumentError)):
            store.search("x", 3, num_hops=bad)

    @pytest.mark.parametrize(
        "name",
        ["exact_user_match", "exact_agent_match", "exact_thread_match", "include_invalid_results", "explain"],
    )
    def test_a_flag_is_true_or_false(self, store: MemoryStore, name: str) -> None:
        """What is no bool is refused by the flag's name: "no" is not taken for True."""
        given: dict[str, Any] = {"user_id": "u", "agent_id": "a", "thread_id": "t", name: "no"}
        with pytest.raises(ArgumentTypeError, match=name):
            store.search_hits("x", 3, **given)

    def test_scores_are_absolute(self, store: MemoryStore) -> None:
        """The best of bad hits is far away; the record that says just that is near."""
        self._fill_texts(store)
        good = store.search(TEXTS["cello"], 1)[0][1]
        bad = store.search("quarterly tax declaration cello", 1)[0][1]
        assert good < bad
        assert bad > 0.2

    def test_a_query_vector_is_searched_with(self, store: MemoryStore) -> None:
        """A vector that is known already finds what its text would find."""
        self._fill_texts(store)
        vector = HashEmbedder().embed([TEXTS["boat"]])[0]
        assert ids(store.search(None, 1, query_vector=vector)) == ["boat"]

    def test_precomputed_vectors_and_several_chunks(self, store: MemoryStore) -> None:
        """A record with several chunks is found by each of them, once."""
        vectors = HashEmbedder().embed(["harbour cranes", "opera tickets"])
        store.add(
            ["see attachments"],
            "memory",
            record_ids="two",
            index_texts=[["harbour cranes", "opera tickets"]],
            embeddings=[vectors],
        )
        self._fill_texts(store)
        for query in ("harbour cranes", "opera tickets"):
            found = ids(store.search(query, 5))
            assert found[0] == "two"
            assert found.count("two") == 1

    def test_ties_have_a_fixed_order(self, store: MemoryStore) -> None:
        """Equal records come in the order of type and id, the same every time."""
        store.add(["tea"] * 3, "fact", record_ids=["c", "a", "b"])
        store.add(["tea"], "memory", record_ids="0")
        orders = {tuple(ids(store.search("tea", 4))) for _ in range(3)}
        assert orders == {("a", "b", "c", "0")}

    def test_explanations_come_on_request(self, store: MemoryStore) -> None:
        """Hits explain themselves only where that is asked for."""
        self._fill_texts(store)
        assert store.search_hits("cello", 1)[0].explanation is None
        hit = store.search_hits("cello", 1, explain=True)[0]
        assert hit.record.id == "cello"
        assert hit.distance >= 0
