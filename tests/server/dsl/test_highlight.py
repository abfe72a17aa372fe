"""Marks in the texts of hits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.server.dsl.searching import search

from hitherto.server.dsl.errors import DslError

LONG = (
    "The first sentence is about foxes. A fox is quick. " + "Nothing here is of interest to anybody at all. " * 3
    + "But here a quick fox jumps! And this closes the text."
)  # fmt: skip
SOURCES = {
    "1": {"input": "the quick brown fox <b>", "response": "Fox & fox.", "origin": "fox"},
    "2": {"input": LONG},
}


def _marked(query: dict[str, Any], highlight: dict[str, Any], id: str = "1") -> Any:
    hits = search(SOURCES, {"query": query, "highlight": highlight}).hits
    return next(hit.get("highlight") for hit in hits if hit["_id"] == id)


FOX: dict[str, Any] = {"match": {"input": "fox"}}
BOTH: dict[str, Any] = {"multi_match": {"query": "fox", "fields": ["input", "response"]}}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (FOX, "the quick brown <em>fox</em> <b>"),
        ({"term": {"input": "quick"}}, "the <em>quick</em> brown fox <b>"),
        (
            {"term": {"input": {"value": "QUICK", "case_insensitive": True}}},
            "the <em>quick</em> brown fox <b>",
        ),
        ({"terms": {"input": ["quick", "the"]}}, "<em>the</em> <em>quick</em> brown fox <b>"),
        ({"prefix": {"input": "br"}}, "the quick <em>brown</em> fox <b>"),
        (
            {"prefix": {"input": {"value": "BR", "case_insensitive": True}}},
            "the quick <em>brown</em> fox <b>",
        ),
        ({"wildcard": {"input": "*o*"}}, "the quick <em>brown</em> <em>fox</em> <b>"),
        ({"regexp": {"input": "f.x"}}, "the quick brown <em>fox</em> <b>"),
        ({"fuzzy": {"input": "foxy"}}, "the quick brown <em>fox</em> <b>"),
        ({"match": {"input": {"query": "foxy", "fuzziness": 1}}}, "the quick brown <em>fox</em> <b>"),
        ({"match_phrase": {"input": "quick brown"}}, "the <em>quick</em> <em>brown</em> fox <b>"),
        (
            {"match_phrase": {"input": {"query": "fox quick", "slop": 5}}},
            "the <em>quick</em> brown <em>fox</em> <b>",
        ),
        ({"match_phrase_prefix": {"input": "brown f"}}, "the quick <em>brown</em> <em>fox</em> <b>"),
        ({"match_bool_prefix": {"input": "the f"}}, "<em>the</em> quick brown <em>fox</em> <b>"),
        ({"query_string": {"query": "input:(fox -slow)"}}, "the quick brown <em>fox</em> <b>"),
        (BOTH, "the quick brown <em>fox</em> <b>"),
        (
            {"multi_match": {"query": "brown fox", "fields": ["input"], "type": "phrase"}},
            "the quick <em>brown</em> <em>fox</em> <b>",
        ),
        (
            {"bool": {"filter": [FOX], "must_not": [{"term": {"input": "slow"}}]}},
            "the quick brown <em>fox</em> <b>",
        ),
        (
            {"boosting": {"positive": FOX, "negative": {"term": {"input": "quick"}}, "negative_boost": 0.5}},
            "the quick brown <em>fox</em> <b>",
        ),
    ],
)
def test_what_was_found_is_marked(query: dict[str, Any], expected: str) -> None:
    """Each word that a clause found is marked, and none that a clause excludes."""
    assert _marked(query, {"fields": {"input": {}}}) == {"input": [expected]}


def test_phrases_are_marked_only_where_they_stand() -> None:
    """A word of a phrase is not marked where the phrase does not stand."""
    query = {"bool": {"should": [{"match_all": {}}, {"match_phrase": {"input": "brown quick"}}]}}
    assert _marked(query, {"fields": {"input": {}}}) is None
    query["bool"]["should"][1] = {"match_phrase": {"input": {"query": "fox the", "slop": 1}}}
    assert _marked(query, {"fields": {"input": {}}}) is None


def test_styles() -> None:
    """Tags and encoding can be chosen, for all fields or one."""
    highlight = {
        "pre_tags": ["["],
        "post_tags": ["]"],
        "encoder": "html",
        "fields": [{"input": {}}, {"response": {"pre_tags": "<<", "post_tags": [">>"]}}],
    }
    assert _marked(BOTH, highlight) == {
        "input": ["the quick brown [fox] &lt;b&gt;"],
        "response": ["<<Fox>> &amp; <<fox>>."],
    }
    styled = _marked(FOX, {"fields": {"input": {}}, "tags_schema": "styled"})
    assert styled == {"input": ['the quick brown <em class="hlt1">fox</em> <b>']}


def test_only_words_of_the_own_field_are_marked_unless_asked() -> None:
    """A field is marked with what was asked in it, or with what was asked anywhere."""
    fields: dict[str, Any] = {"*": {"require_field_match": False}}
    assert _marked(FOX, {"fields": {"*": {}}}) == {"input": ["the quick brown <em>fox</em> <b>"]}
    assert set(_marked(FOX, {"fields": fields})) == {"input", "response", "origin"}
    assert _marked({"term": {"origin": "fox"}}, {"fields": {"origin": {}}}) == {"origin": ["<em>fox</em>"]}


def test_another_query_can_be_marked() -> None:
    """A query for the marks alone replaces the search's."""
    highlight = {"fields": {"input": {"highlight_query": {"match": {"input": "quick"}}}}}
    assert _marked(FOX, highlight) == {"input": ["the <em>quick</em> brown fox <b>"]}


