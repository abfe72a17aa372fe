"""Which hits are shown, in which order, and with what."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.server.dsl.searching import MEMORY, MESSAGE, ids, search

from hitherto.server.dsl import tree
from hitherto.server.dsl.errors import DslError, ShardError
from hitherto.server.dsl.fields import MEMORIES

ALL: dict[str, Any] = {"query": {"match_all": {}}}
LAST = 2**63 - 1


def test_a_hit_has_the_envelope() -> None:
    """A hit shows index, id, version, sequence number, term, score and source, and can be written as JSON."""
    result = search(MESSAGE, ALL | {"size": 1})
    assert result.body() == {
        "total": {"value": 4, "relation": "eq"},
        "max_score": 1.0,
        "hits": [
            {
                "_index": ".plugins-ml-memory-message",
                "_id": "1",
                "_version": 1,
                "_seq_no": 0,
                "_primary_term": 1,
                "_score": 1.0,
                "_source": MESSAGE["1"],
            }
        ],
    }
    json.dumps(result.body(), allow_nan=False)


def test_scope_is_one_more_clause_that_counts() -> None:
    """A scope narrows what is found, and adds to the score."""
    result = search(MESSAGE, ALL, scope=tree.Term("memory_id", "m2"))
    assert (ids(result), result.max_score) == (["3", "4"], 2.0)
    assert (
        search(MESSAGE, {"query": {"term": {"memory_id": "m1"}}}, scope=tree.Term("memory_id", "m2")).hits
        == ()
    )


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ({"from": 1, "size": 2}, "23"),
        ({"from": 3}, "4"),
        ({"from": 9}, ""),
        ({"size": 0}, ""),
        ({"from": -1, "size": "2"}, "12"),
        ({"from": "2"}, "34"),
    ],
)
def test_window(window: dict[str, Any], expected: str) -> None:
    """A page is cut from the ordered hits, and the total counts all of them."""
    result = search(MESSAGE, ALL | window)
    assert (ids(result), result.total) == (list(expected), 4)
    assert result.max_score == (None if window.get("size") == 0 else 1.0)


def test_nothing_found_has_no_best_score() -> None:
    """Without hits there is no best score."""
    result = search(MESSAGE, {"query": {"match_none": {}}})
    assert (result.total, result.max_score, result.hits) == (0, None, ())


@pytest.mark.parametrize(
    ("asked", "total", "relation"),
    [
        (True, 4, "eq"),
        (False, None, "eq"),
        (3, 3, "gte"),
        (4, 4, "eq"),
        (0, None, "eq"),
        (-1, 4, "eq"),
        ("true", 4, "eq"),
    ],
)
def test_total(asked: object, total: int | None, relation: str) -> None:
    """Hits are counted exactly, up to a number, or not at all."""
    result = search(MESSAGE, ALL | {"track_total_hits": asked})
    assert (result.total, result.relation) == (total, relation)
    assert ("total" in result.body()) == (total is not None)


def test_total_is_counted_up_to_ten_thousand() -> None:
    """Without being asked, hits are counted up to 10,000."""
    sources: dict[str, dict[str, Any]] = {str(number): {} for number in range(10_001)}
    result = search(sources, ALL | {"size": 1})
    assert (result.total, result.relation) == (10_000, "gte")
    assert search(sources, ALL | {"track_total_hits": True}).total == 10_001


def test_scores_order_hits_and_ties_keep_the_order_of_writing() -> None:
    """The best come first; of equal ones those that were written first."""
    sources = {"a": {"input": "x"}, "b": {"input": "x x"}, "c": {"input": "x"}}
    assert ids(search(sources, {"query": {"term": {"input": "x"}}})) == ["b", "a", "c"]


def test_min_score_and_post_filter_leave_hits_out() -> None:
    """A least score and a filter behind the query leave hits out, of the total too."""
    query = {"query": {"bool": {"should": [{"match_all": {}}, {"exists": {"field": "origin"}}]}}}
    assert ids(search(MESSAGE, query | {"min_score": 1.5})) == ["1", "2"]
    result = search(MESSAGE, query | {"post_filter": {"term": {"memory_id": "m2"}}})
    assert (ids(result), result.total) == (["3", "4"], 2)


def test_terminate_after_ends_early() -> None:
    """A search ends after so many hits in the order of writing, and says so."""
    result = search(MESSAGE, ALL | {"terminate_after": 2})
    assert (ids(result), result.total, result.terminated_early) == (["1", "2"], 2, True)
    assert search(MESSAGE, ALL | {"terminate_after": 9}).terminated_early is False
    assert search(MESSAGE, ALL).terminated_early is None


@pytest.mark.parametrize(
    ("sort", "expected", "values"),
    [
        ("create_time", "1234", [1706774400000]),
        (["create_time"], "1234", [1706774400000]),
        ([{"create_time": "desc"}], "4321", [1707033600000]),
        ({"create_time": {"order": "desc"}}, "4321", [1707033600000]),
        ([{"create_time": {"order": "asc", "format": "yyyy-MM-dd"}}], "1234", ["2024-02-01"]),
        ([{"trace_number": "asc"}], "2341", [1]),
        ([{"trace_number": "desc"}], "4321", [10]),
        ([{"trace_number": {"order": "asc", "missing": "_first"}}], "1234", [-LAST - 1]),
        ([{"trace_number": {"order": "desc", "missing": "_first"}}], "1432", [LAST]),
        ([{"trace_number": {"order": "asc", "missing": 5}}], "2314", [1]),
        ([{"memory_id": "desc"}, {"trace_number": "desc"}], "4321", ["m2", 10]),
        ([{"memory_id": "desc"}, "create_time"], "3412", ["m2", 1706947200000]),
        ([{"origin": {"order": "asc", "missing": "t"}}], "2341", ["slack"]),
        ([{"origin": {"order": "desc"}}], "1234", ["web"]),
        ("_doc", "1234", [0]),
        ([{"_id": "desc"}], "4321", ["4"]),
        ("_index", "1234", [".plugins-ml-memory-message"]),
        ([{"nope": {"unmapped_type": "long"}}, {"_id": "desc"}], "4321", [None, "4"]),
        ([{"_score": "asc"}], "1234", [1.0]),
        (["_score", {"create_time": "desc"}], "4321", [1.0, 1707033600000]),
        ([{"trace_number": {"mode": "max", "numeric_type": "long"}}], "2341", [1]),
    ],
)
def test_sort(sort: object, expected: str, values: list[Any]) -> None:
    """Hits are ordered by fields, what is missing stands last, and each hit tells what it was ordered by."""
    result = search(MESSAGE, ALL | {"sort": sort})
    assert ids(result) == list(expected)
    assert result.hits[0]["sort"] == values


@pytest.mark.parametrize(
    ("more", "best", "scored"),
    [
        ({"sort": "create_time"}, None, False),
        ({"sort": "create_time", "track_scores": True}, 1.0, True),
        ({"sort": ["create_time", "_score"]}, None, True),
        ({"sort": [{"_score": "asc"}, "create_time"]}, 1.0, True),
        ({"sort": "_score"}, 1.0, True),
        ({}, 1.0, True),
    ],
)
def test_scores_are_shown_where_they_order(more: dict[str, Any], best: float | None, *, scored: bool) -> None:
    """Ordered by something else, hits have no score unless it is asked for."""
    result = search(MESSAGE, ALL | more)
    assert result.max_score == best
    assert {hit["_score"] for hit in result.hits} == ({1.0} if scored else {None})
    assert ("sort" in result.hits[0]) == (more.get("sort") not in (None, "_score"))


@pytest.mark.parametrize(
    ("sort", "after", "expected"),
    [
        ("create_time", [1706860800000], "34"),
        ("create_time", ["2024-02-02T08:00:00.000Z"], "34"),
        ([{"create_time": "desc"}], [1706860800000], "1"),
        ([{"trace_number": "asc"}], [2], "41"),
        ([{"trace_number": "asc"}], [10], "1"),
        ([{"trace_number": "asc"}], [LAST], ""),
        ([{"trace_number": "asc"}, "_id"], [LAST, "0"], "1"),
        ([{"memory_id": "desc"}, {"_id": "asc"}], ["m2", "3"], "412"),
        ([{"origin": "asc"}, {"_id": "asc"}], [None, "3"], "4"),
        ([{"_score": "asc"}, "_id"], [1.0, "2"], "34"),
    ],
)
def test_search_after(sort: object, after: list[Any], expected: str) -> None:
    """The next page starts behind the sort values of the last hit."""
    assert ids(search(MESSAGE, ALL | {"sort": sort, "search_after": after})) == list(expected)


def test_paging_by_search_after_shows_each_hit_once() -> None:
    """Page after page by the values that hits show, every hit comes once."""
    sources = {str(number): {"trace_number": number % 3 if number % 4 else None} for number in range(20)}
    body: dict[str, Any] = ALL | {"size": 3, "sort": [{"trace_number": "desc"}, {"_id": "asc"}]}
    seen: list[str] = []
    while hits := search(sources, body).hits:
        seen += [hit["_id"] for hit in hits]
        body["search_after"] = hits[-1]["sort"]
    assert len(seen) == 20
    assert seen == ids(search(sources, ALL | {"size": 20, "sort": body["sort"]}))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"sort": "name"}, "^Text fields are not optimised"),
        ({"sort": "additional_info.city"}, "flat_object"),
        ({"sort": "nope"}, r"^No mapping found for \[nope\] in order to sort on$"),
        ({"from": 9_999, "size": 2}, "^Result window is too large.*10001"),
        ({"docvalue_fields": ["name"]}, "name"),
        ({"fields": [{"field": "user", "format": "x"}]}, "doesn't support formats"),
    ],
)
def test_what_the_index_cannot_do_is_an_error_of_the_search(body: dict[str, Any], reason: str) -> None:
    """What reads well but cannot be done is reported as the original's failed search."""
    with pytest.raises(ShardError, match=reason) as caught:
        search(MEMORY, ALL | body, mapping=MEMORIES)
    error = caught.value.error()
    assert error["type"] == "search_phase_execution_exception"
    assert error["reason"] == "all shards failed"
    assert error["root_cause"] == [{"type": caught.value.root_cause_type, "reason": str(caught.value)}]


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        (True, {"create_time", "updated_time", "user", "name", "additional_info"}),
        (False, {"create_time", "updated_time", "user", "name", "additional_info"}),
        ("name", {"name"}),
        (["name", "user"], {"name", "user"}),
        ([], {"create_time", "updated_time", "user", "name", "additional_info"}),
        ("*_time", {"create_time", "updated_time"}),
        ({"includes": ["*_time", "name"], "excludes": "create*"}, {"updated_time", "name"}),
        ({"exclude": ["*"]}, set()),
        ("nope", set()),
    ],
)
def test_source(source: object, kept: set[str]) -> None:
    """The source shows what is included and not excluded; a boolean changes nothing."""
    hit = search(MEMORY, ALL | {"_source": source, "size": 1}, mapping=MEMORIES).hits[0]
    assert set(hit["_source"]) == kept


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("additional_info", {"city": "Berlin", "tags": ["a", "b"]}),
        ("additional_info.c*", {"city": "Berlin"}),
        ("*.city", {"city": "Berlin"}),
        ({"excludes": ["additional_info.city"]}, {"tags": ["a", "b"]}),
        ({"includes": ["additional_info"], "excludes": ["*.tags"]}, {"city": "Berlin"}),
    ],
)
def test_source_inside_objects(source: object, kept: dict[str, Any]) -> None:
    """A pattern reaches into objects, and what it includes is shown whole."""
    hit = search(MEMORY, ALL | {"_source": source, "size": 1}, mapping=MEMORIES).hits[0]
    assert hit["_source"]["additional_info"] == kept


