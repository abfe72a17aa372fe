"""The metadata filter language."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hitherto.errors import InvalidFilterError
from hitherto.filters import json_equal, parse_filter


def matches(wanted: dict[str, Any], metadata: dict[str, Any] | None) -> bool:
    """Parse a filter and apply it."""
    parsed = parse_filter(wanted)
    assert parsed is not None
    return parsed.matches(metadata)


@pytest.mark.parametrize(
    ("wanted", "yes", "no"),
    [
        ({"a": 1}, [{"a": 1}, {"a": 1.0}], [{"a": "1"}, {"a": True}, {"a": [1]}, {}, None]),
        ({"a": True}, [{"a": True}], [{"a": 1}, {"a": "true"}, {"a": False}]),
        ({"a": 0}, [{"a": 0}, {"a": -0.0}], [{"a": False}, {"a": None}, {"a": ""}]),
        ({"a": None}, [{"a": None}], [{}, None, {"a": 0}]),
        ({"a": "x"}, [{"a": "x", "b": 1}], [{"a": "X"}, {"a": " x"}, {"A": "x"}]),
        ({"a": 1, "b": 2}, [{"a": 1, "b": 2}], [{"a": 1}, {"b": 2}]),
        ({"a": [1, "x"]}, [{"a": [1.0, "x"]}], [{"a": ["x", 1]}, {"a": [1]}, {"a": [1, "x", None]}]),
        ({"a": [{"k": 1}]}, [{"a": [{"k": 1}]}], [{"a": [{"k": 1, "l": 2}]}, {"a": [{}]}]),
        ({"a": {"b": 1}}, [{"a": {"b": 1, "c": 2}}], [{"a": 1}, {"a": {"b": 2}}, {"a": [{"b": 1}]}]),
        ({"a": {}}, [{"a": {}}, {"a": {"b": 1}}], [{"a": []}, {"a": None}, {}]),
        ({}, [{}, None, {"a": 1}], []),
        ({"a.b": 1}, [{"a.b": 1}], [{"a": {"b": 1}}]),
        ({"": "x"}, [{"": "x"}], [{}]),
        ({"a": {"$not": 1}}, [{}, None, {"a": 2}, {"a": True}], [{"a": 1}, {"a": 1.0}]),
        ({"a": {"$not": {"$not": 1}}}, [{"a": 1}], [{}, {"a": 2}]),
        ({"a": {"$not": {"b": 1}}}, [{}, {"a": 1}, {"a": {}}], [{"a": {"b": 1, "c": 1}}]),
        ({"a": {"b": {"$not": 1}}}, [{"a": {}}, {"a": {"b": 2}}], [{}, {"a": 1}, {"a": {"b": 1}}]),
        ({"a": {"$array_contains": 1}}, [{"a": [2, 1.0]}], [{"a": 1}, {"a": [True]}, {"a": []}, {}]),
        ({"a": {"$array_contains": [1, "x"]}}, [{"a": ["x", 0, 1]}], [{"a": [1]}, {"a": [[1, "x"]]}]),
        ({"a": {"$array_contains": None}}, [{"a": [None]}], [{"a": [0]}, {"a": None}]),
        ({"a": {"$array_contains_any": [1, "x"]}}, [{"a": ["x"]}, {"a": [1, 2]}], [{"a": ["y"]}, {"a": "x"}]),
        ({"a": {"$array_contains": 1, "$not": [1]}}, [{"a": [1, 2]}], [{"a": [1]}, {"a": [2]}]),
        ({"$agent_memory": {"revision": 2}}, [{"$agent_memory": {"revision": 2}}], [{}]),
    ],
    ids=str,
)
def test_what_a_filter_lets_through(
    wanted: dict[str, Any], yes: list[dict[str, Any] | None], no: list[dict[str, Any] | None]
) -> None:
    """Each form of filter matches exactly the metadata that its rule names."""
    assert [metadata for metadata in yes if not matches(wanted, metadata)] == []
    assert [metadata for metadata in no if matches(wanted, metadata)] == []


@pytest.mark.parametrize(
    ("wanted", "place"),
    [
        ({"a": {"$gt": 1}}, r"metadata_filter\['a'\] has the unknown operator '\$gt'"),
        ({"$and": []}, r"metadata_filter has the unknown operator '\$and'"),
        ({"$not": {"a": 1}}, r"unknown operator '\$not'"),
        ({"a": {"b": {"$in": [1]}}}, r"metadata_filter\['a'\]\['b'\]"),
        ({"a": {"$not": 1, "b": 2}}, r"mixes operators with the key 'b'"),
        ({"a": {"$array_contains": []}}, r"\['\$array_contains'\] must not be an empty list"),
        ({"a": {"$array_contains": {"b": 1}}}, r"takes strings, numbers"),
        ({"a": {"$array_contains": [[1]]}}, r"takes strings, numbers"),
        ({"a": {"$array_contains_any": 1}}, r"must be a non-empty list"),
        ({"a": {"$array_contains_any": []}}, r"must not be an empty list"),
        ({"a": (1,)}, r"metadata_filter\['a'\] must be a JSON value"),
        ({"a": {1, 2}}, r"JSON value"),
        ({"a": b"x"}, r"JSON value"),
        ({"a": float("nan")}, r"JSON value"),
        ({"a": [float("inf")]}, r"JSON value"),
        ({"a": np.float64(1.0)}, r"JSON value"),
        ({"a": np.array([1])}, r"JSON value"),
        ({1: "x"}, r"strings as keys"),
        ({"a": {1: "x"}}, r"strings as keys"),
        ({"a": [{1: "x"}]}, r"strings as keys"),
        ({"a": {"b": "\ud800"}}, r"\['a'\]\['b'\] must not hold NUL or a lone surrogate, got '\\ud800'"),
        ({"a": {"$array_contains": "\0"}}, r"must not hold NUL"),
        ({"\udfff": 1}, r"metadata_filter must not hold NUL or a lone surrogate"),
        ({"a": [{"\0": 1}]}, r"\['a'\] must not hold NUL"),
        ([("a", 1)], r"must be a dict or None"),
        ("a", r"must be a dict or None"),
    ],
    ids=str,
)
def test_a_malformed_filter_is_refused_at_its_place(wanted: Any, place: str) -> None:
    """An unknown or misused operator, or a value that is not JSON, is named with where it stands."""
    with pytest.raises(InvalidFilterError, match=place) as caught:
        parse_filter(wanted)
    assert caught.value.argument == "metadata_filter"


def test_deep_filters_are_refused_before_the_stack_is() -> None:
    """Nesting beyond 64 levels is an InvalidFilterError, in fields, lists and operators."""
    for inner in (lambda deep: {"a": deep}, lambda deep: [deep], lambda deep: {"$not": deep}):
        deep: Any = 1
        for _ in range(5000):
            deep = inner(deep)
        with pytest.raises(InvalidFilterError, match="deeper than 64"):
            parse_filter({"a": deep})


def test_none_is_no_filter() -> None:
    """None is not a filter that matches everything or nothing, but none at all."""
    assert parse_filter(None) is None


def test_a_parsed_filter_is_of_its_own() -> None:
    """Changing the dict afterwards changes nothing, and equal filters are equal."""
    given = {"a": [1]}
    parsed = parse_filter(given)
    given["a"].append(2)
    assert parsed == parse_filter({"a": [1]})
    assert parsed is not None
    assert parsed.matches({"a": [1]})


def test_large_numbers_are_compared_exactly() -> None:
    """Integers beyond 64 bits or beyond a float's precision are themselves."""
    assert matches({"a": 10**20}, {"a": 10**20})
    assert not matches({"a": 2**53 + 1}, {"a": 2**53})
    assert not matches({"a": 2**53 + 1}, {"a": float(2**53)})


def test_json_equality() -> None:
    """1 equals 1.0 at any depth; a bool equals only a bool; order counts in lists, not in objects."""
    assert json_equal({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]})
    assert json_equal({"a": 1, "b": 2}, {"b": 2, "a": 1})
    for left, right in ((1, True), (0, False), ("1", 1), (None, 0), ([], {}), ([1], [1, 2]), ({"a": 1}, {})):
        assert not json_equal(left, right)
        assert not json_equal(right, left)