def test_fragments_are_sentences() -> None:
    """A long text is cut into sentences, together where they are short, in the order of the text."""
    assert _marked(FOX, {"fields": {"input": {}}}, "2") == {
        "input": [
            "A <em>fox</em> is quick. Nothing here is of interest to anybody at all.",
            "But here a quick <em>fox</em> jumps! And this closes the text.",
        ]
    }
    short = {"fields": {"input": {"fragment_size": 30, "number_of_fragments": 1, "order": "score"}}}
    assert _marked({"match": {"input": "quick fox jumps"}}, short, "2") == {
        "input": ["But here a <em>quick</em> <em>fox</em> <em>jumps</em>!"]
    }


def test_a_sentence_that_is_too_long_is_cut_behind_a_word() -> None:
    """A fragment of one endless sentence ends behind a word."""
    sources = {"1": {"input": "fox " + "word " * 100}}
    hit = search(sources, {"query": FOX, "highlight": {"fields": {"input": {"fragment_size": 18}}}}).hits[0]
    assert hit["highlight"] == {"input": ["<em>fox</em> word word word"]}


def test_the_whole_text_is_marked_on_demand() -> None:
    """Without fragments the whole text is shown."""
    highlight = {"fields": {"input": {"number_of_fragments": 0}}}
    (text,) = _marked(FOX, highlight, "2")["input"]
    assert text.replace("<em>", "").replace("</em>", "") == LONG


def test_a_text_without_marks_can_be_shown() -> None:
    """A text without found words is left out, or its beginning is shown."""
    query = {"match": {"response": "fox"}}
    assert "input" not in _marked(query, {"fields": {"input": {}, "response": {}}})
    shown = _marked(query, {"fields": {"input": {"no_match_size": 5}}})
    assert shown == {"input": ["the quick"]}


@pytest.mark.parametrize(
    ("highlight", "reason"),
    [
        ({"fields": {"input": {"foo": 1}}}, "foo"),
        ({"fields": "input"}, "fields"),
        ({"type": "magic", "fields": {}}, "magic"),
        ({"fields": {"input": {"pre_tags": 5}}}, "pre_tags"),
        ({"fields": {"input": {"highlight_query": {"foo": {}}}}}, "foo"),
        ({"fields": {}, "number_of_fragments": -1}, "number_of_fragments"),
        ([], "highlight"),
    ],
)
def test_malformed_highlighting_is_refused(highlight: object, reason: str) -> None:
    """What is unknown or of the wrong type is refused by name."""
    with pytest.raises(DslError, match=reason):
        search(SOURCES, {"query": FOX, "highlight": highlight})
