"""The fields that a query string is asked in, and the clauses that its parts become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from hitherto.server.dsl import tree
from hitherto.server.dsl.analysis import lower
from hitherto.server.dsl.fields import IndexMapping, Kind

_WORDS: Final = frozenset({Kind.TEXT, Kind.KEYWORD})
_TERMS: Final = _WORDS | {Kind.FLAT_OBJECT}
_ADDED: Final = frozenset({"most_fields", "bool_prefix"})


@dataclass(frozen=True, slots=True)
class AskedFields:
    """Fields, and how they are asked.

    Attributes:
        mapping: The index's mapping.
        fields: Names or patterns with their boosts; empty for all fields.
        matching: How words are asked for.
        fuzziness: What ``word~`` means.
        phrase_slop: How far apart the words of a phrase may be.
        time_zone: What a date without a zone means.
        type: How the fields' scores are put together.
        tie_breaker: The share of the fields that are not best, or None for the type's.
    """

    mapping: IndexMapping
    fields: tuple[tuple[str, float], ...]
    matching: tree.Matching = field(default_factory=tree.Matching)
    fuzziness: tree.Fuzziness = field(default_factory=tree.Fuzziness)
    phrase_slop: int = 0
    time_zone: str | None = None
    type: tree.MultiMatchType = "best_fields"
    tie_breaker: float | None = None

    def only(self, name: str) -> AskedFields:
        """Return the same for one field that the text names.

        Args:
            name: The name or pattern.
        """
        lenient = self.matching.lenient or "*" in name
        return replace(self, fields=((name, 1.0),), matching=replace(self.matching, lenient=lenient))

    def everywhere(self) -> bool:
        """Return whether all fields are asked."""
        return not self.fields or all(name == "*" for name, _ in self.fields)

    def words(self, text: str) -> tree.Clause:
        """Ask for the words of a text.

        Args:
            text: The text.
        """
        if len(self.fields) == 1 and "*" not in self.fields[0][0]:
            name, boost = self.fields[0]
            return tree.Match(name, text, self.matching, boost=boost)
        return tree.MultiMatch(text, self.fields, self.type, self.tie_breaker, matching=self.matching)

    def phrase(self, text: str, slop: int | None) -> tree.Clause:
        """Ask for the words of a text in order.

        Args:
            text: The text.
            slop: How far apart they may be, or None for the usual.
        """
        apart = self.phrase_slop if slop is None else slop
        if len(self.fields) == 1 and "*" not in self.fields[0][0]:
            name, boost = self.fields[0]
            return tree.MatchPhrase(name, text, apart, self.matching, boost=boost)
        return tree.MultiMatch(text, self.fields, "phrase", self.tie_breaker, apart, matching=self.matching)

    def prefix(self, start: str) -> tree.Clause:
        """Ask for terms that start so.

        Args:
            start: Their start.
        """
        return self._each(
            lambda name, boost: tree.Prefix(name, self._written(name, start), boost=boost), _TERMS
        )

    def wildcard(self, pattern: str) -> tree.Clause:
        """Ask for terms like a pattern.

        Args:
            pattern: The pattern.
        """
        return self._each(
            lambda name, boost: tree.Wildcard(name, self._written(name, pattern), boost=boost), _WORDS
        )

    def regexp(self, pattern: str) -> tree.Clause:
        """Ask for terms that a regular expression fits.

        Args:
            pattern: The expression.
        """
        return self._each(lambda name, boost: tree.Regexp(name, pattern, boost=boost), _WORDS)

    def near(self, word: str, edits: int | None) -> tree.Clause:
        """Ask for terms near to a word.

        Args:
            word: The word.
            edits: How far off they may be, or None for the usual.
        """
        how = self.fuzziness if edits is None else replace(self.fuzziness, edits=edits)
        return self._each(
            lambda name, boost: tree.Fuzzy(name, self._written(name, word), how, boost=boost), _WORDS
        )

    def between(self, **bounds: str) -> tree.Clause:
        """Ask for values between bounds.

        Args:
            bounds: ``gt``, ``gte``, ``lt``, ``lte``.
        """

        def ask(name: str, boost: float) -> tree.Clause:
            given = {key: self._written(name, value) for key, value in bounds.items()}
            zone = self.time_zone if self.mapping.kind(name) is Kind.DATE else None
            lenient = self.matching.lenient or self.everywhere()
            return tree.Range(
                name,
                given.get("gt"),
                given.get("gte"),
                given.get("lt"),
                given.get("lte"),
                time_zone=zone,
                lenient=lenient,
                boost=boost,
            )

        return self._each(ask, frozenset(Kind))

    def present(self) -> tree.Clause:
        """Ask for documents that have the field, or for all."""
        if self.everywhere():
            return tree.MatchAll()
        return self._each(lambda name, boost: tree.Exists(name, boost=boost), frozenset(Kind))

    def _each(self, ask: Callable[[str, float], tree.Clause], kinds: frozenset[Kind]) -> tree.Clause:
        lenient = self.matching.lenient or self.everywhere()
        clauses = [
            ask(name, boost)
            for name, boost in self._names()
            if not lenient or self.mapping.kind(name) in kinds
        ]
        if len(clauses) == 1:
            return clauses[0]
        share = (1.0 if self.type in _ADDED else 0.0) if self.tie_breaker is None else self.tie_breaker
        return tree.DisMax(tuple(clauses), share) if clauses else tree.MatchNone()

    def _names(self) -> list[tuple[str, float]]:
        if self.everywhere():
            return [(name, 1.0) for name in self.mapping.searched_by_default()]
        return [(name, boost) for pattern, boost in self.fields for name in self.mapping.matching(pattern)]

    def _written(self, name: str, text: str) -> str:
        return lower(text) if self.mapping.kind(name) is Kind.TEXT else text
