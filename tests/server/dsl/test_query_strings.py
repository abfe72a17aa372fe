"""Queries that are written in a language of their own."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.dsl.searching import MESSAGE, found, ids, search

from hitherto.server.dsl.errors import DslError

STRICT: list[tuple[str, dict[str, Any], str]] = [
    ("quick AND brown", {}, "23"),
    ("quick brown", {"default_field": "input"}, "23"),
    ("quick interaction", {"default_field": "input"}, "123"),
    ("quick jumps", {"default_field": "input", "default_operator": "and"}, "2"),
    ("quick OR jumps", {"default_field": "input", "default_operator": "and"}, "23"),
    ("quick -jumps", {"default_field": "input"}, "3"),
    ("quick NOT jumps", {"default_field": "input"}, "3"),
    ("quick !jumps", {"default_field": "input"}, "3"),
    ("quick && jumps || interaction", {"default_field": "input"}, "2"),
    ("+quick jumps", {"default_field": "input"}, "23"),
    ("+jumps interaction", {"fields": ["input", "response"]}, "2"),
    ("-jumps quick interaction", {"fields": ["input", "response"]}, "13"),
    ("quick AND dog interaction", {"fields": ["input", "response"]}, "2"),
    ("jumps interaction AND ask", {"fields": ["input", "response"]}, "1"),
    ("in\\*:jumps interaction", {"fields": ["input", "response"]}, "12"),
    ("NOT quick", {"default_field": "input"}, "14"),
    ("input:(quick OR interaction)", {}, "123"),
    ("input:(+quick -jumps) OR response:ask", {}, "13"),
    ('"quick brown"', {}, "2"),
    ('"brown quick"~2', {"default_field": "input"}, "23"),
    ('"brown quick"', {"default_field": "input", "phrase_slop": 2}, "23"),
    ('input:"brown quick"~1', {}, "3"),
    ("qui*", {}, "23"),
    ("input:QUI*", {}, "23"),
    ("input:Q?ICK", {}, "23"),
    ("*uic*", {}, "23"),
    ("quikc~", {}, "23"),
    ("quikc~1", {"default_field": "input", "fuzzy_transpositions": False}, ""),
    ("input:quikc~0", {}, ""),
    ("/qu.*k/", {}, "23"),
    ("origin:/w.b/", {}, "1"),
    ("trace_number:[1 TO 2]", {}, "23"),
    ("trace_number:{1 TO 10]", {}, "34"),
    ("trace_number:[2 TO *]", {}, "34"),
    ("trace_number:[* TO *]", {}, "234"),
    ("trace_number:>1", {}, "34"),
    ("trace_number:>=2 AND memory_id:m2", {}, "34"),
    ("trace_number:<2", {}, "2"),
    ("trace_number:<=\"2\"", {}, "23"),
    ("create_time:[2024-02-02 TO 2024-02-03]", {}, "23"),
    ('create_time:["2024-02-03T08:00:00.000Z" TO *]', {}, "34"),
    ("create_time:[2024-02-02 TO 2024-02-02]", {"time_zone": "+12:00"}, "2"),
    ("[web TO zzz]", {}, "1"),
    ("origin:{slack TO web}", {}, ""),
    ("_exists_:origin", {}, "12"),
    ("origin:*", {}, "12"),
    ("*", {}, "1234"),
    ("*:*", {}, "1234"),
    ("", {}, ""),
    ("  ", {}, ""),
    ("in\\*:fox", {}, "23"),
    ("web", {"fields": ["input", "origin"]}, "1"),
    ("quick dog", {"fields": ["input", "resp*"], "default_operator": "AND"}, ""),
    ("quick AND dog", {"fields": ["input", "response"]}, "2"),
    ("lazy dog", {"fields": ["input", "response"], "type": "phrase"}, "2"),
    ("fox jumps interaction", {"default_field": "input", "minimum_should_match": 2}, "2"),
    ("quick^2 dog^0.5", {"fields": ["input", "response"]}, "234"),
    ("(quick dog)^2", {"default_field": "response"}, "234"),
    ("input:(", {"escape": True}, ""),
    ("how\\?", {"default_field": "input"}, "1"),
    ("interaction\\?", {}, "1"),
    ("memory_id:m1 AND (origin:web OR trace_number:1)", {}, "12"),
    ("don't", {"default_field": "input"}, ""),
    ("AND1", {"default_field": "input"}, ""),
    ("abc", {"default_field": "create_time", "lenient": True}, ""),
    ("quick", {"fields": ["input"], "analyze_wildcard": True, "rewrite": "constant_score"}, "23"),
]  # fmt: skip

REFUSED = [
    "(unclosed", "closed)", "quick AND", "OR quick", "NOT", "input:", "in*:fox", 'an "unclosed', "a:b:c", "[1 TO 2",
    "trace_number:>", "a^", "/unclosed", "x:/a(/", "~", "^2", "quick \\", "+-a",
    "(" * 60 + "a" + ")" * 60, "a^99999999999999999999999999999999999999999999",
]  # fmt: skip

SIMPLE: list[tuple[str, dict[str, Any], str]] = [
    ("quick + jumps", {}, "2"),
    ("quick | interaction", {}, "123"),
    ("quick jumps", {"default_operator": "and"}, "2"),
    ("fox jumps interaction", {"minimum_should_match": 2}, "2"),
    ('"quick brown"', {}, "2"),
    ('"brown quick"~2', {}, "23"),
    ('"brown quick"~', {}, "3"),
    ("qui*", {}, "23"),
    ("QUI*", {}, "23"),
    ("quikc~1", {}, "23"),
    ("quikc~", {}, "23"),
    ("quick~0", {}, "23"),
    ("quick~x", {}, "23"),
    ("-quick", {}, "14"),
    ("--quick", {}, "23"),
    ("- quick", {}, "23"),
    ("quick -jumps", {"default_operator": "and"}, "3"),
    ("(quick | interaction) + how", {}, "1"),
    ("quick (brown", {}, "23"),
    ("quick brown) how", {}, "123"),
    ('quick "brown', {}, "23"),
    ("() quick", {}, "23"),
    ('"" quick', {}, "23"),
    ("quick \\", {}, "23"),
    ("qui\\*", {}, ""),
    ("qu\\(ick", {}, ""),
    ("*", {}, "1234"),
    ("", {}, ""),
    (" | + ", {}, ""),
    ("qui*", {"flags": "NONE"}, ""),
    ("quick + jumps", {"flags": "OR|WHITESPACE"}, "23"),
    ("~", {}, ""),
    ("how + (do | (you + me)) + make", {}, "1"),
    ("web", {"fields": []}, "1"),
    ("web", {"fields": ["*"]}, "1"),
]


@pytest.mark.parametrize(("text", "more", "expected"), STRICT)
def test_query_string_finds(text: str, more: dict[str, Any], expected: str) -> None:
    """A text of Lucene's query language finds what it says."""
    assert found(MESSAGE, {"query_string": {"query": text, **more}}) == set(expected)


