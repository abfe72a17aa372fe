"""What each clause finds."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.dsl.searching import MEMORY, MESSAGE, found, ids, search

from hitherto.server.dsl.fields import MEMORIES

Q = dict[str, Any]

TEXTS = ["input", "response"]
M1: Q = {"term": {"memory_id": "m1"}}
WEB: Q = {"term": {"origin": "web"}}

ON_MESSAGES: list[tuple[Q, str]] = [
    ({"match_all": {}}, "1234"),
    ({"match_none": {}}, ""),
    # Words.
    ({"match": {"input": "QUICK fox"}}, "23"),
    ({"match": {"input": {"query": "quick fox jumps", "operator": "AND"}}}, "2"),
    ({"match": {"input": {"query": "quick fox jumps interaction", "minimum_should_match": "75%"}}}, "2"),
    ({"match": {"input": {"query": "quick fox jumps interaction", "minimum_should_match": "2<-25%"}}}, "2"),
    ({"match": {"input": {"query": "quick fox jumps", "minimum_should_match": 2}}}, "23"),
    ({"match": {"input": {"query": "quick fox", "minimum_should_match": 3}}}, ""),
    ({"match": {"input": {"query": "interaction", "minimum_should_match": 3}}}, "1"),
    ({"match": {"input": {"query": "quik foy", "fuzziness": "AUTO"}}}, "23"),
    ({"match": {"input": {"query": "quik", "fuzziness": 0}}}, ""),
    ({"match": {"input": {"query": "uick", "fuzziness": 1, "prefix_length": 1}}}, ""),
    ({"match": {"input": {"query": "quick", "analyzer": "keyword"}}}, "23"),
    ({"match": {"input": "..."}}, ""),
    ({"match": {"input": {"query": "...", "zero_terms_query": "all"}}}, "1234"),
    ({"match": {"origin": "web slack"}}, ""),
    ({"match": {"origin": {"query": "wep", "fuzziness": 1}}}, "1"),
    ({"match": {"origin": "Web"}}, ""),
    ({"match": {"create_time": "2024-02-01T08:00:00.000Z"}}, "1"),
    ({"match": {"create_time": 1706774400000}}, "1"),
    ({"match": {"create_time": {"query": "never", "lenient": True}}}, ""),
    ({"match": {"trace_number": "1"}}, "2"),
    ({"match": {"unknown": "web"}}, ""),
    ({"match": {"_id": "2"}}, "2"),
    ({"match_bool_prefix": {"input": "brown inter"}}, "123"),
    ({"match_bool_prefix": {"input": {"query": "brown inter", "operator": "and"}}}, ""),
    ({"match_bool_prefix": {"input": "inter "}}, ""),
    ({"match_bool_prefix": {"origin": "we"}}, "1"),
    ({"match_bool_prefix": {"trace_number": 10}}, "4"),
    ({"match_bool_prefix": {"unknown": "we"}}, ""),
    # Whole terms.
    ({"term": {"trace_number": 1}}, "2"),
    ({"term": {"trace_number": {"value": "1.0"}}}, "2"),
    ({"term": {"trace_number": 1.5}}, ""),
    ({"term": {"trace_number": 10**30}}, ""),
    ({"term": {"trace_number": "1e999999999999"}}, ""),
    ({"range": {"trace_number": {"gt": "-1e999999999999", "lt": "1e999999999999"}}}, "234"),
    ({"range": {"trace_number": {"gt": "1e-999999999999"}}}, "234"),
    ({"term": {"input": "QUICK"}}, ""),
    ({"term": {"input": {"value": "QUICK", "case_insensitive": True}}}, "23"),
    ({"term": {"origin": {"value": "WEB", "case_insensitive": "true"}}}, "1"),
    ({"term": {"create_time": "2024-02-01T08:00:00Z"}}, "1"),
    ({"term": {"_id": "3"}}, "3"),
    ({"term": {"_index": ".plugins-ml-memory-message"}}, "1234"),
    ({"term": {"_index": "other"}}, ""),
    ({"term": {"input.keyword": "x"}}, ""),
    ({"terms": {"origin": ["web", "slack", "x"]}}, "12"),
    ({"terms": {"input": ["fox", "interaction"]}}, "123"),
    ({"terms": {"trace_number": [1, "2", 7.5]}}, "23"),
    ({"terms": {"origin": []}}, ""),
    ({"terms_set": {"input": {"terms": ["quick", "brown"], "minimum_should_match_field": "trace_number"}}}, "23"),
    ({"terms_set": {"response": {"terms": ["dog"], "minimum_should_match_field": "trace_number"}}}, "2"),
    ({"ids": {"values": ["1", "3", "9"]}}, "13"),
    ({"ids": {"values": "1"}}, "1"),
    ({"prefix": {"input": "qui"}}, "23"),
    ({"prefix": {"input": "Qui"}}, ""),
    ({"prefix": {"input": {"value": "QUI", "case_insensitive": True}}}, "23"),
    ({"prefix": {"origin": {"value": "s", "rewrite": "constant_score"}}}, "2"),
    ({"prefix": {"unknown": "s"}}, ""),
    ({"wildcard": {"input": "q*c?"}}, "23"),
    ({"wildcard": {"input": "Q*"}}, ""),
    ({"wildcard": {"origin": {"wildcard": "W?B", "case_insensitive": True}}}, "1"),
    ({"regexp": {"input": "qu[a-z]+"}}, "23"),
    ({"regexp": {"origin": {"value": "WEB|s.*", "case_insensitive": True, "flags": "NONE"}}}, "12"),
    ({"fuzzy": {"input": "quikc"}}, "23"),
    ({"fuzzy": {"input": {"value": "quikc", "transpositions": False, "fuzziness": 1}}}, ""),
    ({"fuzzy": {"input": {"value": "uick", "prefix_length": 1}}}, ""),
    ({"fuzzy": {"unknown": "x"}}, ""),
    # Ranges.
    ({"range": {"trace_number": {"gte": 1, "lt": 10}}}, "23"),
    ({"range": {"trace_number": {"gt": 1.5}}}, "34"),
    ({"range": {"trace_number": {"gt": "1", "lte": "10"}}}, "34"),
    ({"range": {"trace_number": {"lt": 2.5}}}, "23"),
    ({"range": {"trace_number": {"gt": -1, "gte": 2}}}, "34"),
    ({"range": {"trace_number": {"lte": 10**40}}}, "234"),
    ({"range": {"trace_number": {}}}, "234"),
    ({"range": {"trace_number": {"from": 1, "to": 2, "include_lower": False}}}, "3"),
    ({"range": {"trace_number": {"gte": None, "lte": 1}}}, "2"),
    ({"range": {"origin": {"gte": "s", "lt": "w"}}}, "2"),
    ({"range": {"origin": {"gt": "slack", "lte": "web"}}}, "1"),
    ({"range": {"input": {"gt": "quick"}}}, "23"),
    ({"range": {"create_time": {"gte": "now-8d"}}}, "34"),
    ({"range": {"create_time": {"gte": "2024-02-02T08:00:00.000Z"}}}, "234"),
    ({"range": {"create_time": {"gt": "2024-02-02T08:00:00.000Z"}}}, "34"),
    ({"range": {"create_time": {"gt": "2024-02-02T08:00:00.000Z||/d"}}}, "34"),
    ({"range": {"create_time": {"lte": "2024-02-02T07:00:00.000Z||/d"}}}, "12"),
    ({"range": {"create_time": {"lt": "2024-02-02T09:00:00.000Z||/d"}}}, "1"),
    ({"range": {"create_time": {"gte": "2024-02-02", "lte": "2024-02-03", "format": "yyyy-MM-dd"}}}, "23"),
    ({"range": {"create_time": {"lt": "2024-02-02", "format": "yyyy-MM-dd", "time_zone": "-10:00"}}}, "12"),
    ({"range": {"create_time": {"gte": 1706860800000, "relation": "within"}}}, "234"),
    ({"range": {"unknown": {"gte": 1}}}, ""),
    ({"range": {"_id": {"gte": "3"}}}, "34"),
    # What is there.
    ({"exists": {"field": "trace_number"}}, "234"),
    ({"exists": {"field": "input"}}, "123"),
    ({"exists": {"field": "create_time"}}, "1234"),
    ({"exists": {"field": "unknown"}}, ""),
    ({"exists": {"field": "*_message_id"}}, "23"),
    ({"exists": {"field": "_id"}}, "1234"),
    ({"exists": {"field": "_index"}}, "1234"),
    # Phrases.
    ({"match_phrase": {"input": "quick brown"}}, "2"),
    ({"match_phrase": {"input": {"query": "quick fox", "slop": 1}}}, "23"),
    ({"match_phrase": {"input": {"query": "brown quick", "slop": 2}}}, "23"),
    ({"match_phrase": {"input": {"query": "brown quick", "slop": 1}}}, "3"),
    ({"match_phrase": {"response": {"query": "quick quick quick", "slop": 1}}}, "3"),
    ({"match_phrase": {"response": {"query": "quick quick quick quick", "slop": 9}}}, ""),
    ({"match_phrase": {"response": {"query": "ask again ask", "slop": 2}}}, ""),
    ({"match_phrase": {"response": {"query": "ask again ask", "slop": 6}}}, "1"),
    ({"match_phrase": {"input": "fox"}}, "23"),
    ({"match": {"input": {"query": "quick fox", "operator": "and", "minimum_should_match": 1}}}, ""),
    ({"match": {"input": {"query": "quick fox", "operator": "and", "minimum_should_match": "50%"}}}, "23"),
    ({"match": {"input": {"query": "fox", "operator": "and", "minimum_should_match": 1}}}, "23"),
    ({"match_phrase": {"input": {"query": "!", "zero_terms_query": "all"}}}, "1234"),
    ({"match_phrase": {"input": "!"}}, ""),
    ({"match_phrase": {"origin": "web"}}, "1"),
    ({"match_phrase": {"trace_number": 1}}, "2"),
    ({"match_phrase": {"unknown": "x"}}, ""),
    ({"match_phrase_prefix": {"input": "quick bro"}}, "2"),
    ({"match_phrase_prefix": {"input": "inter"}}, "1"),
    ({"match_phrase_prefix": {"input": {"query": "the b", "max_expansions": 1}}}, "3"),
    ({"match_phrase_prefix": {"input": "quick xyz"}}, ""),
    ({"match_phrase_prefix": {"origin": "web"}}, "1"),
    # Several fields.
    ({"multi_match": {"query": "quick dog", "fields": ["input", "response^2"]}}, "234"),
    ({"multi_match": {"query": "quick web", "fields": "*"}}, "23"),
    ({"multi_match": {"query": "web"}}, "1"),
    ({"multi_match": {"query": "fox dog", "fields": ["input", "response"], "operator": "and"}}, ""),
    ({"multi_match": {"query": "fox dog", "fields": TEXTS, "type": "cross_fields", "operator": "and"}}, "2"),
    ({"multi_match": {"query": "web", "fields": ["input", "origin", "trace*"], "type": "cross_fields"}}, "1"),
    ({"multi_match": {"query": "lazy dog", "fields": ["input", "resp*"], "type": "phrase"}}, "2"),
    ({"multi_match": {"query": "lazy do", "fields": ["input", "resp*"], "type": "phrase_prefix"}}, "2"),
    ({"multi_match": {"query": "lazy qui", "fields": ["input", "response"], "type": "bool_prefix"}}, "23"),
    ({"multi_match": {"query": "1", "fields": ["trace_number", "input"], "tie_breaker": 0.3}}, "2"),
    ({"multi_match": {"query": "x", "fields": ["unknown", "none*"]}}, ""),
    # Clauses of clauses.
    ({"bool": {}}, "1234"),
    ({"bool": {"must": {"term": {"memory_id": "m1"}}}}, "12"),
    ({"bool": {"must_not": [{"exists": {"field": "trace_number"}}]}}, "1"),
    ({"bool": {"should": [{"term": {"origin": "web"}}, {"term": {"trace_number": 1}}]}}, "12"),
    ({"bool": {"filter": [{"term": {"memory_id": "m1"}}], "should": [{"term": {"origin": "web"}}]}}, "12"),
    ({"bool": {"filter": [M1], "should": [WEB], "minimum_should_match": "100%"}}, "1"),
    ({"bool": {"should": [{"term": {"origin": "web"}}], "minimum_should_match": 2}}, ""),
    ({"bool": {"should": [{"match_all": {}}], "must_not": [WEB], "adjust_pure_negative": True}}, "234"),
    ({"constant_score": {"filter": {"match": {"input": "fox"}}}}, "23"),
    ({"dis_max": {"queries": [{"term": {"origin": "web"}}, {"term": {"trace_number": 10}}]}}, "14"),
    ({"boosting": {"positive": M1, "negative": {"match_all": {}}, "negative_boost": 0.1}}, "12"),
]  # fmt: skip

ON_MEMORIES: list[tuple[Q, str]] = [
    ({"term": {"additional_info.city": "Berlin"}}, "1"),
    ({"term": {"additional_info.city": "berlin"}}, ""),
    ({"term": {"additional_info.city": {"value": "berlin", "case_insensitive": True}}}, "1"),
    ({"term": {"additional_info": "Berlin"}}, "1"),
    ({"term": {"additional_info.tags": "b"}}, "1"),
    ({"term": {"additional_info.n": 5}}, "2"),
    ({"term": {"additional_info.deep.on": True}}, "2"),
    ({"terms": {"additional_info": ["b", "true"]}}, "12"),
    ({"match": {"additional_info.city": "Berlin"}}, "1"),
    ({"match": {"additional_info.city": "Berlin West"}}, ""),
    ({"match_phrase": {"additional_info.city": "Berlin"}}, "1"),
    ({"match_bool_prefix": {"additional_info.city": "Berlin"}}, "1"),
    ({"prefix": {"additional_info.city": "Ber"}}, "1"),
    ({"wildcard": {"additional_info.city": "B*n"}}, "1"),
    ({"range": {"additional_info.n": {"gte": "4", "lt": "6"}}}, "2"),
    ({"exists": {"field": "additional_info"}}, "12"),
    ({"exists": {"field": "additional_info.deep"}}, "2"),
    ({"exists": {"field": "additional_info.deep.on"}}, "2"),
    ({"exists": {"field": "additional_info.dee"}}, ""),
    ({"exists": {"field": "name"}}, "123"),
    ({"term": {"user": "alice"}}, "13"),
    ({"match": {"user": "alice"}}, "13"),
    ({"range": {"create_time": {"gte": "now/d"}}}, "4"),
]


@pytest.mark.parametrize(("query", "expected"), ON_MESSAGES)
def test_clause_finds_messages(query: Q, expected: str) -> None:
    """A clause finds exactly the messages that it describes."""
    assert found(MESSAGE, query) == set(expected)


@pytest.mark.parametrize(("query", "expected"), ON_MEMORIES)
def test_clause_finds_memories(query: Q, expected: str) -> None:
    """A clause finds exactly the memories that it describes."""
    assert found(MEMORY, query, mapping=MEMORIES) == set(expected)


@pytest.mark.parametrize(("query", "expected"), ON_MESSAGES)
def test_clause_works_in_either_generation(query: Q, expected: str) -> None:
    """What is found does not depend on how it is scored."""
    result = search(MESSAGE, {"query": query, "size": 100}, profile="2.x")
    assert set(ids(result)) == set(expected)


def test_hits_tell_which_named_clauses_they_match() -> None:
    """A hit lists the names of the clauses that it matches, filters among them."""
    query = {
        "bool": {
            "should": [
                {"match": {"input": {"query": "fox", "_name": "fox"}}},
                {"terms": {"origin": ["web"], "_name": "web"}},
                {"range": {"trace_number": {"gte": 1, "_name": "trace"}}},
            ],
            "_name": "all",
        }
    }
    hits = search(MESSAGE, {"query": query}).hits
    assert {hit["_id"]: hit["matched_queries"] for hit in hits} == {
        "1": ["all", "web"],
        "2": ["all", "fox", "trace"],
        "3": ["all", "fox", "trace"],
        "4": ["all", "trace"],
    }
    assert "matched_queries" not in search(MESSAGE, {"query": {"match_all": {}}}).hits[0]


def test_near_words_are_those_of_the_documents_at_hand() -> None:
    """At most so many near words are tried, the nearest first."""
    sources = {str(number): {"input": f"word{number}"} for number in range(9)} | {"x": {"input": "word"}}
    query = {"match": {"input": {"query": "word", "fuzziness": 1, "max_expansions": 3}}}
    assert found(sources, query) == {"x", "0", "1"}
