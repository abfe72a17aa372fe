"""Reads the clauses about the words of a text."""

from __future__ import annotations

import re
from typing import Final, get_args

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.analysis import ANALYZERS
from hitherto.server.dsl.errors import DslError
from hitherto.server.dsl.parameters import Parameters, as_number, malformed, short_or_long
from hitherto.server.dsl.parse import QueryParser, minimum_should_match, parses
from hitherto.server.dsl.parse_fuzziness import fuzziness

_OPERATORS: Final = ("or", "and")
_TYPES: Final = get_args(tree.MultiMatchType)
_BOOSTED: Final = re.compile(r"(?P<field>.+)\^(?P<boost>[0-9.eE+]+)\Z", re.DOTALL)


@parses("match")
def _match(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("match", "query", value)
    clause = tree.Match(field, _query(given), matching(given), boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("match_phrase")
def _match_phrase(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("match_phrase", "query", value)
    clause = tree.MatchPhrase(
        field,
        _query(given),
        given.integer("slop", 0),
        _plain(given),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


@parses("match_phrase_prefix")
def _match_phrase_prefix(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("match_phrase_prefix", "query", value)
    clause = tree.MatchPhrasePrefix(
        field,
        _query(given),
        given.integer("slop", 0),
        given.integer("max_expansions", 50, least=1),
        _plain(given),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


@parses("match_bool_prefix")
def _match_bool_prefix(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("match_bool_prefix", "query", value)
    given.text("fuzzy_rewrite")
    clause = tree.MatchBoolPrefix(
        field, _query(given), matching(given), boost=given.boost(), name=given.name()
    )
    given.done()
    return clause


@parses("multi_match")
def _multi_match(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("multi_match", value)
    kind: tree.MultiMatchType = given.choice("type", "best_fields", _TYPES)
    expansions = given.rest().get("max_expansions", 50)
    clause = tree.MultiMatch(
        _query(given),
        fields_with_boosts(given),
        kind,
        given.number("tie_breaker", 0.0) if "tie_breaker" in given else None,
        given.integer("slop", 0),
        Parameters("multi_match", {"max_expansions": expansions}).integer("max_expansions", 50, least=1),
        matching(given),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    if clause.matching.fuzziness is not None and kind in {"cross_fields", "phrase", "phrase_prefix"}:
        raise DslError(f"Fuzziness not allowed for type [{kind}]", type="parsing_exception")
    return clause


def fields_with_boosts(given: Parameters) -> tuple[tuple[str, float], ...]:
    """Take the names of fields with their boosts.

    Args:
        given: The clause's parameters.

    Returns:
        Names, which may be patterns, and boosts.

    Raises:
        DslError: If it is neither a text nor a list of texts, or a boost is no number.
    """
    value = given.take("fields", [])
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise given.wrong("fields", value, "a list of field names")
    return tuple(_boosted(given, name) for name in names)


def _boosted(given: Parameters, name: str) -> tuple[str, float]:
    found = _BOOSTED.match(name)
    if found is None:
        return name, 1.0
    boost = as_number(found["boost"])
    if boost is None:
        raise malformed(
            f"[{given.clause}] query: the boost of field [{name}] must be a number, got {shown(found['boost'])}"
        )
    return found["field"], Parameters(given.clause, {"boost": boost}).boost()


def matching(given: Parameters) -> tree.Matching:
    """Take how the words of a text are asked for.

    Args:
        given: The clause's parameters.

    Returns:
        The choices.
    """
    given.text("fuzzy_rewrite")
    given.boolean("auto_generate_synonyms_phrase_query", default=True)
    given.number("cutoff_frequency", 0.0)
    return tree.Matching(
        operator=operator(given, "operator"),
        minimum_should_match=minimum_should_match(given),
        fuzziness=fuzziness(given),
        analyzer=analyzer(given),
        all_if_no_words=_no_words(given),
        lenient=given.boolean("lenient"),
    )


def operator(given: Parameters, key: str) -> tree.Operator:
    """Take an operator.

    Args:
        given: The clause's parameters.
        key: The parameter's name.
    """
    chosen: tree.Operator = "and" if given.choice(key, "or", _OPERATORS) == "and" else "or"
    return chosen


def _plain(given: Parameters) -> tree.Matching:
    return tree.Matching(analyzer=analyzer(given), all_if_no_words=_no_words(given))


def _no_words(given: Parameters) -> bool:
    return given.choice("zero_terms_query", "none", ("none", "all")) == "all"


def analyzer(given: Parameters) -> str | None:
    """Take the name of an analyser.

    Args:
        given: The clause's parameters.

    Raises:
        DslError: If there is none of that name.
    """
    name = given.text("analyzer")
    if name is not None and name not in ANALYZERS:
        raise DslError(f"[{given.clause}] analyzer [{name}] not found")
    return name


def _query(given: Parameters) -> tree.Scalar:
    asked = given.scalar("query")
    if asked is None:
        raise malformed(f"[{given.clause}] requires query value")
    return asked
