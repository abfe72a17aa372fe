"""Requests that are refused, and what the refusal names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.server.dsl.searching import MESSAGE, NOW, found, search

from hitherto.server.dsl.body import parse_search
from hitherto.server.dsl.errors import DslError, locate
from hitherto.server.dsl.fields import MESSAGES

ALL: dict[str, Any] = {"query": {"match_all": {}}}


def _nested(depth: int) -> dict[str, Any]:
    query: dict[str, Any] = {"match_all": {}}
    for _ in range(depth):
        query = {"bool": {"must": [query]}}
    return query


QUERIES: list[tuple[object, str]] = [
    # The frame.
    ({}, "query malformed, empty clause found at [1:2]"),
    ([], "must start with start_object"),
    ("match_all", "must start with start_object"),
    ({"match_all": {}, "term": {}}, "[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]"),
    ({"foo": {}}, "unknown query [foo]"),
    ({"matchall": {}}, "unknown query [matchall] did you mean [match_all]?"),
    ({"match_all": []}, "[match_all] query malformed"),
    ({"match_all": {"foo": 1}}, "[match_all] query does not support [foo]"),
    ({"match_all": {"boost": "x"}}, "[boost] must be a number"),
    ({"match_all": {"boost": -1}}, "negative [boost]"),
    ({"match_all": {"boost": 1e39}}, "[boost] must be a number"),
    ({"match_all": {"boost": True}}, "[boost] must be a number"),
    ({"match_all": {"boost": float("nan")}}, "[boost] must be a number"),
    ({"match_all": {"_name": {}}}, "[_name] must be a text"),
    ({"match_none": {"foo": 1}}, "[match_none] query does not support [foo]"),
    # Clauses that there are elsewhere.
    *(
        ({name: {}}, f"unknown query [{name}]")
        for name in (
            "function_score", "script_score", "script", "more_like_this", "intervals", "span_term", "span_near", "knn",
            "nested", "has_child", "has_parent", "geo_distance", "geo_bounding_box", "percolate", "wrapper", "pinned",
        )
    ),
    # Whole terms.
    ({"term": {}}, "[term] query requires a field name"),
    ({"term": {"a": 1, "b": 2}}, "[term] query doesn't support multiple fields, found [a] and [b]"),
    ({"term": {"origin": ["a"]}}, "[value] must be a text, number or boolean"),
    ({"term": {"origin": None}}, "value cannot be null"),
    ({"term": {"origin": {"value": "a", "foo": 1}}}, "[term] query does not support [foo]"),
    ({"term": {"origin": {"value": "a", "case_insensitive": "maybe"}}}, "[case_insensitive] must be true or false"),
    ({"term": "origin"}, "[term] query malformed"),
    ({"term": {"trace_number": "x"}}, 'For input string: "x"'),
    ({"term": {"trace_number": True}}, "For input string"),
    ({"term": {"create_time": "x"}}, "failed to parse date field [x]"),
    ({"terms": {"origin": "web"}}, "[terms] query requires an array of values"),
    ({"terms": {"origin": [["a"]]}}, "values must be texts, numbers or booleans"),
    ({"terms": {"origin": {"index": "a", "id": "b", "path": "c"}}}, "lookup of terms"),
    ({"terms": {"origin": ["a"], "foo": 1}}, "multiple fields"),
    ({"terms": {"origin": ["a"] * 65_537}}, "at most 65536"),
    ({"terms_set": {"input": {"terms": ["a"]}}}, "[terms_set] requires [minimum_should_match_field]"),
    ({"terms_set": {"input": {"terms": ["a"], "minimum_should_match_script": {}}}}, "scripts are not supported"),
    ({"ids": {}}, "[ids] query requires an array"),
    ({"ids": {"values": [None]}}, "values must be texts"),
    ({"exists": {}}, "[exists] requires [field]"),
    ({"exists": {"field": ""}}, "[exists] requires [field]"),
    ({"exists": {"field": "a", "foo": 1}}, "[exists] query does not support [foo]"),
    ({"prefix": {"input": {"value": None}}}, "[prefix] requires [value]"),
    ({"prefix": {"trace_number": "1"}}, "Can only use prefix queries"),
    ({"prefix": {"input": {"value": "a", "rewrite": "magic"}}}, "[rewrite] must be one of"),
    ({"wildcard": {"create_time": "1*"}}, "Can only use wildcard queries"),
    ({"regexp": {"trace_number": "1"}}, "Can only use regexp queries"),
    ({"regexp": {"input": "(a"}}, "expected ')' at position 2 of '(a'"),
    ({"regexp": {"input": {"value": "a", "flags": "SOME"}}}, "unknown flag in 'SOME'"),
    ({"regexp": {"input": "a" * 1001}}, "exceeded the allowed maximum of [1000]"),
    ({"fuzzy": {"trace_number": "1"}}, "Can only use fuzzy queries"),
    ({"fuzzy": {"input": {"value": "a", "fuzziness": 3}}}, "[fuzziness] must be 0, 1, 2"),
    ({"fuzzy": {"input": {"value": "a", "fuzziness": "AUTO:6,3"}}}, "[fuzziness] must be 0, 1, 2"),
    ({"fuzzy": {"input": {"value": "a", "prefix_length": -1}}}, "[prefix_length] must be a whole number from 0"),
    ({"fuzzy": {"input": {"value": "a", "max_expansions": 0}}}, "[max_expansions] must be a whole number from 1"),
    # Ranges.
    ({"range": {"trace_number": {"gte": [1]}}}, "[gte] must be a text, number or boolean"),
    ({"range": {"trace_number": {"foo": 1}}}, "[range] query does not support [foo]"),
    ({"range": {"trace_number": 5}}, "[range] query malformed"),
    ({"range": {"trace_number": {"gte": "x"}}}, 'For input string: "x"'),
    ({"range": {"create_time": {"gte": "x"}}}, "failed to parse date field [x]"),
    ({"range": {"create_time": {"gte": "2024", "format": "qqq"}}}, "Unknown pattern letter"),
    ({"range": {"create_time": {"gte": "2024-01-01", "time_zone": "Nowhere"}}}, "Unknown time-zone ID: Nowhere"),
    ({"range": {"create_time": {"gte": 1, "relation": "near"}}}, "[relation] must be one of"),
    # Words.
    ({"match": {"input": {"operator": "or"}}}, "[match] requires query value"),
    ({"match": {"input": {"query": {}}}}, "[query] must be a text, number or boolean"),
    ({"match": {"input": {"query": "a", "operator": "xor"}}}, "[operator] must be one of or, and"),
    ({"match": {"input": {"query": "a", "minimum_should_match": "some"}}}, "[minimum_should_match] must be such as"),
    ({"match": {"input": {"query": "a", "minimum_should_match": "9<" * 999}}}, "[minimum_should_match] must"),
    ({"match": {"input": {"query": "a", "analyzer": "english"}}}, "analyzer [english] not found"),
    ({"match": {"input": {"query": "a", "zero_terms_query": "some"}}}, "[zero_terms_query] must be one of"),
    ({"match": {"input": {"query": "a", "fuzziness": "x"}}}, "[fuzziness] must be 0, 1, 2"),
    ({"match": {"trace_number": "x"}}, 'For input string: "x"'),
    ({"match": {"create_time": "x"}}, "failed to parse date field [x]"),
    ({"match": {"input": "word " * 1025}}, "maxClauseCount is set to 1024"),
    ({"match_phrase": {"input": {"query": "a", "slop": -1}}}, "[slop] must be a whole number"),
    ({"match_phrase": {"input": {"query": "a", "operator": "or"}}}, "[match_phrase] query does not support [operator]"),
    ({"match_phrase_prefix": {"input": {"query": "a", "max_expansions": "x"}}}, "[max_expansions] must be"),
    ({"match_bool_prefix": {"input": {"query": "a", "foo": 1}}}, "[match_bool_prefix] query does not support [foo]"),
    ({"multi_match": {"fields": ["input"]}}, "[multi_match] requires query value"),
    ({"multi_match": {"query": "a", "fields": 5}}, "[fields] must be a list of field names"),
    ({"multi_match": {"query": "a", "fields": ["input^e"]}}, "the boost of field [input^e] must be a number"),
    ({"multi_match": {"query": "a", "type": "worst_fields"}}, "[type] must be one of"),
    ({"multi_match": {"query": "a", "type": "phrase", "fuzziness": 1}}, "Fuzziness not allowed for type [phrase]"),
    ({"multi_match": {"query": "x", "fields": ["trace_number"]}}, 'For input string: "x"'),
    ({"query_string": {}}, "[query_string] requires [query]"),
    ({"query_string": {"query": "a", "foo": 1}}, "[query_string] query does not support [foo]"),
    ({"query_string": {"query": "a b AND " * 600 + "c"}}, "maxClauseCount is set to 1024"),
    ({"query_string": {"query": "a", "fuzziness": None}}, "[fuzziness] must be"),
    ({"simple_query_string": {"query": "a", "default_field": "input"}}, "does not support [default_field]"),
    ({"simple_query_string": {"query": "a " * 1025}}, "maxClauseCount is set to 1024"),
    # Clauses of clauses.
    ({"bool": {"must": "x"}}, "[must] must be a clause or an array of clauses"),
    ({"bool": {"must": [5]}}, "must start with start_object"),
    ({"bool": {"must_not": [{"foo": {}}]}}, "unknown query [foo]"),
    ({"bool": {"foo": []}}, "[bool] query does not support [foo]"),
    ({"bool": {"minimum_should_match": "x"}}, "[minimum_should_match]"),
    ({"constant_score": {}}, "[constant_score] requires a 'filter' element"),
    ({"constant_score": {"filter": []}}, "must start with start_object"),
    ({"dis_max": {"queries": []}}, "[dis_max] requires 'queries'"),
    ({"dis_max": {"queries": [ALL["query"]], "tie_breaker": "x"}}, "[tie_breaker] must be a number"),
    ({"boosting": {"positive": ALL["query"]}}, "[boosting] query requires 'negative' query to be set"),
    ({"boosting": {"positive": ALL["query"], "negative": ALL["query"]}}, "requires 'negative_boost' number"),
    ({"neural": {"input": {"query_text": "a"}}}, "no embedder is configured"),
    ({"neural": {}}, "[neural] query requires one field name"),
    ({"neural": {"input": {}}}, "[neural] requires [query_text]"),
    ({"neural": {"input": {"query_text": "a", "k": 0}}}, "[k] must be a whole number from 1 to 10000"),
    ({"neural": {"input": {"query_text": "a", "model_id": "x"}}}, "[neural] query does not support [model_id]"),
    ({"hybrid": {}}, "[hybrid] query requires 'queries' with 1 to 5 clauses"),
    ({"hybrid": {"queries": [ALL["query"]] * 6}}, "1 to 5 clauses, got 6"),
    ({"hybrid": {"queries": [ALL["query"]], "weights": [0.5, 0.5]}}, "[weights] must be 1 numbers that add up to 1"),
    # Bounds.
    (_nested(60), "exceeds the maximum nested depth of [50]"),
    ({"bool": {"should": [{"match_all": {}}] * 1024}}, "maxClauseCount is set to 1024"),
]  # fmt: skip

BODIES: list[tuple[object, str]] = [
    ([], "Expected [START_OBJECT] but found START_ARRAY"),
    ("x", "Expected [START_OBJECT] but found VALUE_STRING"),
    ({}, "inner bool query clause cannot be null"),
    ({"size": 5}, "inner bool query clause cannot be null"),
    ({"query": None}, "inner bool query clause cannot be null"),
    (ALL | {"foo": "bar"}, "Unknown key for a VALUE_STRING in [foo]."),
    (ALL | {"foo": 1}, "Unknown key for a VALUE_NUMBER in [foo]."),
    (ALL | {"foo": True}, "Unknown key for a VALUE_BOOLEAN in [foo]."),
    (ALL | {"foo": None}, "Unknown key for a VALUE_NULL in [foo]."),
    (ALL | {"foo": []}, "Unknown key for a START_ARRAY in [foo]."),
    (ALL | {"foo": {}}, "Unknown key for a START_OBJECT in [foo]."),
    *(
        (ALL | {key: {"a": {}}}, f"[{key}] is not supported")
        for key in (
            "aggs", "aggregations", "suggest", "script_fields", "rescore", "collapse", "pit", "slice", "explain",
            "profile", "search_pipeline", "indices_boost", "derived",
        )
    ),
    (ALL | {"size": -1}, "[size] parameter cannot be negative, found [-1]"),
    (ALL | {"from": -2}, "[from] parameter cannot be negative, found [-2]"),
    (ALL | {"size": "x"}, "[size] must be a whole number"),
    (ALL | {"size": 1.5}, "[size] must be a whole number"),
    (ALL | {"size": True}, "[size] must be a whole number"),
    (ALL | {"size": 10_001}, "Result window is too large"),
    (ALL | {"size": 10**400}, "[size] must be a whole number"),
    (ALL | {"sort": 5}, "malformed sort format"),
    (ALL | {"sort": [{"_script": {}}]}, "[sort] does not support [_script]"),
    (ALL | {"sort": [{"_geo_distance": {}}]}, "[sort] does not support [_geo_distance]"),
    (ALL | {"sort": [{"create_time": "up"}]}, "[order] must be one of asc, desc"),
    (ALL | {"sort": [{"create_time": {"foo": 1}}]}, "[sort] query does not support [foo]"),
    (ALL | {"sort": [{"create_time": {"mode": "mean"}}]}, "[mode] must be one of"),
    (ALL | {"sort": [{"create_time": {"nested": {}}}]}, "does not support [nested]"),
    (ALL | {"search_after": [1]}, "Sort must contain at least one field."),
    (ALL | {"sort": "create_time", "search_after": []}, "[search_after] must be an array"),
    (ALL | {"sort": "create_time", "search_after": [{}]}, "Can't handle [search_after] field value"),
    (ALL | {"sort": "create_time", "search_after": [1, 2]}, "search_after has 2 value(s) but sort has 1."),
    (ALL | {"sort": "create_time", "search_after": [1], "from": 1}, "`from` parameter must be set to 0"),
    (ALL | {"sort": "origin", "search_after": [1]}, "Failed to parse search_after value for field [origin]"),
    (ALL | {"sort": "trace_number", "search_after": ["x"]}, "Failed to parse search_after value for field [trace"),
    (ALL | {"sort": "create_time", "search_after": ["x"]}, "failed to parse date field [x]"),
    (ALL | {"_source": 5}, "[_source] must be"),
    (ALL | {"_source": [5]}, "[_source] must be"),
    (ALL | {"_source": {"foo": []}}, "Unknown key [foo] in [_source]"),
    (ALL | {"min_score": "x"}, "[min_score] must be a number"),
    (ALL | {"track_total_hits": -2}, "[track_total_hits]"),
    (ALL | {"track_total_hits": "some"}, "[track_total_hits]"),
    (ALL | {"track_scores": 1}, "[track_scores] must be true or false"),
    (ALL | {"version": "x"}, "[version] must be true or false"),
    (ALL | {"timeout": 5}, "[timeout]"),
    (ALL | {"timeout": "soon"}, "[timeout]"),
    (ALL | {"terminate_after": -1}, "[terminate_after] must be a whole number"),
    (ALL | {"stored_fields": 5}, "[stored_fields] must be"),
    (ALL | {"fields": "name"}, "[fields] must be an array of fields"),
    (ALL | {"docvalue_fields": [{"format": "x"}]}, "[docvalue_fields] requires [field]"),
    (ALL | {"post_filter": {"foo": {}}}, "unknown query [foo]"),
    (ALL | {"post_filter": {"term": {"trace_number": "x"}}}, 'For input string: "x"'),
]  # fmt: skip


@pytest.mark.parametrize(("query", "reason"), QUERIES)
def test_query_is_refused(query: object, reason: str) -> None:
    """A query that is unknown, malformed or too large is refused with a reason that names it."""
    _refused({"query": query}, reason)


@pytest.mark.parametrize(("body", "reason"), BODIES)
def test_body_is_refused(body: object, reason: str) -> None:
    """A body with an unknown key or a value of the wrong type is refused with a reason that names it."""
    _refused(body, reason)


def _refused(body: Any, reason: str) -> None:
    with pytest.raises(DslError) as caught:
        search(MESSAGE, body)
    assert reason in str(caught.value)
    assert caught.value.status == 400
    json.dumps(caught.value.envelope(), allow_nan=False)


@pytest.mark.parametrize(
    "more",
    [
        {"explain": False, "profile": False, "aggs": {}, "rescore": [], "suggest": None},
        {"timeout": "10s", "version": False, "seq_no_primary_term": True, "stats": ["a"], "ext": {}},
        {"timeout": "-1", "include_named_queries_score": True, "track_scores": "true"},
        {"search_after": None, "post_filter": None},
    ],
)
def test_what_changes_nothing_is_accepted(more: dict[str, Any]) -> None:
    """A key that asks for nothing, or for what is done anyway, is accepted."""
    assert search(MESSAGE, ALL | more).total == 4


def test_depth_is_allowed_up_to_the_bound() -> None:
    """A query may be nested to the bound."""
    assert found(MESSAGE, _nested(49)) == set("1234")


def test_place_is_found_in_the_bytes() -> None:
    """Line and column are those of the bytes that came."""
    raw = b'{\n  "query": {\n    "f\xc3\xb6\xc3\xb6": {}}}'
    with pytest.raises(DslError) as caught:
        parse_search(json.loads(raw), MESSAGES, now=NOW, raw=raw)
    assert (caught.value.metadata["line"], caught.value.metadata["col"]) == (3, 5)
    assert locate({}, b"{}", "nowhere") == {"line": 1, "col": 1}
    assert locate({("a",): 1}, None, "nowhere") == {"line": 1, "col": 1}
