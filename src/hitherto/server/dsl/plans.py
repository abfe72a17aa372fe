"""From the tree of a query to a function that scores a document.

A plan is made once for each request: terms are weighed by the statistics of the whole index, dates are read, words
are found. What it yields is a plain function, which returns a document's score, or None if it does not match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias, TypeVar

from hitherto.server.dsl import tree
from hitherto.server.dsl.documents import Document, Statistics
from hitherto.server.dsl.errors import DslError, ShardError
from hitherto.server.dsl.fields import IndexMapping
from hitherto.server.dsl.parse import MAX_CLAUSES, required
from hitherto.server.dsl.patience import go_on, paced
from hitherto.server.dsl.scoring import Profile, added, f32

Scorer: TypeAlias = Callable[[Document], "float | None"]
Neighbours: TypeAlias = Callable[[tree.Neural], Mapping[str, float]]
Planner: TypeAlias = Callable[["Plan", Any, float], Scorer]

_Planner = TypeVar("_Planner", bound=Planner)
_PLANNERS: Final[dict[type[tree.Clause], Planner]] = {}


def plans(clause: type[tree.Clause]) -> Callable[[_Planner], _Planner]:
    """Register the function that plans a kind of clause.

    Args:
        clause: The class of the clause.
    """

    def register(planner: _Planner) -> _Planner:
        _PLANNERS[clause] = planner
        return planner

    return register


def no_neighbours(clause: tree.Neural) -> Mapping[str, float]:
    """Refuse a clause that asks for meaning, where nobody can answer it.

    Args:
        clause: The clause.

    Raises:
        DslError: Always.
    """
    raise DslError(
        f"[neural] query on field [{clause.field}] is not supported here: no embedder is configured"
    )


@dataclass
class Plan:
    """What planning needs to know.

    Attributes:
        mapping: The index's mapping.
        documents: The documents that are searched.
        statistics: Counts over the whole index.
        profile: The generation of scores.
        now: The present moment.
        neighbours: Answers neural clauses.
    """

    mapping: IndexMapping
    documents: Sequence[Document]
    statistics: Statistics
    profile: Profile
    now: datetime
    neighbours: Neighbours = no_neighbours
    _vocabularies: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def scorer(self, clause: tree.Clause, boost: float = 1.0) -> Scorer:
        """Plan a clause.

        Args:
            clause: The clause.
            boost: The product of the boosts around it.

        Returns:
            The function that scores a document.

        Raises:
            DslError: If the clause does not fit the index.
        """
        go_on()
        return _PLANNERS[type(clause)](self, clause, f32(boost * clause.boost))

    def vocabulary(self, field: str) -> tuple[str, ...]:
        """Return the terms of a field in the documents that are searched, sorted.

        Args:
            field: The field's name.
        """
        if field not in self._vocabularies:
            kind = self.mapping.kind(field)
            terms: set[str] = set()
            for document in self.documents:
                go_on()
                terms.update(document.terms(field, kind))
            self._vocabularies[field] = tuple(sorted(terms))
        return self._vocabularies[field]


def everything(boost: float) -> Scorer:
    """Return the scorer that gives every document the same.

    Args:
        boost: The score.
    """
    return lambda document: boost


def nothing(document: Document) -> float | None:
    """Match no document.

    Args:
        document: Any document.
    """
    return None


def constant(test: Callable[[Document], bool], boost: float) -> Scorer:
    """Return the scorer that gives the same to every document that passes a test.

    Args:
        test: The test.
        boost: The score.
    """

    def score(document: Document) -> float | None:
        # A test may have to look at all that a long document holds, and there may be a thousand of them.
        go_on()
        return boost if test(document) else None

    return score


def all_of(scorers: Sequence[Scorer]) -> Scorer:
    """Return the scorer of clauses that must all match.

    Args:
        scorers: The clauses.
    """

    def score(document: Document) -> float | None:
        scores = []
        for scorer in scorers:
            found = scorer(document)
            if found is None:
                return None
            scores.append(found)
        return added(scores)

    return scorers[0] if len(scorers) == 1 else score


def some_of(scorers: Sequence[Scorer], least: int = 1) -> Scorer:
    """Return the scorer of clauses of which enough must match.

    Args:
        scorers: The clauses.
        least: How many.
    """

    def score(document: Document) -> float | None:
        scores = [found for scorer in scorers if (found := scorer(document)) is not None]
        return added(scores) if len(scores) >= least else None

    return scorers[0] if len(scorers) == 1 and least == 1 else score


def best_of(scorers: Sequence[Scorer], tie_breaker: float) -> Scorer:
    """Return the scorer of clauses of which the best counts, and a share of the others.

    Args:
        scorers: The clauses.
        tie_breaker: The share.
    """

    def score(document: Document) -> float | None:
        scores = [found for scorer in scorers if (found := scorer(document)) is not None]
        if not scores:
            return None
        best = max(scores)
        return f32(best + (sum(scores) - best) * tie_breaker)

    return scorers[0] if len(scorers) == 1 else score


def checked_count(count: int) -> None:
    """Refuse a query that has grown too large.

    Args:
        count: The number of terms.

    Raises:
        ShardError: If there are too many.
    """
    if count > MAX_CLAUSES:
        raise ShardError(f"maxClauseCount is set to {MAX_CLAUSES}", type="too_many_clauses")


@plans(tree.MatchAll)
def _match_all(plan: Plan, clause: tree.MatchAll, boost: float) -> Scorer:
    return everything(boost)


@plans(tree.MatchNone)
def _match_none(plan: Plan, clause: tree.MatchNone, boost: float) -> Scorer:
    return nothing


@plans(tree.ConstantScore)
def _constant_score(plan: Plan, clause: tree.ConstantScore, boost: float) -> Scorer:
    inner = plan.scorer(clause.filter)
    return constant(lambda document: inner(document) is not None, boost)


@plans(tree.DisMax)
def _dis_max(plan: Plan, clause: tree.DisMax, boost: float) -> Scorer:
    return best_of([plan.scorer(query, boost) for query in clause.queries], clause.tie_breaker)


@plans(tree.QueryString)
def _query_string(plan: Plan, clause: tree.QueryString, boost: float) -> Scorer:
    return plan.scorer(clause.query, boost)


@plans(tree.Boosting)
def _boosting(plan: Plan, clause: tree.Boosting, boost: float) -> Scorer:
    positive, negative = plan.scorer(clause.positive, boost), plan.scorer(clause.negative)

    def score(document: Document) -> float | None:
        found = positive(document)
        if found is None or negative(document) is None:
            return found
        return f32(found * clause.negative_boost)

    return score


@plans(tree.Bool)
def _bool(plan: Plan, clause: tree.Bool, boost: float) -> Scorer:
    must = [plan.scorer(inner, boost) for inner in clause.must]
    filters = [plan.scorer(inner) for inner in clause.filter]
    refused = [plan.scorer(inner) for inner in clause.must_not]
    should = [plan.scorer(inner, boost) for inner in clause.should]
    if not (must or filters or refused or should):
        return everything(boost)
    least = required(len(should), clause.minimum_should_match) if clause.minimum_should_match else 0
    if least > len(should):
        return nothing
    return _together(must, filters, refused, should, least)


def _together(
    must: list[Scorer], filters: list[Scorer], refused: list[Scorer], should: list[Scorer], least: int
) -> Scorer:
    if should and not (must or filters):
        least = max(least, 1)
    scored = all_of(must) if must else None
    optional = some_of(should, max(least, 1)) if should else None

    def score(document: Document) -> float | None:
        total = scored(document) if scored is not None else 0.0
        if total is None or any(inner(document) is None for inner in filters):
            return None
        if any(inner(document) is not None for inner in refused):
            return None
        more = optional(document) if optional is not None else None
        if more is None:
            return None if least else total
        return f32(total + more)

    return score


@plans(tree.Neural)
def _neural(plan: Plan, clause: tree.Neural, boost: float) -> Scorer:
    scores = plan.neighbours(clause)

    def score(document: Document) -> float | None:
        found = scores.get(document.id)
        return f32(found * boost) if found is not None else None

    return score


@plans(tree.Hybrid)
def _hybrid(plan: Plan, clause: tree.Hybrid, boost: float) -> Scorer:
    count = len(clause.queries)
    weights = clause.weights or (1 / count,) * count
    normalised = [_normalised(plan, query) for query in clause.queries]

    def score(document: Document) -> float | None:
        found = [scores.get(document.id) for scores in normalised]
        if all(part is None for part in found):
            return None
        total = sum(weight * (part or 0.0) for weight, part in zip(weights, found, strict=True))
        return f32(boost * total / sum(weights))

    return score


def _normalised(plan: Plan, query: tree.Clause) -> dict[str, float]:
    scorer = plan.scorer(query)
    scores = {
        document.id: found for document in paced(plan.documents) if (found := scorer(document)) is not None
    }
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0)
    # As the original does: the least of the hits keeps a little, so that it stays above what was not found.
    return {id: max((score - low) / (high - low), 0.001) for id, score in scores.items()}
