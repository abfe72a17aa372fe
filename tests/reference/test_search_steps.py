"""Configuration, reranking, pruning and budgets behave as recorded, except where the recorded behaviour fails."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable
from math import ceil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.reference.recorded import decode

from hitherto.errors import HithertoError
from hitherto.messages import TextContent
from hitherto.notset import NOT_SET
from hitherto.records import FactRecord, MemoryRecord, MessageRecord, Record
from hitherto.scope import SearchScope, resolve_for_client
from hitherto.search.budget import estimate_tokens
from hitherto.search.config import (
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
    TopKMemorySearchConfig,
)
from hitherto.search.pipeline import search
from hitherto.search.prune import MAX_CALLS_AT_ONCE, probe_windows
from hitherto.search.result import SearchResult
from hitherto.testing.scripted import ScriptedLLM, ScriptedReranker

CLASSES = {
    cls.__name__: cls for cls in (MemorySearchConfig, TopKMemorySearchConfig, PruningMemorySearchConfig)
}
WRONG = (HithertoError, TypeError, ValueError)


def load(reference_data: Path, name: str) -> Any:
    """Return a file of recorded behaviour."""
    return json.loads((reference_data / "vectors" / "search" / f"{name}.json").read_text(encoding="utf-8"))


class FixedStore:
    """Returns records in a fixed order and remembers how many it was asked for."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.found = [(record, (place + 1) / 100) for place, record in enumerate(records)]
        self.asked: list[int] = []

    def search(self, query: str, k: int, **options: Any) -> list[tuple[Record, float]]:
        """Return the first k records."""
        self.asked.append(k)
        return self.found[:k]


def documents(count: int) -> list[Record]:
    """Return so many memories, named and numbered as in the recording."""
    return [MemoryRecord(f"m{place:03d}", content=f"doc {place}") for place in range(count)]


def ask(store: FixedStore, config: MemorySearchConfig, **options: Any) -> list[SearchResult]:
    """Search a fixed store."""
    scope = resolve_for_client(SearchScope(user_id="u"))
    return search(store, "my query", scope, config, **options)  # type: ignore[arg-type]


def reversing() -> ScriptedReranker:
    """Return a reranker that prefers what comes later."""
    places: dict[str, int] = {}
    return ScriptedReranker(lambda _, document: float(places.setdefault(document, len(places))))


def judge(discarded: Callable[[str], bool]) -> ScriptedLLM:
    """Return a judge that discards some documents."""

    def reply(messages: Any) -> str:
        text = re.search(r"<document>(.*)</document>", messages[-1]["content"], re.DOTALL)
        assert text is not None
        return json.dumps({"decision": "discard" if discarded(text[1]) else "keep"})

    return ScriptedLLM(reply)


def argument(value: Any) -> Any:
    """Return a recorded constructor argument as a value."""
    named = {
        "<FakeReranker>": reversing(),
        "<FakeLlm>": judge(lambda _: False),
        "<object>": object(),
        "<ABCMeta>": type(reversing()),
    }
    if isinstance(value, str):
        if value in named:
            return named[value]
        if match := re.fullmatch(r"<PruningEvaluationMode\.(\w+)>", value):
            return PruningEvaluationMode[match[1]]
    return decode(value)


def test_configurations_accept_and_refuse_what_was_recorded(reference_data: Path) -> None:
    """Every constructor call is accepted, warned about or refused with the same kind of error."""
    cases = load(reference_data, "search_config_reranker")["construction"]
    for case in cases:
        given = {name: argument(value) for name, value in case["args"].items()}
        wanted = case["construct"]
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            if "ok" in wanted:
                CLASSES[case["class"]](**given)
            else:
                kind = {"TypeError": TypeError, "ValueError": ValueError}[wanted["error"]]
                with pytest.raises(kind):
                    CLASSES[case["class"]](**given)
        assert bool(raised) == bool(wanted.get("warnings")), case
    assert len(cases) == 88


