"""Plans of the clauses about whole terms, ranges, and which documents have a field or an id."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from decimal import Decimal, InvalidOperation
from typing import Any

from hitherto.server.dsl import tree
from hitherto.server.dsl.automata import any_case, wildcard
from hitherto.server.dsl.dates import read_date
from hitherto.server.dsl.documents import Document, as_text
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.parse_regexps import regular_expression
from hitherto.server.dsl.patience import go_on
from hitherto.server.dsl.plans import Plan, Scorer, constant, nothing, plans
from hitherto.server.dsl.scoring import Bm25, f32, idf

_TEXTS = frozenset({Kind.TEXT, Kind.KEYWORD, Kind.FLAT_OBJECT, Kind.ID, Kind.INDEX})


@plans(tree.Term)
def _term(plan: Plan, clause: tree.Term, boost: float) -> Scorer:
    kind = plan.mapping.kind(clause.field)
    if clause.case_insensitive and kind in {Kind.TEXT, Kind.KEYWORD, Kind.FLAT_OBJECT}:
        wanted = any_case(as_text(clause.value))
        return term_test(plan, clause.field, lambda term: any_case(term) == wanted, boost)
    return one_term(plan, clause.field, clause.value, boost)


def one_term(plan: Plan, field: str, value: tree.Scalar, boost: float) -> Scorer:
    """Plan a search for one value, which is not analysed.

    Args:
        plan: The plan.
        field: The field.
        value: The value.
        boost: The boost.

    Returns:
        The scorer: BM25 for words, a constant for other fields.
    """
    kind = plan.mapping.kind(field)
    if kind is Kind.TEXT:
        term = as_text(value)
        return bm25(field, term, weigh(plan, field, term, boost))
    if kind is Kind.KEYWORD and plan.profile == "2.x":
        # No lengths are kept for a keyword, and each stands once: the factors cancel, and idf is left.
        term = as_text(value)
        boost = weigh(plan, field, term, boost).score(1, 1)
    return constant(equality(plan, field, kind, (value,)), boost)


def weigh(plan: Plan, field: str, term: str, boost: float, *, containing: int | None = None) -> Bm25:
    """Weigh a term of a text field.

    Args:
        plan: The plan.
        field: The field.
        term: The term.
        boost: The boost.
        containing: How many documents have it; None to ask the statistics.
    """
    count = plan.statistics.containing(field, term) if containing is None else containing
    return Bm25.of(field, idf(count, plan.statistics.documents(field)), boost, plan.statistics, plan.profile)


def bm25(field: str, term: str, weight: Bm25) -> Scorer:
    """Return the scorer of one word.

    Args:
        field: The field.
        term: The word.
        weight: Its weight.
    """

    def score(document: Document) -> float | None:
        frequency = document.counts(field).get(term)
        return weight.score(frequency, len(document.tokens(field))) if frequency else None

    return score


def equality(
    plan: Plan, field: str, kind: Kind | None, values: Collection[tree.Scalar]
) -> Callable[[Document], bool]:
    """Return the test whether a field holds one of several values.

    Args:
        plan: The plan.
        field: The field.
        kind: Its kind.
        values: The values.

    Returns:
        The test; a field that is not mapped holds nothing.

    Raises:
        ShardError: If a value does not fit the field.
    """
    if kind is Kind.DATE:
        moments = [read_date(value, now=plan.now) for value in values]
        return lambda document: (
            (at := document.millis(field)) is not None
            and any(moment.first <= at <= moment.last for moment in moments)
        )
    if kind is Kind.LONG:
        numbers = {whole_number(field, value) for value in values} - {None}
        return lambda document: document.number(field) in numbers
    if kind is Kind.INDEX:
        named = plan.mapping.index in set(map(as_text, values))
        return lambda document: named
    texts = set(map(as_text, values))
    return lambda document: not texts.isdisjoint(document.terms(field, kind))


def whole_number(field: str, value: tree.Scalar) -> int | None:
    """Read a number for a field of whole numbers.

    Args:
        field: The field.
        value: What was asked for.

    Returns:
        The number; None if it has a fraction or is too large, and so is nowhere.

    Raises:
        ShardError: If it is no number.
    """
    number = decimal_number(field, value)
    return int(number) if number == number.to_integral_value() and abs(number) < 2**63 else None


def decimal_number(field: str, value: tree.Scalar) -> Decimal:
    """Read a number for a field of numbers.

    Args:
        field: The field.
        value: What was asked for.

    Raises:
        ShardError: If it is none.
    """
    try:
        number = Decimal(value if isinstance(value, str) else as_text(value))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or isinstance(value, bool):
        raise ShardError(
            f'failed to create query: For input string: "{as_text(value)}" on field [{field}]',
            type="query_shard_exception",
        )
    return (
        number if abs(number.adjusted()) < 64 else Decimal("1e63").copy_sign(number) * (number.adjusted() > 0)
    )


@plans(tree.Terms)
def _terms(plan: Plan, clause: tree.Terms, boost: float) -> Scorer:
    kind = plan.mapping.kind(clause.field)
    return constant(equality(plan, clause.field, kind, clause.values), boost)


@plans(tree.TermsSet)
def _terms_set(plan: Plan, clause: tree.TermsSet, boost: float) -> Scorer:
    scorers = [one_term(plan, clause.field, value, boost) for value in dict.fromkeys(clause.values)]

    def score(document: Document) -> float | None:
        least = document.number(clause.minimum_field)
        found = [score for scorer in scorers if (score := scorer(document)) is not None]
        return f32(sum(found)) if least is not None and len(found) >= max(least, 1) else None

    return score


@plans(tree.Range)
def _range(plan: Plan, clause: tree.Range, boost: float) -> Scorer:
    kind = plan.mapping.kind(clause.field)
    try:
        if kind is Kind.DATE:
            return constant(_between(clause.field, Document.millis, *_dates(plan, clause)), boost)
        if kind is Kind.LONG:
            return constant(_between(clause.field, Document.number, *_numbers(clause)), boost)
    except ShardError:
        if clause.lenient:
            return nothing
        raise
    return _text_range(plan, clause, boost) if kind in _TEXTS else nothing


def _text_range(plan: Plan, clause: tree.Range, boost: float) -> Scorer:
    low, high = _first(clause.gte, clause.gt), _first(clause.lte, clause.lt)
    low_text = as_text(low) if low is not None else None
    high_text = as_text(high) if high is not None else None

    def test(term: str) -> bool:
        above = low_text is None or term > low_text or (clause.gt is None and term == low_text)
        below = high_text is None or term < high_text or (clause.lt is None and term == high_text)
        return above and below

    return term_test(plan, clause.field, test, boost)


def _first(one: tree.Scalar | None, other: tree.Scalar | None) -> tree.Scalar | None:
    return other if other is not None else one


def _between(
    field: str, value: Callable[[Document, str], int | None], low: Any, high: Any
) -> Callable[[Document], bool]:
    def test(document: Document) -> bool:
        found = value(document, field)
        return found is not None and (low is None or found >= low) and (high is None or found <= high)

    return test


def _dates(plan: Plan, clause: tree.Range) -> tuple[int | None, int | None]:
    def read(value: tree.Scalar) -> Any:
        return read_date(value, now=plan.now, format=clause.format, time_zone=clause.time_zone)

    lows = [read(clause.gt).last + 1] if clause.gt is not None else []
    lows += [read(clause.gte).first] if clause.gte is not None else []
    highs = [read(clause.lt).first - 1] if clause.lt is not None else []
    highs += [read(clause.lte).last] if clause.lte is not None else []
    return max(lows, default=None), min(highs, default=None)


def _numbers(clause: tree.Range) -> tuple[Decimal | None, Decimal | None]:
    def read(value: tree.Scalar) -> Decimal:
        return decimal_number(clause.field, value)

    lows = [Decimal(math.floor(read(clause.gt)) + 1)] if clause.gt is not None else []
    lows += [read(clause.gte)] if clause.gte is not None else []
    highs = [Decimal(math.ceil(read(clause.lt)) - 1)] if clause.lt is not None else []
    highs += [read(clause.lte)] if clause.lte is not None else []
    return max(lows, default=None), min(highs, default=None)


@plans(tree.Exists)
def _exists(plan: Plan, clause: tree.Exists, boost: float) -> Scorer:
    fields = plan.mapping.matching(clause.field)
    tests = [_has(field, plan.mapping.kind(field)) for field in fields]
    return constant(lambda document: any(test(document) for test in tests), boost)


def _has(field: str, kind: Kind | None) -> Callable[[Document], bool]:
    if kind is Kind.DATE:
        return lambda document: document.millis(field) is not None
    if kind is Kind.LONG:
        return lambda document: document.number(field) is not None
    if kind is Kind.INDEX:
        return lambda document: True
    if kind is Kind.FLAT_OBJECT and "." in field:
        return lambda document: _has_path(document, *field.split(".", 1))
    return lambda document: any(True for _ in document.terms(field, kind))


def _has_path(document: Document, root: str, path: str) -> bool:
    return any(leaf == path or leaf.startswith(f"{path}.") for leaf in document.leaves(root))


@plans(tree.Ids)
def _ids(plan: Plan, clause: tree.Ids, boost: float) -> Scorer:
    ids = frozenset(clause.values)
    return constant(lambda document: document.id in ids, boost)


@plans(tree.Prefix)
def _prefix(plan: Plan, clause: tree.Prefix, boost: float) -> Scorer:
    _texts_only(plan, "prefix", clause.field)
    if clause.case_insensitive:
        start = any_case(clause.value)
        return term_test(plan, clause.field, lambda term: any_case(term).startswith(start), boost)
    return term_test(plan, clause.field, lambda term: term.startswith(clause.value), boost)


@plans(tree.Wildcard)
def _wildcard(plan: Plan, clause: tree.Wildcard, boost: float) -> Scorer:
    _texts_only(plan, "wildcard", clause.field)
    test = wildcard(clause.value, ignoring_case=clause.case_insensitive)
    return term_test(plan, clause.field, test, boost)


@plans(tree.Regexp)
def _regexp(plan: Plan, clause: tree.Regexp, boost: float) -> Scorer:
    _texts_only(plan, "regexp", clause.field)
    expression = regular_expression(clause.value, clause.flags, ignoring_case=clause.case_insensitive)
    return term_test(plan, clause.field, expression.matches, boost)


def _texts_only(plan: Plan, clause: str, field: str) -> None:
    kind = plan.mapping.kind(field)
    if kind is not None and kind not in _TEXTS:
        raise ShardError(
            f"Can only use {clause} queries on keyword, text and wildcard fields - "
            f"not on [{field}] which is of type [{kind.value}]",
            type="query_shard_exception",
        )


def term_test(plan: Plan, field: str, test: Callable[[str], bool], boost: float) -> Scorer:
    """Plan a constant score for documents with a term that passes a test.

    Args:
        plan: The plan.
        field: The field.
        test: The test of a term; each term is tested once.
        boost: The score.
    """
    kind = plan.mapping.kind(field)
    known: dict[str, bool] = {}

    def passes(document: Document) -> bool:
        for term in document.terms(field, kind):
            passed = known.get(term)
            if passed is None:
                go_on()
                passed = known[term] = test(term)
            if passed:
                return True
        return False

    return constant(passes, boost)
