"""Scores, digit by digit."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.dsl.searching import search

from hitherto.server.dsl import tree
from hitherto.server.dsl.body import parse_search
from hitherto.server.dsl.fields import MEMORIES, MESSAGES
from hitherto.server.dsl.run import terms_of
from hitherto.server.dsl.scoring import LENGTHS, MAX_FLOAT, Profile, f32, idf, length_code, shortest

from tests.server.dsl.searching import NOW  # isort: skip

QUESTION = {
    "1": {"memory_id": "m", "input": "How do I make an interaction?"},
    "2": {"memory_id": "m", "response": "So."},
}
NAMES = {
    str(length): {"name": " ".join(["conversation", *"abcdefgh"[: length - 1]]), "user": "u"}
    for length in (4, 5, 6)
}
ALL: dict[str, Any] = {"match_all": {}}
FIRST = {"ids": {"values": ["1"]}}
OTHERS = {f"unnamed {number}": {"user": "u"} for number in range(3)}


def _scores(sources: dict[str, Any], query: dict[str, Any], **how: Any) -> dict[str, float]:
    return {hit["_id"]: hit["_score"] for hit in search(sources, {"query": query}, **how).hits}


@pytest.mark.parametrize(("profile", "score"), [("2.x", 0.47000366), ("3.x", 1.1307646)])
def test_message_sample_of_the_documentation(profile: Profile, score: float) -> None:
    """The documentation's search for messages scores to the last digit."""
    scope = tree.Term("memory_id", "m")
    scores = _scores(QUESTION, {"match": {"input": "interaction"}}, scope=scope, profile=profile)
    assert scores == {"1": score}


def test_memory_sample_of_the_documentation() -> None:
    """The documentation's search for memories scores to the last digit: three names of 4, 5 and 6 words."""
    scores = _scores(
        NAMES | OTHERS,
        {"term": {"name": {"value": "conversation"}}},
        mapping=MEMORIES,
        profile="2.x",
        scope=tree.Term("user", "u"),
    )
    assert scores == {"4": 0.2195382, "5": 0.20763937, "6": 0.19754036}


@pytest.mark.parametrize(
    ("profile", "scores"),
    [("3.x", [0.06446343, 0.05897285, 0.05897285]), ("2.x", [0.14181954, 0.12974027, 0.12974027])],
)
def test_term_by_hand(profile: Profile, scores: list[float]) -> None:
    """One word in names of 4, 5 and 5 words scores idf * tf / (tf + k1 * (1 - b + b * length / average))."""
    sources = {
        str(i): {"name": name}
        for i, name in enumerate(["conversation a b c", "conversation a b c d", "e conversation a b c"])
    }
    found = _scores(sources, {"term": {"name": "conversation"}}, mapping=MEMORIES, profile=profile)
    assert list(found.values()) == scores
    by_hand = (
        math.log(1 + 0.5 / 3.5) / (1 + 1.2 * (0.25 + 0.75 * 4 / (14 / 3))) * (2.2 if profile == "2.x" else 1)
    )
    assert scores[0] == pytest.approx(by_hand, rel=1e-6)


def test_statistics_are_those_of_the_whole_index() -> None:
    """Documents that are not handed in count for the scores."""
    query = {"match": {"input": "interaction"}}
    alone = _scores({"1": QUESTION["1"]}, query)
    among_others = _scores(QUESTION | {"3": {"input": "other words"}}, query, among=["1"])
    assert among_others["1"] > alone["1"]


def test_phrase_by_hand() -> None:
    """A phrase weighs as its words together, and counts each place where it stands."""
    sources = {"1": {"input": "a b c a b"}, "2": {"input": "b a c d e"}, "3": {"input": "a x y z w"}}
    total = idf(3, 3) + idf(2, 3)
    assert _scores(sources, {"match_phrase": {"input": "a b"}}) == {
        "1": pytest.approx(total * 2 / (2 + 1.2), rel=1e-6)
    }
    near = _scores(sources, {"match_phrase": {"input": {"query": "a b", "slop": 2}}})
    # In order twice, and once with "b" before "a", three steps on: too far; turned round it takes two.
    assert near["2"] == pytest.approx(total * (1 / 3) / (1 / 3 + 1.2), rel=1e-6)
    assert near["1"] == pytest.approx(total * 2 / (2 + 1.2), rel=1e-6)