def test_configurations_take_positional_arguments_in_the_recorded_order() -> None:
    """The order of fields is part of the interface; configurations are equal by value and not hashable."""
    reranker, pruner = reversing(), judge(lambda _: False)
    best = TopKMemorySearchConfig(1000, 500, reranker, 7, 5)
    assert (best.token_budget, best.soft_token_budget, best.reranker) == (1000, 500, reranker)
    assert (best.reranker_max_candidates, best.max_results) == (7, 5)
    pruning = PruningMemorySearchConfig(
        1000, 500, reranker, 7, PruningEvaluationMode.FAST, 3, 0.2, pruner=pruner
    )
    assert (pruning.num_probe_points, pruning.protected_fraction) == (3, 0.2)
    assert TopKMemorySearchConfig(max_results=3) == TopKMemorySearchConfig(max_results=3)
    with pytest.raises(TypeError):
        hash(best)


def test_the_number_of_results_is_found_as_recorded(reference_data: Path) -> None:
    """The call's number wins over the configuration's, which wins over ten; a store that returns more is cut."""
    for case in load(reference_data, "search_config_reranker")["max_results"]:
        config: MemorySearchConfig = TopKMemorySearchConfig(
            max_results=decode(case.get("config_max_results", "<NOT_SET>"))
        )
        if case.get("config") == "MemorySearchConfig":
            config = MemorySearchConfig()
        elif case.get("config") == "Pruning":
            config = PruningMemorySearchConfig(pruner=judge(lambda _: False))
        store = FixedStore(documents(1000))
        found = ask(store, config, max_results=decode(case["call_max_results"]))
        assert store.asked == [case["store_k"]], case
        assert len(found) == case["returned"]["ok"], case


ANSWERS: dict[str, Any] = {
    "missing index": [(0, 1.0), (1, 0.5)],
    "duplicate index": [(0, 1.0), (0, 0.5), (1, 0.2)],
    "out of range": [(0, 1.0), (1, 0.5), (3, 0.2)],
    "negative index": [(0, 1.0), (1, 0.5), (-1, 0.2)],
    "extra": [(0, 1.0), (1, 0.5), (2, 0.2), (3, 0.1)],
    "index str": [(0, 1.0), (1, 0.5), ("2", 0.2)],
    "index float": [(0, 1.0), (1, 0.5), (2.0, 0.2)],
    "index bool": [(False, 1.0), (True, 0.5)],
    "nan score": [(0, float("nan")), (1, 0.5), (2, 0.2)],
    "inf score": [(0, float("inf")), (1, 0.5), (2, 0.2)],
    "None score": [(0, None), (1, 0.5), (2, 0.2)],
    "str score": [(0, "0.9"), (1, "0.5"), (2, "0.2")],
    "int score": [(0, 1), (1, 2), (2, 3)],
    "bool score": [(0, True), (1, 0.5), (2, 0.2)],
    "not sorted descending": [(0, 0.1), (1, 0.9), (2, 0.5)],
    "ties": [(3, 0.5), (2, 0.5), (1, 0.5), (0, 0.5)],
    "negative scores": [(0, -2.0), (1, -3.0), (2, -1.0)],
    "results tuple": ((0, 0.9), (1, 0.5), (2, 0.2)),
}


