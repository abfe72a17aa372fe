"""Queries as hypothesis makes them, and documents with few words that they find."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

WORDS = ("tea", "Teas", "green", "cello", "river", "the", "alfama", "fado", "night", "2024", "tee", "rivers")
ORIGINS = ("web", "slack", "Web", "mail-box")
MEMORY_IDS = ("m1", "m2", "m3")
DAYS = tuple(f"2024-02-{day:02}T08:30:00.000Z" for day in range(1, 15))
TEXT_FIELDS = ("input", "response")
KEYWORD_FIELDS = {"memory_id": MEMORY_IDS, "origin": ORIGINS, "parent_message_id": ("1", "2", "none")}


def corpus(seed: int, count: int = 60) -> dict[str, dict[str, Any]]:
    """Return documents by id, some of which lack fields.

    Texts have five words each and none twice, and none is missing: the other server weighs lengths in a way of its own.
    """
    chosen = random.Random(seed)
    found: dict[str, dict[str, Any]] = {}
    for number in range(count):
        source: dict[str, Any] = {"memory_id": chosen.choice(MEMORY_IDS), "create_time": chosen.choice(DAYS)}
        source["input"] = " ".join(chosen.sample(WORDS, 5))
        source["response"] = ", ".join(chosen.sample(WORDS, 5))
        if chosen.random() < 0.7:
            source["origin"] = chosen.choice(ORIGINS)
        if chosen.random() < 0.4:
            source["trace_number"] = chosen.randint(1, 9)
            source["parent_message_id"] = chosen.choice(("1", "2"))
        found[str(number)] = source
    return found


words = st.sampled_from(WORDS)
sentences = st.lists(words, min_size=1, max_size=4).map(" ".join)
text_fields = st.sampled_from(TEXT_FIELDS)
boosts = st.sampled_from([0.5, 2.0, 3.0])
shares = st.sampled_from([1, 2, "50%", "75%", -1, "2<75%"])


def with_some(**options: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return options of which any may be left out."""
    return st.fixed_dictionaries({}, optional=options)


def on_text(name: str, key: str, values: st.SearchStrategy[Any], **options: Any) -> st.SearchStrategy[Any]:
    """Return clauses of one kind about a text field."""
    return st.builds(
        lambda field, value, given: {name: {field: {key: value, **given}}},
        text_fields,
        values,
        with_some(boost=boosts, **options),
    )