def test_prefix_of_a_phrase_weighs_all_words_it_can_go_on_to() -> None:
    """Each word that the last one can go on to adds its own weight."""
    sources = {"1": {"input": "quick brown"}, "2": {"input": "quick broth"}, "3": {"input": "slow snail"}}
    total = idf(2, 3) + 2 * idf(1, 3)
    scores = _scores(sources, {"match_phrase_prefix": {"input": "quick bro"}})
    assert scores == {id: pytest.approx(total / 2.2, rel=1e-6) for id in ("1", "2")}


def test_a_prefix_alone_is_weighed_as_the_words_it_can_go_on_to() -> None:
    """A phrase of one word that may go on gives each document the weights of the words that it has."""
    sources = {
        "1": {"input": "brown"},
        "2": {"input": "broth"},
        "3": {"input": "broth"},
        "4": {"input": "snail"},
    }
    scores = _scores(sources, {"match_phrase_prefix": {"input": "bro"}})
    assert scores == {
        "1": pytest.approx(idf(1, 4) / 2.2, rel=1e-6),
        **{id: pytest.approx(idf(2, 4) / 2.2, rel=1e-6) for id in ("2", "3")},
    }


def test_near_words_count_less_by_their_distance() -> None:
    """A word that is one edit away counts 1 - 1 / length, with the frequency of the most frequent."""
    sources = {
        "1": {"input": "quick"},
        "2": {"input": "quack"},
        "3": {"input": "quack"},
        "4": {"input": "other"},
    }
    scores = _scores(sources, {"match": {"input": {"query": "quick", "fuzziness": 1}}})
    weight = idf(2, 4) / 2.2
    assert scores == {
        "1": pytest.approx(weight, rel=1e-6),
        "2": pytest.approx(weight * 0.8, rel=1e-6),
        "3": pytest.approx(weight * 0.8, rel=1e-6),
    }


def test_cross_fields_share_the_larger_frequency() -> None:
    """Asked across fields, a word weighs in each as where it is most frequent, and a little less where it is rarer."""
    sources = {
        "1": {"input": "fox x"},
        "2": {"input": "fox y"},
        "3": {"response": "fox z"},
        "4": {"input": "a b", "response": "c d"},
    }
    query = {"multi_match": {"query": "fox", "fields": ["input", "response"], "type": "cross_fields"}}
    assert _scores(sources, query) == {
        "1": pytest.approx(idf(2, 3) / 2.2, rel=1e-6),
        "2": pytest.approx(idf(2, 3) / 2.2, rel=1e-6),
        "3": pytest.approx(idf(3, 3) / 2.2, rel=1e-6),
    }


@pytest.mark.parametrize(
    ("query", "scores"),
    [
        ({"match_all": {}}, {"1": 1.0, "2": 1.0}),
        ({"match_all": {"boost": 2.5}}, {"1": 2.5, "2": 2.5}),
        ({"term": {"memory_id": "m"}}, {"1": 1.0, "2": 1.0}),
        ({"terms": {"memory_id": ["m"], "boost": 3}}, {"1": 3.0, "2": 3.0}),
        ({"ids": {"values": ["1"]}}, {"1": 1.0}),
        ({"exists": {"field": "input", "boost": 0.5}}, {"1": 0.5}),
        ({"prefix": {"input": "inter"}}, {"1": 1.0}),
        ({"wildcard": {"input": "inter*"}}, {"1": 1.0}),
        ({"regexp": {"input": "inter.*"}}, {"1": 1.0}),
        ({"constant_score": {"filter": {"match": {"input": "interaction"}}, "boost": 4}}, {"1": 4.0}),
        ({"bool": {"filter": [{"match": {"input": "interaction"}}]}}, {"1": 0.0}),
        ({"bool": {"must_not": [{"exists": {"field": "input"}}]}}, {"2": 0.0}),
        ({"bool": {"must": [ALL], "should": [FIRST], "boost": 2}}, {"1": 4.0, "2": 2.0}),
        ({"dis_max": {"queries": [ALL, FIRST], "tie_breaker": 0.5, "boost": 2}}, {"1": 3.0, "2": 2.0}),
        ({"boosting": {"positive": ALL, "negative": FIRST, "negative_boost": 0.25, "boost": 2}}, {"2": 2.0, "1": 0.5}),
        ({"match_all": {"boost": 3e38}}, {"1": 3e38, "2": 3e38}),
        ({"bool": {"must": [{"match_all": {"boost": 3e38}}], "boost": 3e38}}, {"1": 3.4028235e38, "2": 3.4028235e38}),
    ],
)  # fmt: skip
def test_other_clauses_by_hand(query: dict[str, Any], scores: dict[str, float]) -> None:
    """What is not about words scores its boost, and clauses are put together as their kind says."""
    assert _scores(QUESTION, query) == scores


