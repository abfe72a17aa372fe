"""The query as a tree of typed values, the same for both indices."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Operator: TypeAlias = Literal["or", "and"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """What every clause has.

    Attributes:
        boost: What its scores are multiplied by.
        name: What a hit lists among its ``matched_queries``, or None.
    """

    boost: float = 1.0
    name: str | None = None

    def children(self) -> Iterator[Clause]:
        """Yield the clauses inside this one."""
        for item_field in dataclasses.fields(self):
            value = getattr(self, item_field.name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Clause):
                    yield item

    def walk(self) -> Iterator[Clause]:
        """Yield this clause and all inside it."""
        yield self
        for child in self.children():
            yield from child.walk()

    def depth(self) -> int:
        """Return how many clauses stand inside each other at most."""
        depth, level = 0, [self]
        while level:
            depth += 1
            level = [child for clause in level for child in clause.children()]
        return depth


@dataclass(frozen=True, slots=True)
class MatchAll(Clause):
    """Every document."""


@dataclass(frozen=True, slots=True)
class MatchNone(Clause):
    """No document."""


@dataclass(frozen=True, slots=True)
class Term(Clause):
    """Documents whose field holds exactly this."""

    field: str
    value: Scalar
    case_insensitive: bool = False


@dataclass(frozen=True, slots=True)
class Terms(Clause):
    """Documents whose field holds one of these."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class TermsSet(Clause):
    """Documents whose field holds as many of these as a number field of theirs says."""

    field: str
    values: tuple[Scalar, ...]
    minimum_field: str


@dataclass(frozen=True, slots=True)
class Range(Clause):
    """Documents whose field lies between bounds."""

    field: str
    gt: Scalar | None = None
    gte: Scalar | None = None
    lt: Scalar | None = None
    lte: Scalar | None = None
    format: str | None = None
    time_zone: str | None = None
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Exists(Clause):
    """Documents that have a field; a pattern asks for any of those that it stands for."""

    field: str


