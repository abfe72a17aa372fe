"""Plans of phrases."""

from __future__ import annotations

from collections.abc import Sequence

from hitherto.server.dsl import tree
from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.fields import Kind
from hitherto.server.dsl.phrases import exact_frequency, sloppy_frequency
from hitherto.server.dsl.plans import Plan, Scorer, everything, nothing, plans, some_of
from hitherto.server.dsl.plans_terms import one_term
from hitherto.server.dsl.plans_texts import whole_value, words
from hitherto.server.dsl.scoring import Bm25, f32, idf


@plans(tree.MatchPhrase)
def _match_phrase(plan: Plan, clause: tree.MatchPhrase, boost: float) -> Scorer:
    return phrase(plan, clause.field, clause.query, clause.slop, clause.matching, boost)


@plans(tree.MatchPhrasePrefix)
def _match_phrase_prefix(plan: Plan, clause: tree.MatchPhrasePrefix, boost: float) -> Scorer:
    return phrase(
        plan,
        clause.field,
        clause.query,
        clause.slop,
        clause.matching,
        boost,
        expansions=clause.max_expansions,
    )


def phrase(
    plan: Plan,
    field: str,
    query: tree.Scalar,
    slop: int,
    how: tree.Matching,
    boost: float,
    *,
    expansions: int = 0,
) -> Scorer:
    """Plan a search for the words of a text in order.

    Args:
        plan: The plan.
        field: The field.
        query: The text.
        slop: How far apart the words may be.
        how: What happens to a text without words, or a value that does not fit.
        boost: The boost.
        expansions: How many words the last one may go on to; 0 if it may not go on.
    """
    kind = plan.mapping.kind(field)
    if kind is None:
        return nothing
    found = words(plan, field, query, how)
    if found is None:
        return whole_value(plan, field, query, how, boost)
    if not found:
        return everything(boost) if how.all_if_no_words else nothing
    if kind is not Kind.TEXT:
        return one_term(plan, field, found[0], boost)
    if expansions:
        return _going_on(plan, field, found, slop, boost, expansions)
    if len(found) == 1:
        return one_term(plan, field, found[0], boost)
    return _scored(plan, field, [[word] for word in found], slop, boost)


def _going_on(plan: Plan, field: str, found: list[str], slop: int, boost: float, expansions: int) -> Scorer:
    *before, last = found
    ends = [term for term in plan.vocabulary(field) if term.startswith(last)][:expansions]
    if not ends:
        return nothing
    if not before:
        return some_of([one_term(plan, field, term, boost) for term in ends])
    return _scored(plan, field, [*([word] for word in before), ends], slop, boost)


def _scored(plan: Plan, field: str, options: Sequence[Sequence[str]], slop: int, boost: float) -> Scorer:
    documents = plan.statistics.documents(field)
    total = sum(
        idf(plan.statistics.containing(field, word), documents) for words in options for word in words
    )
    weight = Bm25.of(field, f32(total), boost, plan.statistics, plan.profile)

    def score(document: Document) -> float | None:
        counts = document.counts(field)
        if not all(any(word in counts for word in words) for words in options):
            return None
        places = document.positions(field)
        found = sloppy_frequency(places, options, slop) if slop else exact_frequency(places, options)
        return weight.score(f32(found), len(document.tokens(field))) if found else None

    return score