class Answering:
    """A reranker with a fixed answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def rerank(self, query: str, documents: list[str], **options: Any) -> Any:
        """Return the answer."""
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def answering(case: str) -> Answering:
    """Return the reranker of a recorded case about answers."""
    special = {"returns None": None, "returns list": [], "raises": RuntimeError("boom")}
    if case in special:
        return Answering(special[case])
    pairs = ANSWERS[case]
    made = [SimpleNamespace(index=index, relevance_score=score) for index, score in pairs]
    return Answering(SimpleNamespace(results=type(pairs)(made)))


def test_reranking_gives_the_recorded_order(reference_data: Path) -> None:
    """Prefixes, ties and unsorted answers are ordered as recorded; broken answers are errors."""
    for case in load(reference_data, "search_config_reranker")["reranker"]:
        name = case["case"]
        fixed = name in ANSWERS or name.startswith(("returns", "raises"))
        reranker: Any = answering(name) if fixed else reversing()
        config = TopKMemorySearchConfig(reranker=reranker, **case["config"])
        store = FixedStore(documents(case["candidates_from_store"]))
        if name == "max_candidates larger than k":
            continue  # here more are retrieved: the next test
        if "error" in case["result"]:
            with pytest.raises((*WRONG, RuntimeError)):
                ask(store, config, max_results=case["call_max_results"])
            continue
        found = ask(store, config, max_results=case["call_max_results"])
        assert [[result.id, result.distance] for result in found] == case["result"]["ok"], name
        if not fixed:
            sent = [len(texts) for _, texts in reranker.requests]
            assert sent == [call["n_documents"] for call in case["reranker_calls"]], name


def test_more_candidates_than_results_are_retrieved_for_the_reranker() -> None:
    """With 20 candidates for 5 results the reranker sees 20, where the recording only reorders the 5."""
    store = FixedStore(documents(30))
    reranker = reversing()
    config = TopKMemorySearchConfig(reranker=reranker, reranker_max_candidates=20)
    found = ask(store, config, max_results=5)
    assert store.asked == [20]
    assert len(reranker.requests[0][1]) == 20
    assert [result.id for result in found] == ["m019", "m018", "m017", "m016", "m015"]


def test_documents_without_text_are_not_sent_to_the_reranker(reference_data: Path) -> None:
    """They come behind the others of the prefix, in their order."""
    for case in load(reference_data, "search_config_reranker")["blank_documents"]:
        records = [MemoryRecord(f"m{n}", content=text) for n, text in enumerate(case["contents"])]
        for options, wanted in (({}, case), ({"reranker_max_candidates": 2}, case["max_candidates_2"])):
            reranker = reversing()
            found = ask(FixedStore(records), TopKMemorySearchConfig(reranker=reranker, **options))
            assert [result.id for result in found] == wanted["order"]["ok"], case
            assert [texts for _, texts in reranker.requests] == wanted["documents_sent"], case


def test_documents_are_sent_as_recorded_and_structured_ones_too(reference_data: Path) -> None:
    """Reranker and pruner get the plain text; where the recording fails on structured content, ours works."""
    cases = {
        case["record"]: case for case in load(reference_data, "search_config_reranker")["documents_sent"]
    }
    records: dict[str, Record] = {
        "memory": MemoryRecord("a", content=cases["memory"]["rerank_document"]),
        "memory None": MemoryRecord("a", content=None),
    }
    for name, record in records.items():
        pruner = judge(lambda _: False)
        config = PruningMemorySearchConfig(
            pruner=pruner, evaluation_mode=PruningEvaluationMode.EXHAUSTIVE, protected_fraction=0
        )
        assert len(ask(FixedStore([record, MemoryRecord("z", content="z")]), config)) == 2
        sent = [call[-1]["content"] for call in pruner.requests]
        outer = re.compile(r"(?<=<document>)\s+|\s+(?=</document>)")  # which here is not shown to the judge
        wanted = [outer.sub("", text) for text in cases[name]["pruner_user_messages"]]
        assert [text.replace("my query", "q") for text in sent] == wanted, name
    parts = (TextContent("two"), TextContent("parts"))
    structured = MessageRecord("s", content=parts, role="user", seq_no=1)
    assert "error" in cases["message parts"]["rerank_result"]
    reranker = reversing()
    config = PruningMemorySearchConfig(pruner=judge(lambda _: False), reranker=reranker)
    assert len(ask(FixedStore([structured, MemoryRecord("z", content="z")]), config)) == 2
    assert reranker.requests[0][1] == ["two\nparts", "z"]


def test_the_estimate_of_tokens_is_the_recorded_one(reference_data: Path) -> None:
    """A rendered result costs its characters divided by 3.5, rounded half to even."""
    cases = load(reference_data, "token_budget")
    for case in cases["estimate_single"]:
        assert estimate_tokens("x" * case["formatted_chars"]) == case["min_budget"]
    assert (
        estimate_tokens("x" * cases["linked_tree_counts"]["formatted_chars"])
        == cases["linked_tree_counts"]["min_budget"]
    )


def test_budgets_cut_where_recorded(reference_data: Path) -> None:
    """Hard and soft budgets, of the configuration and of the call, keep the recorded number of results."""
    cases = load(reference_data, "token_budget")
    estimates = cases["cumulative"]["per_result_estimate"]
    assert [estimate_tokens("x" * count) for count in cases["cumulative"]["formatted_chars"]] == estimates
    records = documents(len(estimates))
    plain: Callable[[str], int] = dict(
        zip(
            (SearchResult(0.1, record).formatted_content for record in records),
            estimates,
            strict=True,
        )
    ).__getitem__
    for case in cases["soft_hard_matrix"]["cases"]:
        given = {
            name: case[name] for name in ("token_budget", "soft_token_budget") if case[name] != "<omitted>"
        }
        found = ask(FixedStore(records), MemorySearchConfig(token_counter=plain), **given)
        assert len(found) == case["kept"], case
    for case in cases["config_and_call_budgets"]["cases"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = MemorySearchConfig(**case["config"], token_counter=plain)
        assert len(ask(FixedStore(records), config, **case["call"])) == case["kept"]["ok"], case


def test_budgets_of_a_call_may_be_any_number_and_those_of_a_configuration_only_ints(
    reference_data: Path,
) -> None:
    """The recorded kinds of values are taken or refused in both places."""
    for case in load(reference_data, "token_budget")["types"]:
        name = "token_budget" if "token_budget" in case else "soft_token_budget"
        text = case[name]
        value = np.int64(40) if text.startswith("np.") else ast.literal_eval(text)
        if case["where"] == "config":
            with pytest.raises(ValueError, match=name):
                MemorySearchConfig(**{name: value})
        elif "error" in case["result"]:
            with pytest.raises(ValueError, match=name):
                ask(FixedStore(documents(8)), MemorySearchConfig(), **{name: value})
        else:
            counter = MemorySearchConfig(token_counter=lambda _: 28)
            found = ask(FixedStore(documents(8)), counter, **{name: value})
            assert len(found) == case["result"]["ok"], case


def test_a_large_result_in_the_middle_ends_the_list(reference_data: Path) -> None:
    """Nothing behind a result that does not fit is taken, though it would fit."""
    cases = load(reference_data, "token_budget")["large_result_in_the_middle"]
    sizes = iter([27, 125, 30])
    by_text: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in by_text:
            by_text[text] = next(sizes)
        return by_text[text]

    records = [FactRecord(f"m{place}", content=f"{place}") for place in range(3)]
    for record in records:
        count(SearchResult(0.1, record).formatted_content)
    for case in cases:
        found = ask(
            FixedStore(records), MemorySearchConfig(token_counter=count), token_budget=case["token_budget"]
        )
        assert [result.id for result in found] == case["kept"], case


def prune_case(case: dict[str, Any], mode: PruningEvaluationMode) -> tuple[list[int], int]:
    """Return the places that pruning keeps in a recorded case, and how many judgements it took."""
    discarded = {f"doc {place}" for place in case["discard_ranks"]}
    pruner = judge(discarded.__contains__)
    options = (
        {}
        if mode is PruningEvaluationMode.EXHAUSTIVE
        else {"num_probe_points": case.get("num_probe_points", NOT_SET)}
    )
    config = PruningMemorySearchConfig(
        pruner=pruner, evaluation_mode=mode, protected_fraction=case["protected_fraction"], **options
    )
    found = ask(FixedStore(documents(case["n"])), config, max_results=case["n"])
    return [int(result.id[1:]) for result in found], len(pruner.requests)


def test_extended_pruning_keeps_what_was_recorded_and_what_nobody_judged(reference_data: Path) -> None:
    """Judged results fare as recorded; beyond that ours keeps only what no judgement covers."""
    for case in load(reference_data, "pruning")["extended_random"]:
        kept, _ = prune_case(case, PruningEvaluationMode.EXTENDED)
        assert set(case["kept"]) <= set(kept), case
        extra = set(kept) - set(case["kept"])
        assert not extra & set(judged_places(case)) & set(case["discard_ranks"]), case


def judged_places(case: dict[str, Any]) -> list[int]:
    """Return the places that the probes of a recorded case judge."""
    first = ceil(case["n"] * case["protected_fraction"])
    windows = probe_windows(first, case["n"], case["num_probe_points"])
    return sorted({place for window in windows for place in window})


def test_fast_pruning_never_drops_more_than_was_judged(reference_data: Path) -> None:
    """Of the recorded cases: protected results stay, only discarded or enclosed ones go, and no call is made twice."""
    for case in load(reference_data, "pruning")["fast_replies_all_at_once"]:
        kept, calls = prune_case(case, PruningEvaluationMode.FAST)
        gone = set(range(case["n"])) - set(kept)
        assert not gone & set(range(ceil(case["n"] * case["protected_fraction"]))), case
        enclosed = [place for place in gone if place not in case["discard_ranks"]]
        discarded = gone & set(case["discard_ranks"])
        assert all(min(discarded) < place < max(discarded) for place in enclosed), case
        assert calls <= len(set(judged_places(case))) or not judged_places(case), case


def test_exhaustive_pruning_removes_exactly_the_discarded(reference_data: Path) -> None:
    """Every unprotected result that is judged "discard" goes, and nothing else."""
    for case in load(reference_data, "pruning")["extended_random"]:
        kept, calls = prune_case(case, PruningEvaluationMode.EXHAUSTIVE)
        first = ceil(case["n"] * case["protected_fraction"])
        wanted = [place for place in range(case["n"]) if place < first or place not in case["discard_ranks"]]
        assert kept == wanted, case
        assert calls == case["n"] - first


def test_only_discard_removes(reference_data: Path) -> None:
    """Of the six words one removes; other words are no answer, which the recording makes the search's error."""
    for case in load(reference_data, "pruning")["decision_values"]:
        pruner = ScriptedLLM(lambda _, word=case["decision"]: json.dumps({"decision": word}))
        config = PruningMemorySearchConfig(pruner=pruner)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            kept = [int(result.id[1:]) for result in ask(FixedStore(documents(20)), config, max_results=20)]
        if isinstance(case["kept"], list):
            assert not raised
            if case["decision"] != "discard":
                assert kept == case["kept"]
            else:
                assert set(case["kept"]) < set(kept) < set(range(20))
        else:
            assert kept == list(range(20))
            assert "judgements of the pruner failed" in str(raised[0].message)