def test_best_fields_and_most_fields() -> None:
    """The best field counts alone, or all are added; the tie breaker counts a share of the others."""
    sources = {"1": {"input": "fox", "response": "fox"}, "2": {"input": "dog", "response": "cat"}}
    asked = {"query": "fox", "fields": ["input", "response^2"]}
    single = idf(1, 2) / 2.2
    for more, factor in (({}, 2), ({"type": "most_fields"}, 3), ({"tie_breaker": 0.5}, 2.5)):
        assert _scores(sources, {"multi_match": asked | more}) == {
            "1": pytest.approx(single * factor, rel=1e-6)
        }


def test_hybrid_averages_what_was_brought_between_0_and_1() -> None:
    """Each sub-query's scores are spread from 0 to 1; a single score is 1, and what was not found 0."""
    queries = [{"match": {"input": "interaction"}}, {"neural": {"input": {"query_text": "talk", "k": 2}}}]

    def near(clause: tree.Neural) -> dict[str, float]:
        assert (clause.field, clause.query_text, clause.k) == ("input", "talk", 2)
        return {"1": 0.2, "2": 0.9}

    assert _scores(QUESTION, {"hybrid": {"queries": queries}}, neural=near) == {"1": 0.5005, "2": 0.5}
    weighted = _scores(QUESTION, {"hybrid": {"queries": queries, "weights": [0.25, 0.75]}}, neural=near)
    assert weighted == {"2": 0.75, "1": 0.25075}
    assert _scores(QUESTION, {"neural": {"input": {"query_text": "talk", "k": 2}}}, neural=near) == {
        "2": 0.9,
        "1": 0.2,
    }
    assert _scores(QUESTION, {"hybrid": {"queries": [{"match": {"input": "nothing"}}]}}) == {}


def test_terms_are_known_beforehand() -> None:
    """The terms whose frequencies will be asked for can be had without any document."""
    body = {
        "query": {
            "bool": {
                "must": {"match": {"input": "Quick fox"}},
                "filter": {"match_phrase": {"response": "a b"}},
            }
        },
        "post_filter": {"term": {"input": "dog"}},
    }
    request = parse_search(body, MESSAGES, now=NOW)
    scope = tree.Term("memory_id", "m")
    terms = {("input", "quick"), ("input", "fox"), ("response", "a"), ("response", "b"), ("input", "dog")}
    assert terms_of(request, MESSAGES, scope=scope, profile="3.x", now=NOW) == terms
    assert terms_of(request, MESSAGES, scope=scope, profile="2.x", now=NOW) == terms | {("memory_id", "m")}


def test_wrong_statistics_do_no_harm() -> None:
    """Counts that contradict each other give a score all the same."""
    assert idf(5, 3) == idf(5, 5) > 0
    assert idf(0, 0) > 0


@given(st.integers(0, 2**31 - 1))
def test_lengths_are_kept_in_a_byte(length: int) -> None:
    """A length is kept exactly up to 39, and loses less than an eighth above."""
    kept = LENGTHS[length_code(length)]
    assert kept == length if length < 40 else length * 7 / 8 < kept <= length


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_shown_scores_are_exact_and_short(score: float) -> None:
    """The decimal that is shown is rounded to the same float."""
    assert f32(shortest(score)) == score
    assert len(repr(abs(shortest(score))).replace(".", "").split("e")[0].strip("0")) <= 9


@given(st.floats(-MAX_FLOAT, MAX_FLOAT))
def test_rounding_is_that_of_a_float(value: float) -> None:
    """Numbers are rounded as a 32-bit float is, and never become infinite."""
    assert f32(value) == struct.unpack("f", struct.pack("f", value))[0]
    assert abs(f32(value * 1e30)) <= MAX_FLOAT