keyword_values = st.sampled_from(sorted(KEYWORD_FIELDS)).flatmap(
    lambda field: st.tuples(st.just(field), st.sampled_from(KEYWORD_FIELDS[field]))
)
operators = st.sampled_from(["and", "or"])
leaves = {
    "match_all": st.just({"match_all": {}}) | boosts.map(lambda boost: {"match_all": {"boost": boost}}),
    "match_none": st.just({"match_none": {}}),
    "match": on_text("match", "query", sentences, operator=operators, minimum_should_match=shares),
    "match fuzzy": on_text("match", "query", sentences, fuzziness=st.sampled_from(["AUTO", 0, 1, 2])),
    "match_phrase": on_text("match_phrase", "query", sentences, slop=st.integers(0, 3)),
    "match_phrase_prefix": on_text(
        "match_phrase_prefix", "query", st.sampled_from(["te", "green te", "the ri", "cello"])
    ),
    "match_bool_prefix": on_text(
        "match_bool_prefix", "query", st.sampled_from(["te", "green te", "the river fa"])
    ),
    "multi_match": st.builds(
        lambda query, kind, fields, given: {
            "multi_match": {"query": query, "type": kind, "fields": fields, **given}
        },
        sentences,
        st.sampled_from(["best_fields", "most_fields", "phrase"]),
        st.sampled_from([["input", "response"], ["input^2", "response"], ["response"], ["*put"]]),
        with_some(boost=boosts),
    ),
    "multi_match prefix": st.builds(
        lambda query: {
            "multi_match": {"query": query, "type": "bool_prefix", "fields": ["input", "response"]}
        },
        sentences,
    ),
    "multi_match crossing": st.builds(
        lambda query, given: {
            "multi_match": {"query": query, "type": "cross_fields", "fields": ["input", "response"], **given}
        },
        sentences,
        with_some(operator=operators),
    ),
    "term": keyword_values.map(lambda pair: {"term": {pair[0]: {"value": pair[1]}}})
    | st.tuples(text_fields, words).map(lambda pair: {"term": {pair[0]: {"value": pair[1]}}}),
    "terms": st.lists(st.sampled_from(ORIGINS), min_size=1, max_size=3).map(
        lambda values: {"terms": {"origin": values}}
    ),
    "range of dates": st.builds(
        lambda low, high, given: {"range": {"create_time": {low[0]: low[1], high[0]: high[1], **given}}},
        st.tuples(st.sampled_from(["gt", "gte"]), st.sampled_from([DAYS[2], DAYS[4], f"{DAYS[9]}||-4d/d"])),
        st.tuples(st.sampled_from(["lt", "lte"]), st.sampled_from([DAYS[8], f"{DAYS[11]}||/M", "1707400000000"])),
        with_some(boost=boosts),
    ),
    "range of numbers": st.builds(
        lambda low, high: {"range": {"trace_number": {"gte": low, "lt": high}}}, st.integers(-1, 6), st.integers(2, 12)
    ),
    "exists": st.sampled_from(["input", "response", "origin", "trace_number", "updated_time"]).map(
        lambda field: {"exists": {"field": field}}
    ),
    "ids": st.lists(st.integers(0, 70).map(str), max_size=6).map(lambda values: {"ids": {"values": values}}),
    "prefix": on_text("prefix", "value", st.sampled_from(["te", "ri", "T", ""])),
    "wildcard": on_text("wildcard", "value", st.sampled_from(["te*", "*er*", "?ea", "f*o"])),
    "regexp": on_text("regexp", "value", st.sampled_from(["te[ae]", "ri.*", "(fado|cello)", "t.{2}"])),
    "fuzzy": on_text("fuzzy", "value", words.map(str.lower), fuzziness=st.sampled_from(["AUTO", 1, 2])),
    "query_string": st.builds(
        lambda query, given: {"query_string": {"query": query, "fields": ["input", "response"], **given}},
        st.sampled_from(
            ["tea", "tea AND river", "input:tea -cello", "+fado night", "-fado night tea", "tea AND fado night",
             "tea fado AND night", "green tea fado*", "in\\*:tea night", "tea fado *",
             '"green tea"', "ri*", "tea OR (fado AND night)",
             "(tea river)^2 cello", "fado~1", "trace_number:[2 TO 6}", "NOT tea"]
        ),
        with_some(default_operator=st.sampled_from(["AND", "OR"])),
    ),
    "simple_query_string": st.builds(
        lambda query, given: {"simple_query_string": {"query": query, "fields": ["input", "response"], **given}},
        st.sampled_from(["tea", "tea + river", "tea -cello", '"green tea"', "ri*", "tea | (fado + night)"]),
        with_some(default_operator=operators),
    ),
}  # fmt: skip


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return clauses that combine clauses."""
    some = st.lists(inner, max_size=2)
    return st.one_of(
        st.builds(
            lambda must, should, filters, must_not, given: {
                "bool": {"must": must, "should": should, "filter": filters, "must_not": must_not, **given}
            },
            some,
            some,
            some,
            st.lists(inner, max_size=1),
            with_some(boost=boosts, minimum_should_match=st.sampled_from([0, 1, "50%"])),
        ),
        st.builds(
            lambda clause, boost: {"constant_score": {"filter": clause, "boost": boost}}, inner, boosts
        ),
        st.builds(
            lambda clauses, tie: {"dis_max": {"queries": clauses, "tie_breaker": tie}},
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from([0.0, 0.3, 1.0]),
        ),
        st.builds(
            lambda liked, disliked: {
                "boosting": {"positive": liked, "negative": disliked, "negative_boost": 0.5}
            },
            inner,
            inner,
        ),
    )


queries = st.recursive(st.one_of(*leaves.values()), composed, max_leaves=6)
scored_queries = st.recursive(
    st.one_of(
        on_text("match", "query", sentences),
        st.tuples(text_fields, words).map(lambda pair: {"term": dict([pair])}),
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda must, should: {"bool": {"must": must, "should": should}},
            st.lists(inner, max_size=2),
            st.lists(inner, min_size=1, max_size=2),
        ),
        st.builds(
            lambda clauses, tie: {"dis_max": {"queries": clauses, "tie_breaker": tie}},
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from([0.0, 0.3, 1.0]),
        ),
    ),
    max_leaves=6,
)
"""Clauses whose scores come from words alone: on either side all are larger or smaller by one factor."""

sorts = st.lists(
    st.builds(
        lambda field, order, given: {field: {"order": order, **given}},
        st.sampled_from(["create_time", "trace_number", "origin", "memory_id"]),
        st.sampled_from(["asc", "desc"]),
        with_some(missing=st.sampled_from(["_first", "_last"])),
    ),
    min_size=1,
    max_size=2,
)
