"""Plans of a text that is asked in several fields."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hitherto.server.dsl import tree
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.plans import Plan, Scorer, best_of, nothing, plans
from hitherto.server.dsl.plans_phrases import phrase
from hitherto.server.dsl.plans_terms import bm25, weigh
from hitherto.server.dsl.plans_texts import bool_prefix, match, of_words, words
from hitherto.server.dsl.scoring import f32

_ADDED = frozenset({"most_fields", "bool_prefix"})

Fields = Sequence[tuple[str, float]]


@plans(tree.MultiMatch)
def _multi_match(plan: Plan, clause: tree.MultiMatch, boost: float) -> Scorer:
    fields = asked_fields(plan, clause)
    how = clause.matching
    if not clause.fields or any("*" in field for field, _ in clause.fields):
        how = _lenient(how)
    if not fields:
        return nothing
    tie_breaker = (
        (1.0 if clause.type in _ADDED else 0.0) if clause.tie_breaker is None else clause.tie_breaker
    )
    if clause.type == "cross_fields":
        return _across(plan, clause.query, fields, how, boost, tie_breaker)
    scorers = [_in_field(plan, clause, field, how, f32(boost * share)) for field, share in fields]
    return best_of(scorers, tie_breaker)


def asked_fields(plan: Plan, clause: tree.MultiMatch) -> list[tuple[str, float]]:
    """Return the fields that a text is asked in; the boosts of a field that is named twice are multiplied.

    Args:
        plan: The plan.
        clause: The clause.

    Returns:
        The names of fields that are mapped, with their boosts.
    """
    if not clause.fields or all(field == "*" for field, _ in clause.fields):
        share = clause.fields[0][1] if clause.fields else 1.0
        return [(field, share) for field in plan.mapping.searched_by_default()]
    found: dict[str, float] = {}
    for pattern, share in clause.fields:
        for field in plan.mapping.matching(pattern):
            if plan.mapping.kind(field) is not None:
                found[field] = f32(found.get(field, 1.0) * share)
    return list(found.items())


def _lenient(how: tree.Matching) -> tree.Matching:
    return tree.Matching(
        how.operator, how.minimum_should_match, how.fuzziness, how.analyzer, how.all_if_no_words, lenient=True
    )


def _in_field(plan: Plan, clause: tree.MultiMatch, field: str, how: tree.Matching, boost: float) -> Scorer:
    if clause.type in {"phrase", "phrase_prefix"}:
        expansions = clause.max_expansions if clause.type == "phrase_prefix" else 0
        return phrase(plan, field, clause.query, clause.slop, how, boost, expansions=expansions)
    if clause.type == "bool_prefix":
        return bool_prefix(plan, field, clause.query, how, boost)
    return match(plan, field, clause.query, how, boost)


def _across(
    plan: Plan, query: tree.Scalar, fields: Fields, how: tree.Matching, boost: float, tie_breaker: float
) -> Scorer:
    """Plan a search for each word in whichever field has it; fields that are analysed alike stand together."""
    groups: dict[bool, list[tuple[str, float]]] = {}
    for field, share in fields:
        groups.setdefault(plan.mapping.kind(field) is Kind.TEXT, []).append((field, f32(boost * share)))
    scorers = []
    for is_text, group in groups.items():
        if is_text:
            found = words(plan, group[0][0], query, how) or []
            scorers.append(of_words(found, partial(_blended, plan, group, tie_breaker), how, boost))
        else:
            scorers += [match(plan, field, query, how, share) for field, share in group]
    return best_of(scorers, tie_breaker)


def _blended(plan: Plan, fields: Fields, tie_breaker: float, word: str) -> Scorer:
    """Plan one word in several fields, as if it were as frequent in each as where it is most frequent."""
    counts = {field: plan.statistics.containing(field, word) for field, _ in fields}
    ordered = sorted((pair for pair in fields if counts[pair[0]]), key=lambda pair: -counts[pair[0]])
    scorers, assumed = [], max(counts.values())
    before = assumed
    for field, boost in ordered:
        # Fields where it is rarer count a little less, so that the order of the fields' frequencies is kept.
        assumed += counts[field] < before
        before = counts[field]
        scorers.append(bm25(field, word, weigh(plan, field, word, boost, containing=assumed)))
    return best_of(scorers, tie_breaker) if scorers else nothing
