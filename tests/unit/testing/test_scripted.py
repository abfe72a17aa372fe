"""Models for tests do what they are told."""

from __future__ import annotations

import time

import numpy as np
import pytest

from hitherto.errors import ModelError
from hitherto.messages import Message
from hitherto.testing.scripted import (
    FailingEmbedder,
    HashEmbedder,
    ScriptedLLM,
    ScriptedReranker,
    SlowEmbedder,
)


def test_texts_with_common_words_are_near() -> None:
    """The share of common stems is the nearness, the same in every process; a blank text has no direction."""
    vectors = HashEmbedder().embed(["green teas", "green tea", "green boats", "night trains", ""])
    near = vectors @ vectors[0]
    assert near[1] == pytest.approx(1.0, abs=1e-6)
    assert near[1] > near[2] > near[3]
    assert not vectors[4].any()
    assert np.array_equal(
        vectors, HashEmbedder().embed(["green teas", "green tea", "green boats", "night trains", ""])
    )
    assert HashEmbedder(5).embed(["tea"]).shape == (1, 5)


def test_embedders_fail_and_take_their_time() -> None:
    """A failing one raises its error and counts; a slow one answers like the quick one, later."""
    failing = FailingEmbedder(ModelError("quota"))
    with pytest.raises(ModelError, match="quota"):
        failing.embed(["tea"])
    assert failing.calls == 1
    started = time.monotonic()
    assert np.array_equal(SlowEmbedder(0.02).embed(["tea"]), HashEmbedder().embed(["tea"]))
    assert time.monotonic() - started >= 0.02


def test_an_llm_follows_its_script() -> None:
    """Answers come in order, exceptions are raised, the end is an error, and everything asked is kept."""
    model = ScriptedLLM(["yes", ModelError("down")])
    assert model.generate([Message("user", "ready?")], response_json_schema={"type": "object"}).text == "yes"
    with pytest.raises(ModelError, match="down"):
        model.generate("again?")
    with pytest.raises(ModelError, match="at its end"):
        model.generate([{"role": "system", "content": "x"}])
    assert model.requests[:2] == [
        [{"role": "user", "content": "ready?"}],
        [{"role": "user", "content": "again?"}],
    ]
    assert model.schemas == [{"type": "object"}, None, None]
    echo = ScriptedLLM(lambda messages: str(messages[-1]["content"]).upper())
    assert echo.generate("loud").text == "LOUD"


def test_a_reranker_scores_by_its_function() -> None:
    """Documents come best first, with their own index."""
    reranker = ScriptedReranker(lambda query, document: float(len(document)))
    found = reranker.rerank("q", ["a", "ccc", "bb"]).results
    assert [(item.index, item.relevance_score) for item in found] == [(1, 3.0), (2, 2.0), (0, 1.0)]
    assert reranker.requests == [("q", ["a", "ccc", "bb"])]
