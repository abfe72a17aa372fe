"""Searches that go over their time end, also within one text or one word."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from tests.server.dsl.searching import NOW

from hitherto.server.dsl import patience, tree
from hitherto.server.dsl.automata import distance, wildcard
from hitherto.server.dsl.documents import CountedStatistics, Document
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.fields import MESSAGES, Kind
from hitherto.server.dsl.highlight import Style, _fragments
from hitherto.server.dsl.marks import Mark
from hitherto.server.dsl.parse_regexps import regular_expression
from hitherto.server.dsl.phrases import exact_frequency, sloppy_frequency
from hitherto.server.dsl.plans import Plan

LONG = "a" * 100_000
MANY = Document("1", {"input": "a b. " * 10_000})
PLACES = {"a": range(0, 100_000, 2), "b": range(1, 100_000, 2)}
A, AB = (lambda term: term == "a"), [["a"], ["b"]]


def marked(*marks: Mark) -> dict[str, Any]:
    """Mark a long text."""
    return {"found": _fragments(MANY, "input", Kind.TEXT, Style(), marks)}


def plan(*documents: Document) -> Plan:
    """Return the plan of a search of documents."""
    return Plan(MESSAGES, documents, CountedStatistics.of(documents, MESSAGES), "3.x", NOW)


def scored(clause: tree.Clause) -> Callable[[], object]:
    """Return the search of one document by a clause."""
    document = Document("1", {"additional_info": {str(n): "a" for n in range(10)}})
    return lambda: plan(document).scorer(clause)(document)


STEPS: dict[str, Callable[[], object]] = {
    "wildcard": lambda: wildcard("*" + "?" * 1000 + "b*")(LONG),
    "wildcards": lambda: wildcard("*a" * 1000)(LONG),
    "regexp": lambda: regular_expression("(a|b)*c").matches(LONG),
    "fuzzy": lambda: distance("bc" + LONG, "cb" + LONG, 2),
    "phrase": lambda: exact_frequency(PLACES, AB * 10),
    "near phrase": lambda: sloppy_frequency(PLACES, AB * 10, 3),
    "marked word": lambda: marked(Mark("input", (A,))),
    "marked phrase": lambda: marked(Mark("input", (A, A))),
    "marked near phrase": lambda: marked(Mark("input", (A, A), 2)),
    "vocabulary": lambda: plan(*[MANY] * 10).vocabulary("input"),
    "terms": scored(tree.Bool(should=(tree.Terms("additional_info", ("b",)),) * 10)),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_the_time_is_looked_at_within(monkeypatch: pytest.MonkeyPatch, step: Callable[[], object]) -> None:
    """What one text, one word or one clause costs does not go uncounted: the time is looked at in between."""
    ticks = count()
    monkeypatch.setattr(patience.time, "monotonic", lambda: float(next(ticks)))
    with patience.patience(5), pytest.raises(ShardError, match="takes too long"):
        step()


@pytest.mark.parametrize(
    ("pattern", "term", "fits"),
    [
        ("*" + "?" * 600 + "b*c", LONG + "bac", True),
        ("*" + "?" * 600 + "b*c", LONG + "ac", False),
        ("a*ab*a", "aba", False),
        ("a*a", "a", False),
        ("*?", "", False),
        ("*b*", LONG[:5000] + "b", True),
    ],
)
def test_a_long_word_is_searched_piece_by_piece(
    monkeypatch: pytest.MonkeyPatch, pattern: str, term: str, fits: bool
) -> None:
    """Where a run of characters stands across two pieces it is found, and no place is taken twice."""
    monkeypatch.setattr("hitherto.server.dsl.automata._STEPS", 7)
    assert wildcard(pattern)(term) is fits
