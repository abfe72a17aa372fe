"""Plans of the clauses about the words of a text, but for phrases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

from hitherto.server.dsl import tree
from hitherto.server.dsl.analysis import ANALYZERS, Analyzer
from hitherto.server.dsl.automata import distance
from hitherto.server.dsl.documents import as_text
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.parse import MAX_CLAUSES, required
from hitherto.server.dsl.patience import go_on
from hitherto.server.dsl.plans import (
    Plan,
    Scorer,
    all_of,
    checked_count,
    everything,
    nothing,
    plans,
    some_of,
)
from hitherto.server.dsl.plans_terms import bm25, one_term, term_test, weigh
from hitherto.server.dsl.scoring import f32

WordPlanner = Callable[[str], Scorer]


@plans(tree.Match)
def _match(plan: Plan, clause: tree.Match, boost: float) -> Scorer:
    return match(plan, clause.field, clause.query, clause.matching, boost)


def match(plan: Plan, field: str, query: tree.Scalar, how: tree.Matching, boost: float) -> Scorer:
    """Plan a search for the words of a text in one field.

    Args:
        plan: The plan.
        field: The field.
        query: The text.
        how: How its words are asked for.
        boost: The boost.

    Returns:
        The scorer.

    Raises:
        ShardError: If the value does not fit the field, unless that is to be overlooked.
    """
    if plan.mapping.kind(field) is None:
        return nothing
    found = words(plan, field, query, how)
    if found is None:
        return whole_value(plan, field, query, how, boost)
    return of_words(found, lambda word: one_word(plan, field, word, how, boost), how, boost)


def words(plan: Plan, field: str, query: tree.Scalar, how: tree.Matching) -> list[str] | None:
    """Return the words of a text as a field has them, or None if the field has no words.

    Args:
        plan: The plan.
        field: The field.
        query: The text.
        how: May name another analyser.
    """
    kind = plan.mapping.kind(field)
    if kind in {Kind.DATE, Kind.LONG, Kind.ID, Kind.INDEX, None}:
        return None
    found = [token.term for token in islice(_analyzer(plan, field, how)(as_text(query)), MAX_CLAUSES + 1)]
    checked_count(len(found))
    return found


def ends_in_a_word(plan: Plan, field: str, query: tree.Scalar, how: tree.Matching) -> bool:
    """Return whether a text ends in a word, rather than behind one.

    Args:
        plan: The plan.
        field: The field.
        query: The text.
        how: May name another analyser.
    """
    text = as_text(query)
    return any(token.end == len(text) for token in _analyzer(plan, field, how)(text))


def _analyzer(plan: Plan, field: str, how: tree.Matching) -> Analyzer:
    is_text = plan.mapping.kind(field) is Kind.TEXT
    return ANALYZERS[how.analyzer or ("standard" if is_text else "keyword")]


def whole_value(plan: Plan, field: str, query: tree.Scalar, how: tree.Matching, boost: float) -> Scorer:
    """Plan a search for a value as it is, in a field without words.

    Args:
        plan: The plan.
        field: The field.
        query: The value.
        how: Whether a value that does not fit is overlooked.
        boost: The score.
    """
    try:
        return one_term(plan, field, query, boost)
    except ShardError:
        if how.lenient:
            return nothing
        raise


def of_words(found: Sequence[str], planner: WordPlanner, how: tree.Matching, boost: float) -> Scorer:
    """Put the searches for single words together.

    Args:
        found: The words.
        planner: Plans one of them.
        how: How many must be found.
        boost: The score if there are no words and that finds everything.
    """
    if not found:
        return everything(boost) if how.all_if_no_words else nothing
    scorers = [planner(word) for word in found]
    if len(scorers) == 1:
        return scorers[0]
    if how.operator == "and":
        # As the original counts: none of the clauses is optional, so that a number of them cannot be reached.
        wanted = required(0, how.minimum_should_match) if how.minimum_should_match else 0
        return nothing if wanted else all_of(scorers)
    least = required(len(scorers), how.minimum_should_match) if how.minimum_should_match else 1
    return some_of(scorers, max(least, 1)) if least <= len(scorers) else nothing


def one_word(plan: Plan, field: str, word: str, how: tree.Matching, boost: float) -> Scorer:
    """Plan a search for one analysed word, or for those near to it.

    Args:
        plan: The plan.
        field: The field.
        word: The word.
        how: May allow edits.
        boost: The boost.
    """
    if how.fuzziness is not None and plan.mapping.kind(field) in {Kind.TEXT, Kind.KEYWORD}:
        return near(plan, field, word, how.fuzziness, boost)
    return one_term(plan, field, word, boost)


@plans(tree.Fuzzy)
def _fuzzy(plan: Plan, clause: tree.Fuzzy, boost: float) -> Scorer:
    kind = plan.mapping.kind(clause.field)
    if kind is None:
        return nothing
    if kind not in {Kind.TEXT, Kind.KEYWORD}:
        raise ShardError(
            "Can only use fuzzy queries on keyword and text fields - "
            f"not on [{clause.field}] which is of type [{kind.value}]",
            type="query_shard_exception",
        )
    return near(plan, clause.field, clause.value, clause.fuzziness, boost)


def near(plan: Plan, field: str, word: str, fuzziness: tree.Fuzziness, boost: float) -> Scorer:
    """Plan a search for the terms near to a word.

    Each counts less the more edits lead to it, and all count as if they were as frequent as the most frequent.

    Args:
        plan: The plan.
        field: The field.
        word: The word.
        fuzziness: How far the terms may be.
        boost: The boost.
    """
    terms = _near_terms(plan, field, word, fuzziness)
    if not terms:
        return nothing
    if plan.mapping.kind(field) is Kind.KEYWORD:
        scorers = [one_term(plan, field, term, f32(boost * share)) for term, share in terms]
        return some_of(scorers)
    counts = [plan.statistics.containing(field, term) for term, _ in terms]
    return some_of(
        [
            bm25(field, term, weigh(plan, field, term, f32(boost * share), containing=max(counts)))
            for term, share in terms
        ]
    )


def _near_terms(plan: Plan, field: str, word: str, fuzziness: tree.Fuzziness) -> list[tuple[str, float]]:
    most = fuzziness.distance(word)
    start = word[: fuzziness.prefix_length]
    found: list[tuple[str, float]] = []
    for term in plan.vocabulary(field):
        go_on()
        if not term.startswith(start):
            continue
        edits = distance(word, term, most, transpositions=fuzziness.transpositions)
        if edits is not None:
            share = f32(1 - edits / min(len(word), len(term))) if edits else 1.0
            found += [(term, share)] if share > 0 or not edits else []
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return found[: fuzziness.max_expansions]


@plans(tree.MatchBoolPrefix)
def _match_bool_prefix(plan: Plan, clause: tree.MatchBoolPrefix, boost: float) -> Scorer:
    return bool_prefix(plan, clause.field, clause.query, clause.matching, boost)


def bool_prefix(plan: Plan, field: str, query: tree.Scalar, how: tree.Matching, boost: float) -> Scorer:
    """Plan a search for the words of a text, of which the last may go on.

    Args:
        plan: The plan.
        field: The field.
        query: The text.
        how: How its words are asked for.
        boost: The boost.
    """
    if plan.mapping.kind(field) is None:
        return nothing
    found = words(plan, field, query, how)
    if found is None:
        return whole_value(plan, field, query, how, boost)
    if plan.mapping.kind(field) is Kind.FLAT_OBJECT:
        return one_term(plan, field, found[0], boost)
    # Behind a space or a full stop the last word is complete.
    last = len(found) - ends_in_a_word(plan, field, query, how)
    places = iter(range(len(found)))

    def planner(word: str) -> Scorer:
        if next(places) < last:
            return one_word(plan, field, word, how, boost)
        return term_test(plan, field, lambda term: term.startswith(word), boost)

    return of_words(found, planner, how, boost)