def test_a_single_unprotected_result_is_judged_not_dropped(reference_data: Path) -> None:
    """Of two results with the defaults, the recording drops the second unseen; ours asks."""
    case = {"n": 2, "protected_fraction": 0.1, "num_probe_points": 3}
    assert prune_case({**case, "discard_ranks": []}, PruningEvaluationMode.FAST) == ([0, 1], 1)
    assert prune_case({**case, "discard_ranks": [1]}, PruningEvaluationMode.FAST) == ([0], 1)


def test_the_probes_stand_where_recorded(reference_data: Path) -> None:
    """The places that EXTENDED judges when all is discarded are the recorded ones."""
    compared = 0
    for total, fraction, probes, protected, places, _ in load(reference_data, "pruning_windows")["rows"]:
        share = 0.1 if fraction == "<NOT_SET>" else fraction
        first = ceil(total * share)
        if first != protected:
            assert (total, protected) == (1, 1), (total, fraction)  # a single result is never judged there
            continue
        windows = probe_windows(first, total, 3 if probes == "<NOT_SET>" else probes)
        assert sorted({place for window in windows for place in window}) == places, (total, fraction, probes)
        compared += 1
    assert compared > 500


def test_judges_are_asked_as_recorded_and_not_all_at_once(reference_data: Path) -> None:
    """The conversation, the schema's meaning and the bound of 16 calls at once are those of the recording."""
    recorded = load(reference_data, "pruning")
    options: list[dict[str, Any]] = []

    class Noting(ScriptedLLM):
        def generate(self, prompt: Any, **given: Any) -> Any:
            options.append(given)
            return super().generate(prompt, **given)

    pruner = Noting(lambda _: json.dumps({"decision": "keep"}), delay_s=0.01)
    config = PruningMemorySearchConfig(pruner=pruner, evaluation_mode=PruningEvaluationMode.EXHAUSTIVE)
    ask(FixedStore(documents(3)), config)
    contract = recorded["llm_call_contract"]
    assert [item["role"] for item in pruner.requests[0]] == [item["role"] for item in contract["messages"]]
    assert options[0]["max_tokens"] == contract["kwargs"]["max_tokens"]
    wanted = contract["kwargs"]["response_json_schema"]["properties"]["decision"]["enum"]
    assert options[0]["response_json_schema"]["properties"]["decision"]["enum"] == wanted
    assert recorded["peak_concurrency"]["exhaustive_100"]["peak_concurrency"] == MAX_CALLS_AT_ONCE
