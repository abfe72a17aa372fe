"""Carries out a search over documents in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from hitherto.server.dsl import plans_fields, plans_phrases, plans_terms, plans_texts, tree
from hitherto.server.dsl.body import SearchBody
from hitherto.server.dsl.documents import Document, Statistics
from hitherto.server.dsl.fields import IndexMapping
from hitherto.server.dsl.highlight import Highlighter
from hitherto.server.dsl.patience import go_on
from hitherto.server.dsl.plans import Neighbours, Plan, Scorer, no_neighbours
from hitherto.server.dsl.scoring import Profile, shortest
from hitherto.server.dsl.shown_fields import field_values
from hitherto.server.dsl.sort import Hit, Sorter

PLAN_MODULES: Final = (plans_fields, plans_phrases, plans_terms, plans_texts)
"""Modules that register how clauses are planned."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a search found.

    Attributes:
        total: How many documents, at most as many as were to be counted; None if they were not.
        relation: ``eq``, or ``gte`` if there are more than *total*.
        max_score: The best score, or None.
        hits: The hits that are shown, as JSON objects.
        terminated_early: Whether the search ended before all documents were seen; None if it never would.
    """

    total: int | None
    relation: str
    max_score: float | None
    hits: tuple[dict[str, Any], ...]
    terminated_early: bool | None = None

    def body(self) -> dict[str, Any]:
        """Return the value of ``hits`` in the answer.

        Returns:
            A JSON object.
        """
        counted = {} if self.total is None else {"total": {"value": self.total, "relation": self.relation}}
        return counted | {"max_score": self.max_score, "hits": list(self.hits)}


def scoped(query: tree.Clause, scope: tree.Clause | None) -> tree.Clause:
    """Return what is really asked: the client's query and the scope, both of which count for the score.

    Args:
        query: The client's query.
        scope: What the client may see, or None for everything.
    """
    return tree.Bool(must=(query,) if scope is None else (query, scope))


def terms_of(
    search: SearchBody, mapping: IndexMapping, *, scope: tree.Clause | None, profile: Profile, now: datetime
) -> set[tuple[str, str]]:
    """Return the terms whose frequencies in the index a search will ask for.

    Terms that are only known when the documents are at hand, those near to a word, are not among them.

    Args:
        search: The request.
        mapping: The index's mapping.
        scope: The clause that narrows it, or None.
        profile: The generation of scores.
        now: The present moment.

    Returns:
        Pairs of field and term.

    Raises:
        DslError: If the query does not fit the index.
    """
    noted = _Noting()
    plan = Plan(mapping, (), noted, profile, now, neighbours=lambda clause: {})
    for query in (scoped(search.query, scope), search.post_filter):
        if query is not None:
            plan.scorer(query)
    return noted.terms


class _Noting:
    """Statistics that note what they are asked for."""

    def __init__(self) -> None:
        self.terms: set[tuple[str, str]] = set()

    def documents(self, field: str) -> int:
        return 1

    def tokens(self, field: str) -> int:
        return 1

    def containing(self, field: str, term: str) -> int:
        self.terms.add((field, term))
        return 1


def run(
    search: SearchBody,
    documents: Sequence[Document],
    statistics: Statistics,
    *,
    mapping: IndexMapping,
    now: datetime,
    scope: tree.Clause | None = None,
    profile: Profile = "3.x",
    neural: Neighbours = no_neighbours,
) -> Result:
    """Carry out a search.

    Args:
        search: The request.
        documents: The documents that it may find; those outside the scope may be left out.
        statistics: Counts over the whole index.
        mapping: The index's mapping.
        now: The present moment.
        scope: A clause that every hit must match besides, and that counts for the score.
        profile: The generation of scores.
        neural: Answers clauses about meaning: for each document's id its score.

    Returns:
        The hits.

    Raises:
        DslError: If the query does not fit the index.
    """
    plan = Plan(mapping, documents, statistics, profile, now, neural)
    sorter = Sorter(search.sort, plan)
    query = scoped(search.query, scope)
    found, stopped = _collect(search, plan.scorer(query), plan)
    ordered = sorter.sorted(found)
    if search.search_after is not None:
        ordered = sorter.after(ordered, search.search_after)
    page = ordered[search.start : search.start + search.size]
    scored = not search.sort or search.track_scores or any(key.field == "_score" for key in search.sort)
    best = not search.sort or search.track_scores or search.sort[0].field == "_score"
    names = _named(query, plan)
    highlighter = Highlighter(search.highlight, query, plan) if search.highlight is not None else None
    hits = [
        _shown(hit, search, sorter, plan, scored=scored)
        | _beside(hit, search, highlighter, mapping)
        | _matched(hit, names)
        for hit in page
    ]
    result = _counted(search, len(found))
    maximum = max((hit.score for hit in found), default=None) if best and search.size else None
    return replace(
        result,
        max_score=None if maximum is None else shortest(maximum),
        hits=tuple(hits),
        terminated_early=stopped,
    )


def _collect(search: SearchBody, scorer: Scorer, plan: Plan) -> tuple[list[Hit], bool | None]:
    wanted = plan.scorer(search.post_filter) if search.post_filter is not None else None
    found: list[Hit] = []
    for document in sorted(plan.documents, key=lambda document: document.order):
        go_on()
        score = scorer(document)
        if score is None or (search.min_score is not None and score < search.min_score):
            continue
        if wanted is not None and wanted(document) is None:
            continue
        if search.terminate_after and len(found) == search.terminate_after:
            return found, True
        found.append(Hit(document, score))
    return found, False if search.terminate_after else None


def _counted(search: SearchBody, count: int) -> Result:
    most = search.track_total_hits
    if most == 0:
        return Result(None, "eq", None, ())
    if most is not None and count > most:
        return Result(most, "gte", None, ())
    return Result(count, "eq", None, ())


def _shown(hit: Hit, search: SearchBody, sorter: Sorter, plan: Plan, *, scored: bool) -> dict[str, Any]:
    go_on()
    document = hit.document
    shown: dict[str, Any] = {
        "_index": plan.mapping.index,
        "_id": document.id,
        "_version": document.version,
        "_seq_no": document.seq_no,
        "_primary_term": document.primary_term,
        "_score": shortest(hit.score) if scored else None,
        "_source": search.source.apply(plan.mapping.stored(document.source, plan.profile)),
    }
    return shown | {"sort": sorter.values(hit)} if search.sort else shown


def _beside(
    hit: Hit, search: SearchBody, highlighter: Highlighter | None, mapping: IndexMapping
) -> dict[str, Any]:
    found = {
        "fields": field_values(hit.document, search.fields, mapping),
        "highlight": highlighter.fragments(hit.document) if highlighter is not None else {},
    }
    return {key: value for key, value in found.items() if value}


def _named(query: tree.Clause, plan: Plan) -> dict[str, Scorer]:
    return {clause.name: plan.scorer(clause) for clause in query.walk() if clause.name is not None}


def _matched(hit: Hit, names: dict[str, Scorer]) -> dict[str, Any]:
    matched = [name for name, scorer in names.items() if scorer(hit.document) is not None]
    return {"matched_queries": matched} if matched else {}
