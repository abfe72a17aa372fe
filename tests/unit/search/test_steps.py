"""The steps after retrieval: reranking, pruning, budgets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitherto import AgentMemory, Message, PruningMemorySearchConfig, TopKMemorySearchConfig
from hitherto.errors import ArgumentTypeError, ModelError, ModelOutputError
from hitherto.search.config import PruningEvaluationMode, config_from_payload
from hitherto.search.prune import probe_windows, removed_places
from hitherto.testing.scripted import ScriptedLLM, ScriptedReranker


@pytest.fixture
def memory() -> AgentMemory:
    """Return a client with ten facts and a structured message of one user."""
    client = AgentMemory(":memory:", embedder=None)
    for number in range(10):
        client.add_memory(f"tea number {number}", memory_type="fact", memory_id=f"f{number}", user_id="u")
    client.create_thread(thread_id="t", user_id="u").add_messages(
        [{"role": "user", "content": [{"type": "text", "text": "tea"}, {"type": "text", "text": "cake"}]}]
    )
    return client


def decision(word: str) -> str:
    """Return a judge's reply."""
    return json.dumps({"decision": word})


def test_a_reranker_brings_in_what_retrieval_cut(memory: AgentMemory) -> None:
    """With more candidates than results wanted, the reranker's favourite comes first wherever it was."""
    favourite = ScriptedReranker(lambda _, document: float("cake" in document))
    config = TopKMemorySearchConfig(reranker=favourite, reranker_max_candidates=11, max_results=2)
    found = memory.search("tea number", user_id="u", search_config=config, explain=True)
    assert found[0].content == "tea\ncake"
    assert len(found) == 2
    assert found[0].explanation is not None
    assert found[0].explanation.reranker_score == 1.0
    assert len(favourite.requests[0][1]) == 11


def test_a_failing_reranker_raises_or_keeps(memory: AgentMemory) -> None:
    """By default its error is raised; on request the retrieved order is kept, with a warning."""

    def fail(query: str, document: str) -> float:
        raise ModelError("down")

    broken = TopKMemorySearchConfig(reranker=ScriptedReranker(fail))
    with pytest.raises(ModelError, match="down"):
        memory.search("tea", user_id="u", search_config=broken)
    for score in (float("nan"), 10**400):
        no_score = TopKMemorySearchConfig(reranker=ScriptedReranker(lambda *_, score=score: score))
        with pytest.raises(ModelOutputError, match="finite scores"):
            memory.search("tea", user_id="u", search_config=no_score)
    kept = TopKMemorySearchConfig(reranker=ScriptedReranker(fail), reranker_on_error="keep")
    plain = [item.id for item in memory.search("tea", user_id="u")]
    with pytest.warns(RuntimeWarning, match="down"):
        assert [item.id for item in memory.search("tea", user_id="u", search_config=kept)] == plain


@pytest.mark.parametrize("mode", list(PruningEvaluationMode))
def test_pruning_removes_what_is_discarded_behind_the_protected(
    memory: AgentMemory, mode: PruningEvaluationMode
) -> None:
    """When all is judged useless, only the protected best stays, in every mode."""
    config = PruningMemorySearchConfig(
        pruner=ScriptedLLM(lambda _: decision("discard")), evaluation_mode=mode
    )
    found = memory.search("tea number", user_id="u", search_config=config)
    plain = memory.search("tea number", user_id="u")
    assert found[0].id == plain[0].id
    assert len(found) < len(plain)
    if mode is PruningEvaluationMode.EXHAUSTIVE:
        assert len(found) == 1


def test_a_failed_judgement_keeps_its_result_and_is_reported(memory: AgentMemory) -> None:
    """Malformed replies and failures of the pruner remove nothing, and a warning says so."""
    config = PruningMemorySearchConfig(
        pruner=ScriptedLLM(["no json", ModelError("down"), "```\n{}\n```"] * 4),
        evaluation_mode=PruningEvaluationMode.EXHAUSTIVE,
    )
    with pytest.warns(RuntimeWarning, match="judgements"):
        found = memory.search("tea number", user_id="u", search_config=config)
    assert len(found) == 10


