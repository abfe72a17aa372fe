"""What a query looks for in texts, so that it can be marked there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hitherto.server.dsl import tree
from hitherto.server.dsl.automata import Test, any_case, distance, wildcard
from hitherto.server.dsl.documents import as_text
from hitherto.server.dsl.parse_regexps import regular_expression
from hitherto.server.dsl.patience import paced
from hitherto.server.dsl.phrases import sloppy_frequency
from hitherto.server.dsl.plans import Plan
from hitherto.server.dsl.plans_fields import asked_fields
from hitherto.server.dsl.plans_texts import words


@dataclass(frozen=True, slots=True)
class Mark:
    """Words that are looked for in a field.

    Attributes:
        field: The field.
        tests: One test for each word of a phrase; a single one for single words.
        slop: How far apart the words of a phrase may be.
    """

    field: str
    tests: tuple[Test, ...]
    slop: int = 0

    def test(self, value: str) -> bool:
        """Return whether a whole value is meant.

        Args:
            value: The value.
        """
        return len(self.tests) == 1 and self.tests[0](value)

    def places(self, tokens: Sequence[str]) -> set[int]:
        """Return which words of a text are meant.

        Args:
            tokens: The words.
        """
        if len(self.tests) == 1:
            return {place for place, token in paced(enumerate(tokens)) if self.tests[0](token)}
        if self.slop:
            return self._near(tokens)
        length = len(self.tests)
        starts = [
            start
            for start in paced(range(len(tokens) - length + 1))
            if all(test(tokens[start + offset]) for offset, test in enumerate(self.tests))
        ]
        return {start + offset for start in starts for offset in range(length)}

    def _near(self, tokens: Sequence[str]) -> set[int]:
        found: dict[str, list[int]] = {}
        for place, token in paced(enumerate(tokens)):
            found.setdefault(token, []).append(place)
        options = [[token for token in paced(found) if test(token)] for test in self.tests]
        if not all(options) or not sloppy_frequency(found, options, self.slop):
            return set()
        return {place for those in options for token in those for place in found[token]}


def marks_of(clause: tree.Clause, plan: Plan) -> Iterator[Mark]:
    """Find what a query looks for in texts; what it excludes is left out.

    Args:
        clause: The query.
        plan: The plan of the search.

    Yields:
        What is looked for.
    """
    if isinstance(clause, tree.Bool):
        inner = [*clause.must, *clause.should, *clause.filter]
    elif isinstance(clause, tree.Boosting):
        inner = [clause.positive]
    else:
        inner = list(clause.children())
    for child in inner:
        yield from marks_of(child, plan)
    if type(clause) in _MARKERS:
        yield from _MARKERS[type(clause)](clause, plan)


def _term(clause: tree.Term, plan: Plan) -> Iterator[Mark]:
    value = as_text(clause.value)
    if clause.case_insensitive:
        yield Mark(clause.field, (lambda term: any_case(term) == any_case(value),))
    else:
        yield Mark(clause.field, (value.__eq__,))


def _terms(clause: tree.Terms | tree.TermsSet, plan: Plan) -> Iterator[Mark]:
    values = frozenset(map(as_text, clause.values))
    yield Mark(clause.field, (values.__contains__,))


def _prefix(clause: tree.Prefix, plan: Plan) -> Iterator[Mark]:
    yield Mark(clause.field, (_starting(clause.value, ignoring_case=clause.case_insensitive),))


def _wildcard(clause: tree.Wildcard, plan: Plan) -> Iterator[Mark]:
    yield Mark(clause.field, (wildcard(clause.value, ignoring_case=clause.case_insensitive),))


def _regexp(clause: tree.Regexp, plan: Plan) -> Iterator[Mark]:
    expression = regular_expression(clause.value, clause.flags, ignoring_case=clause.case_insensitive)
    yield Mark(clause.field, (expression.matches,))


def _fuzzy(clause: tree.Fuzzy, plan: Plan) -> Iterator[Mark]:
    yield Mark(clause.field, (_near(clause.value, clause.fuzziness),))


def _match(clause: tree.Match, plan: Plan) -> Iterator[Mark]:
    yield from _words(plan, clause.field, clause.query, clause.matching)


def _match_bool_prefix(clause: tree.MatchBoolPrefix, plan: Plan) -> Iterator[Mark]:
    yield from _words(plan, clause.field, clause.query, clause.matching, goes_on=True)


def _match_phrase(clause: tree.MatchPhrase, plan: Plan) -> Iterator[Mark]:
    yield from _phrase(plan, clause.field, clause.query, clause.slop, clause.matching)


def _match_phrase_prefix(clause: tree.MatchPhrasePrefix, plan: Plan) -> Iterator[Mark]:
    yield from _phrase(plan, clause.field, clause.query, clause.slop, clause.matching, goes_on=True)


def _multi_match(clause: tree.MultiMatch, plan: Plan) -> Iterator[Mark]:
    goes_on = clause.type in {"bool_prefix", "phrase_prefix"}
    for field, _ in asked_fields(plan, clause):
        if clause.type in {"phrase", "phrase_prefix"}:
            yield from _phrase(plan, field, clause.query, clause.slop, clause.matching, goes_on=goes_on)
        else:
            yield from _words(plan, field, clause.query, clause.matching, goes_on=goes_on)


def _words(
    plan: Plan, field: str, query: tree.Scalar, how: tree.Matching, *, goes_on: bool = False
) -> Iterator[Mark]:
    found = words(plan, field, query, how) or []
    for place, word in enumerate(found):
        if goes_on and place == len(found) - 1:
            yield Mark(field, (_starting(word),))
        elif how.fuzziness is not None:
            yield Mark(field, (_near(word, how.fuzziness),))
        else:
            yield Mark(field, (word.__eq__,))


def _phrase(
    plan: Plan, field: str, query: tree.Scalar, slop: int, how: tree.Matching, *, goes_on: bool = False
) -> Iterator[Mark]:
    found = words(plan, field, query, how) or []
    tests: list[Test] = [word.__eq__ for word in found]
    if goes_on and found:
        tests[-1] = _starting(found[-1])
    if tests:
        yield Mark(field, tuple(tests), slop)


def _starting(start: str, *, ignoring_case: bool = False) -> Test:
    if ignoring_case:
        return lambda term: any_case(term).startswith(any_case(start))
    return lambda term: term.startswith(start)


def _near(word: str, fuzziness: tree.Fuzziness) -> Test:
    most, start = fuzziness.distance(word), word[: fuzziness.prefix_length]
    measure = partial(distance, word, most=most, transpositions=fuzziness.transpositions)
    return lambda term: term.startswith(start) and measure(term) is not None


_MARKERS: Final[dict[type[tree.Clause], Callable[[Any, Plan], Iterator[Mark]]]] = {
    tree.Fuzzy: _fuzzy,
    tree.Match: _match,
    tree.MatchBoolPrefix: _match_bool_prefix,
    tree.MatchPhrase: _match_phrase,
    tree.MatchPhrasePrefix: _match_phrase_prefix,
    tree.MultiMatch: _multi_match,
    tree.Prefix: _prefix,
    tree.Regexp: _regexp,
    tree.Term: _term,
    tree.Terms: _terms,
    tree.TermsSet: _terms,
    tree.Wildcard: _wildcard,
}