@dataclass(frozen=True, slots=True)
class Ids(Clause):
    """Documents with one of these ids."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prefix(Clause):
    """Documents with a term that starts so."""

    field: str
    value: str
    case_insensitive: bool = False


@dataclass(frozen=True, slots=True)
class Wildcard(Clause):
    """Documents with a term like the pattern: ``*`` any characters, ``?`` one, a backslash before a plain one."""

    field: str
    value: str
    case_insensitive: bool = False


@dataclass(frozen=True, slots=True)
class Regexp(Clause):
    """Documents with a term that all of a regular expression fits."""

    field: str
    value: str
    flags: str = "ALL"
    case_insensitive: bool = False


@dataclass(frozen=True, slots=True)
class Fuzziness:
    """How far a term may be from what was asked, and which are tried.

    Attributes:
        edits: The distance, or None to let the word's length decide.
        low: From this length on one edit is allowed, if *edits* is None.
        high: From this length on two.
        prefix_length: How many characters must be the same.
        max_expansions: How many terms are tried.
        transpositions: Whether two characters that changed places are one edit.
    """

    edits: int | None = None
    low: int = 3
    high: int = 6
    prefix_length: int = 0
    max_expansions: int = 50
    transpositions: bool = True

    def distance(self, word: str) -> int:
        """Return how many edits are allowed for a word.

        Args:
            word: The word.
        """
        if self.edits is not None:
            return self.edits
        return 0 if len(word) < self.low else 1 if len(word) < self.high else 2


@dataclass(frozen=True, slots=True)
class Fuzzy(Clause):
    """Documents with a term near to this one."""

    field: str
    value: str
    fuzziness: Fuzziness = dataclasses.field(default_factory=Fuzziness)


@dataclass(frozen=True, slots=True)
class Matching:
    """How the words of a text are asked for.

    Attributes:
        operator: Whether one of the words must be found or all.
        minimum_should_match: How many of them, as a number, a share, or conditions.
        fuzziness: How far off a word may be, or None for not at all.
        analyzer: Another analyser than the field's, or None.
        all_if_no_words: Whether a text without words finds everything instead of nothing.
        lenient: Whether a value that does not fit the field finds nothing instead of failing.
    """

    operator: Operator = "or"
    minimum_should_match: str | None = None
    fuzziness: Fuzziness | None = None
    analyzer: str | None = None
    all_if_no_words: bool = False
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Match(Clause):
    """Documents with the words of a text."""

    field: str
    query: Scalar
    matching: Matching = dataclasses.field(default_factory=Matching)


@dataclass(frozen=True, slots=True)
class MatchPhrase(Clause):
    """Documents with the words of a text in order, at most *slop* places apart."""

    field: str
    query: Scalar
    slop: int = 0
    matching: Matching = dataclasses.field(default_factory=Matching)


@dataclass(frozen=True, slots=True)
class MatchPhrasePrefix(Clause):
    """As :class:`MatchPhrase`; the last word may go on."""

    field: str
    query: Scalar
    slop: int = 0
    max_expansions: int = 50
    matching: Matching = dataclasses.field(default_factory=Matching)


@dataclass(frozen=True, slots=True)
class MatchBoolPrefix(Clause):
    """As :class:`Match`; the last word may go on."""

    field: str
    query: Scalar
    matching: Matching = dataclasses.field(default_factory=Matching)


MultiMatchType: TypeAlias = Literal[
    "best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"
]


@dataclass(frozen=True, slots=True)
class MultiMatch(Clause):
    """A text asked in several fields.

    Attributes:
        query: The text.
        fields: Names or patterns with their boosts; empty for all fields.
        type: How the fields' scores are put together.
        tie_breaker: The share of the fields that are not best, or None for the type's.
        slop: For phrases.
        max_expansions: For the types with a prefix.
        matching: How the words are asked for.
    """

    query: Scalar
    fields: tuple[tuple[str, float], ...] = ()
    type: MultiMatchType = "best_fields"
    tie_breaker: float | None = None
    slop: int = 0
    max_expansions: int = 50
    matching: Matching = dataclasses.field(default_factory=Matching)


@dataclass(frozen=True, slots=True)
class Bool(Clause):
    """Clauses together: all of *must* and *filter*, none of *must_not*, enough of *should*."""

    must: tuple[Clause, ...] = ()
    should: tuple[Clause, ...] = ()
    filter: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()
    minimum_should_match: str | None = None


@dataclass(frozen=True, slots=True)
class ConstantScore(Clause):
    """A clause with the boost for its score."""

    filter: Clause


@dataclass(frozen=True, slots=True)
class DisMax(Clause):
    """One of several clauses, scored as the best, and a share of the others."""

    queries: tuple[Clause, ...]
    tie_breaker: float = 0.0


@dataclass(frozen=True, slots=True)
class Boosting(Clause):
    """A clause whose scores are lowered where another matches."""

    positive: Clause
    negative: Clause
    negative_boost: float


@dataclass(frozen=True, slots=True)
class QueryString(Clause):
    """Lucene's query language, of the strict or the simple kind, already read into *query*.

    Attributes:
        text: What was asked.
        query: What it means.
    """

    text: str
    query: Clause


@dataclass(frozen=True, slots=True)
class Neural(Clause):
    """Documents that are near in meaning; whoever runs the search knows which.

    Attributes:
        field: The field, for whatever it says to whoever answers.
        query_text: What they should be near to.
        k: How many documents.
    """

    field: str
    query_text: str
    k: int = 10


@dataclass(frozen=True, slots=True)
class Hybrid(Clause):
    """Clauses whose scores are brought between 0 and 1 and averaged.

    Attributes:
        queries: The clauses.
        weights: What each counts, adding up to 1; None for the same each.
    """

    queries: tuple[Clause, ...]
    weights: tuple[float, ...] | None = None
