"""Marks what was found in a hit's texts, cut into fragments of whole sentences where they are short enough."""

from __future__ import annotations

import bisect
import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.analysis import standard
from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.errors import PARSING, DslError
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.marks import Mark, marks_of
from hitherto.server.dsl.parameters import Parameters
from hitherto.server.dsl.parse import QueryParser
from hitherto.server.dsl.patience import paced
from hitherto.server.dsl.plans import Plan

_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_WORD_END: Final = re.compile(r"\W|\Z")
_STYLED: Final = '<em class="hlt1">'
_WITHOUT_EFFECT: Final = (
    "boundary_chars", "boundary_max_scan", "boundary_scanner", "boundary_scanner_locale", "force_source",
    "fragment_offset", "fragmenter", "matched_fields", "max_analyzer_offset", "max_analyzed_offset", "options",
    "phrase_limit", "highlight_filter",
)  # fmt: skip

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Style:
    """How a field is marked.

    Attributes:
        before: What stands before a found word; of several only the first counts.
        after: What stands behind it.
        size: About how long a fragment is.
        count: How many fragments are shown; 0 for the whole text.
        own_field_only: Whether only words count that were asked in this field.
        shown_without: How much of a text without found words is shown.
        best_first: Whether fragments are ordered by what they hold.
        escaped: Whether the text is escaped for HTML.
        query: What is marked instead of the search's query, or None.
    """

    before: str = "<em>"
    after: str = "</em>"
    size: int = 100
    count: int = 5
    own_field_only: bool = True
    shown_without: int = 0
    best_first: bool = False
    escaped: bool = False
    query: tree.Clause | None = None


@dataclass(frozen=True, slots=True)
class Highlight:
    """The fields whose texts are marked.

    Attributes:
        fields: Names or patterns, each with its style.
    """

    fields: tuple[tuple[str, Style], ...]


def read_highlight(value: object, parser: QueryParser) -> Highlight:
    """Read ``highlight``.

    Args:
        value: An object.
        parser: Reads ``highlight_query``.

    Returns:
        The request.

    Raises:
        DslError: If it is malformed.
    """
    given = Parameters("highlight", value)
    items = given.take("fields", {})
    pairs = [pair for item in (items if isinstance(items, list) else [items]) for pair in _pairs(item)]
    common = _style(given, Style(), parser)
    given.done()
    found = []
    for name, how in pairs:
        inner = Parameters("highlight", how)
        found.append((name, _style(inner, common, parser)))
        inner.done()
    return Highlight(tuple(found))


def _pairs(item: object) -> list[tuple[str, object]]:
    if not isinstance(item, Mapping):
        raise DslError(f"[highlight] [fields] must be an object, got {shown(item)}", type=PARSING)
    return [(str(name), how) for name, how in item.items()]


def _style(given: Parameters, common: Style, parser: QueryParser) -> Style:
    kind = given.take("type", "unified")
    if kind not in {"unified", "plain", "fvh"}:
        raise DslError(
            f"unknown highlighter type [{shown(kind)}] for the field; known are unified, plain and fvh"
        )
    for key in _WITHOUT_EFFECT:
        given.take(key)
    styled = given.choice("tags_schema", "default", ("default", "styled")) == "styled"
    asked = given.take("highlight_query")
    return Style(
        before=_tag(given, "pre_tags", _STYLED if styled else common.before),
        after=_tag(given, "post_tags", common.after),
        size=given.integer("fragment_size", common.size),
        count=given.integer("number_of_fragments", common.count),
        own_field_only=given.boolean("require_field_match", default=common.own_field_only),
        shown_without=given.integer("no_match_size", common.shown_without),
        best_first=given.choice("order", "score" if common.best_first else "none", ("score", "none"))
        == "score",
        escaped=given.choice("encoder", "html" if common.escaped else "default", ("default", "html"))
        == "html",
        query=common.query if asked is None else parser.clause(asked),
    )


def _tag(given: Parameters, key: str, default: str) -> str:
    value = given.take(key)
    tags = [value] if isinstance(value, str) else value
    if tags is None:
        return default
    if not isinstance(tags, list) or not tags or not all(isinstance(tag, str) for tag in tags):
        raise given.wrong(key, value, "a list of texts")
    return str(tags[0])