def test_fields_beside_the_source() -> None:
    """Single fields are shown as lists, dates in the format that is asked for."""
    body = ALL | {
        "fields": [
            "name",
            "additional_info.tags",
            "additional_info",
            {"field": "create_time", "format": "yyyy"},
        ],
        "docvalue_fields": ["us*", "updated_time", {"field": "name*"}, "nope"],
        "stored_fields": "_none_",
    }
    hits = search(MEMORY, body, mapping=MEMORIES).hits
    assert hits[0]["fields"] == {
        "name": ["Conversation about NYC population"],
        "additional_info.tags": ["a", "b"],
        "additional_info": [{"city": "Berlin", "tags": ["a", "b"]}],
        "create_time": ["2024"],
        "user": ["alice"],
        "updated_time": ["2024-02-09T08:00:00.000Z"],
    }
    assert hits[3]["fields"] == {
        "create_time": ["2024"],
        "user": ["Alice"],
        "updated_time": ["2024-02-10T12:00:00.000Z"],
    }
    assert hits[0]["_source"] == MEMORY["1"]
    numbers = search(MESSAGE, ALL | {"fields": ["trace_number"]}).hits
    assert [hit.get("fields") for hit in numbers] == [None, *({"trace_number": [n]} for n in (1, 2, 10))]


def test_refusal_names_the_place() -> None:
    """An error about a clause tells line and column, from the bytes or from the request written again."""
    with pytest.raises(DslError) as caught:
        search(MESSAGE, {"query": {"bool": {"must": [{"foo": {"a": 1}}]}}})
    assert caught.value.error() == {
        "root_cause": [{"type": "parsing_exception", "reason": "unknown query [foo]", "line": 1, "col": 31}],
        "type": "parsing_exception",
        "reason": "unknown query [foo]",
        "line": 1,
        "col": 31,
        "caused_by": {"type": "named_object_not_found_exception", "reason": "[1:31] unknown field [foo]"},
    }
    assert caught.value.envelope()["status"] == 400