@pytest.mark.parametrize("text", REFUSED)
def test_malformed_query_string_is_refused(text: str) -> None:
    """A text that does not follow the language is refused."""
    with pytest.raises(DslError) as caught:
        found(MESSAGE, {"query_string": {"query": text}})
    assert caught.value.status == 400


@pytest.mark.parametrize("text", ["trace_number:x", "create_time:x*", "trace_number:[a TO b]"])
def test_values_must_fit_fields_that_are_named(text: str) -> None:
    """A value that does not fit is refused, unless all fields are asked or that is to be overlooked."""
    assert found(MESSAGE, {"query_string": {"query": text}}) == set()
    assert found(MESSAGE, {"query_string": {"query": text, "fields": ["input"], "lenient": True}}) == set()
    with pytest.raises(DslError):
        found(MESSAGE, {"query_string": {"query": text, "fields": ["input"]}})


def test_leading_wildcard_can_be_forbidden() -> None:
    """A pattern that starts with a wildcard is refused where that is asked for."""
    with pytest.raises(DslError, match="not allowed as first character"):
        found(MESSAGE, {"query_string": {"query": "*uick", "allow_leading_wildcard": False}})


def test_default_field_and_fields_exclude_each_other() -> None:
    """A field and fields at once are refused."""
    with pytest.raises(DslError, match="default_field"):
        found(MESSAGE, {"query_string": {"query": "a", "default_field": "input", "fields": ["input"]}})


@pytest.mark.parametrize(("text", "more", "expected"), SIMPLE)
def test_simple_query_string_finds(text: str, more: dict[str, Any], expected: str) -> None:
    """A text of the simple language finds what it says, and nothing in it is an error."""
    query = {"simple_query_string": {"query": text, "fields": ["input"], **more}}
    assert found(MESSAGE, query) == set(expected)


def test_simple_query_string_is_bounded() -> None:
    """Parentheses are followed to some depth only, and alternating operators too."""
    for text in ("(" * 60 + "a" + ")" * 60, "a + b | c " * 60):
        with pytest.raises(DslError, match="nested"):
            found(MESSAGE, {"simple_query_string": {"query": text}})


def test_unknown_flags_are_refused() -> None:
    """A flag that there is not is refused by name."""
    with pytest.raises(DslError, match="BANG"):
        found(MESSAGE, {"simple_query_string": {"query": "a", "flags": "OR|BANG"}})


def test_simple_query_string_adds_the_fields() -> None:
    """A word that two fields have counts in both."""
    query = {"simple_query_string": {"query": "quick", "fields": ["input", "response"]}}
    assert ids(search(MESSAGE, {"query": query}))[0] == "3"