class Highlighter:
    """Marks the hits of one search.

    Args:
        highlight: The request.
        query: The query.
        plan: The plan of the search.
    """

    def __init__(self, highlight: Highlight, query: tree.Clause, plan: Plan) -> None:
        marks = list(marks_of(query, plan))
        self._fields: list[tuple[str, Kind, Style, list[Mark]]] = []
        for pattern, style in highlight.fields:
            those = marks if style.query is None else list(marks_of(style.query, plan))
            for name in plan.mapping.matching(pattern):
                kind = plan.mapping.kind(name)
                if kind in {Kind.TEXT, Kind.KEYWORD}:
                    wanted = [mark for mark in those if mark.field == name or not style.own_field_only]
                    self._fields.append((name, kind, style, wanted))

    def fragments(self, document: Document) -> dict[str, list[str]]:
        """Return the marked fragments of a document.

        Args:
            document: The document.

        Returns:
            For each field in which something was found its fragments.
        """
        return {
            name: fragments
            for name, kind, style, marks in self._fields
            if (fragments := _fragments(document, name, kind, style, marks))
        }


def _fragments(document: Document, name: str, kind: Kind, style: Style, marks: Sequence[Mark]) -> list[str]:
    if kind is Kind.KEYWORD:
        text = next(iter(document.exact(name)), "")
        spans = [(0, len(text))] if text and any(mark.test(text) for mark in marks) else []
    else:
        text = document.text(name)
        spans = _spans(text, marks)
    if not spans:
        return [_cut(text, style)] if text and style.shown_without and style.count else []
    if style.count == 0 or kind is Kind.KEYWORD:
        return [_marked(text, 0, len(text), spans, style)]
    passages = _passages(text, spans, style.size)
    best = sorted(passages, key=lambda passage: -len(passage[1]))[: style.count]
    ordered = best if style.best_first else sorted(best)
    return [_marked(text, *where, those, style).strip() for where, those in ordered]


def _spans(text: str, marks: Sequence[Mark]) -> list[Span]:
    tokens = list(paced(standard(text)))
    terms = [token.term for token in tokens]
    places: set[int] = set()
    for mark in marks:
        places |= mark.places(terms)
    return [(tokens[place].start, tokens[place].end) for place in sorted(places)]


def _passages(text: str, spans: Sequence[Span], size: int) -> list[tuple[Span, list[Span]]]:
    """Group found words by the passages that they stand in."""
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    passages: list[tuple[Span, list[Span]]] = []
    for span in paced(spans):
        if passages and span[1] <= passages[-1][0][1]:
            passages[-1][1].append(span)
            continue
        least = passages[-1][0][1] if passages else 0
        place = bisect.bisect_right(ends, span[0])
        start = max(ends[place - 1] if place else 0, least)
        passages.append(((start, _end(text, start, span, ends, size)), [span]))
    return passages


def _end(text: str, start: int, span: Span, ends: Sequence[int], size: int) -> int:
    """Return where a passage ends: behind as many sentences as fit, or else behind a word."""
    while True:
        place = bisect.bisect_right(ends, start + size)
        last = len(text) if len(text) <= start + size else ends[place - 1] if place else 0
        if last <= start:
            break
        if last >= span[1]:
            return last
        start = last
    cut = _WORD_END.search(text, max(min(start + size, len(text)), span[1]))
    return cut.start() if cut is not None else len(text)


def _marked(text: str, start: int, end: int, spans: Sequence[Span], style: Style) -> str:
    write: Callable[[str], str] = html.escape if style.escaped else str
    pieces, at = [], start
    for first, last in spans:
        pieces += [write(text[at:first]), style.before, write(text[first:last]), style.after]
        at = last
    return "".join(pieces) + write(text[at:end])


def _cut(text: str, style: Style) -> str:
    end = _WORD_END.search(text, min(style.shown_without, len(text)))
    cut = text[: end.start() if end is not None else len(text)].strip()
    return html.escape(cut) if style.escaped else cut