def test_nothing_is_removed_that_no_judgement_covers() -> None:
    """Between two discards an unjudged result goes; beside a kept one, or at an open end, it stays."""
    assert probe_windows(1, 2, 3) == []
    assert removed_places(1, 6, 1, {3: "discard", 5: "discard"}) == {3, 4, 5}
    assert removed_places(1, 6, 1, {3: "discard", 5: "keep"}) == {3}
    assert removed_places(1, 6, 1, {}) == set()


def test_budgets_cut_where_they_are_reached(memory: AgentMemory) -> None:
    """A hard budget stops before, a soft one after the result that reaches it; a call overrides the configuration."""
    one = memory.search("tea number", user_id="u", soft_token_budget=1)
    assert len(one) == 1
    assert memory.search("tea number", user_id="u", token_budget=1) == []
    counted = TopKMemorySearchConfig(token_budget=1000, token_counter=lambda _: 400)
    assert len(memory.search("tea number", user_id="u", search_config=counted)) == 2
    assert len(memory.search("tea number", user_id="u", search_config=counted, token_budget=None)) == 10


@pytest.mark.parametrize("count", [float("nan"), "400", None, -1])
def test_a_token_counter_that_counts_nothing_is_named(memory: AgentMemory, count: object) -> None:
    """A counter whose answer is no number of tokens is an error, and never a budget that is not kept."""
    counted = TopKMemorySearchConfig(token_budget=1000, token_counter=lambda _: count)  # type: ignore[arg-type, return-value]  # the point
    with pytest.raises(ArgumentTypeError, match="token_counter must return a number of tokens"):
        memory.search("tea number", user_id="u", search_config=counted)


def test_a_thread_stored_with_pruning_opens_without_a_pruner(memory: AgentMemory) -> None:
    """Without the model the thread opens, falls back to the best k, and says so."""
    config = PruningMemorySearchConfig(pruner=ScriptedLLM([]), protected_fraction=0.5)
    memory.create_thread(thread_id="p", user_id="u", search_config=config).add_messages(
        [Message("user", "tea")]
    )
    with pytest.warns(RuntimeWarning, match="pruner"):
        thread = memory.get_thread("p")
    assert thread.search("tea") != []
    with_model = config_from_payload(config.to_payload(), config)
    assert isinstance(with_model, PruningMemorySearchConfig)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"max_results": 0}, ValueError),
        ({"max_results": 1001}, ValueError),
        ({"max_results": True}, ValueError),
        ({"token_budget": "5"}, ValueError),
        ({"reranker": "x"}, TypeError),
        ({"reranker_blend": 2}, ValueError),
        ({"reranker_on_error": "ignore"}, ValueError),
    ],
)
def test_configurations_are_checked_when_made(fields: dict[str, Any], error: type[Exception]) -> None:
    """A wrong field is named at once."""
    with pytest.raises(error, match=next(iter(fields))):
        TopKMemorySearchConfig(**fields)


def test_a_blended_reranker_moves_only_what_is_close(memory: AgentMemory) -> None:
    """With a small share it decides between neighbours; its own order is another."""
    favourite = ScriptedReranker(lambda _, document: float("cake" in document))
    order = {}
    for blend in (0.0, 0.05, 1.0):
        config = TopKMemorySearchConfig(reranker=favourite, reranker_blend=blend, max_results=11)
        order[blend] = [
            item.content for item in memory.search("tea number", user_id="u", search_config=config)
        ]
    assert order[0.0] == [item.content for item in memory.search("tea number", user_id="u", max_results=11)]
    assert order[1.0][0] == "tea\ncake"
    assert order[0.05].index("tea\ncake") > 0


def test_a_reranker_may_see_who_spoke(memory: AgentMemory) -> None:
    """On request a message comes with its speaker, a memory as it is."""
    seen = ScriptedReranker(lambda *_: 0.0)
    config = TopKMemorySearchConfig(reranker=seen, reranker_shows_speaker=True, max_results=11)
    memory.search("tea", user_id="u", search_config=config)
    texts = seen.requests[0][1]
    assert "user: tea\ncake" in texts
    assert "tea number 0" in texts
    with pytest.raises(ValueError, match="reranker_shows_speaker"):
        TopKMemorySearchConfig(reranker_shows_speaker="yes")  # type: ignore[arg-type]
