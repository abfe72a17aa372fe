"""Reads the clauses about whole terms, ranges, and which documents have a field or an id."""

from __future__ import annotations

from typing import Any

from hitherto.server.dsl import tree
from hitherto.server.dsl.parameters import Parameters, malformed, one_field, short_or_long
from hitherto.server.dsl.parse import QueryParser, parses
from hitherto.server.dsl.parse_fuzziness import fuzziness

_MAX_TERMS = 65_536
_REWRITES = ("constant_score", "constant_score_boolean", "constant_score_blended")


@parses("term")
def _term(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("term", "value", value)
    asked = given.scalar("value")
    if asked is None:
        raise malformed("value cannot be null")
    clause = tree.Term(
        field,
        asked,
        given.boolean("case_insensitive"),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


@parses("terms")
def _terms(parser: QueryParser, value: object) -> tree.Clause:
    field, asked, outer = one_field("terms", value)
    if isinstance(asked, dict):
        raise malformed(
            f"[terms] query: the lookup of terms in another document is not supported, field [{field}]"
        )
    clause = tree.Terms(field, _values("terms", asked), boost=outer.boost(), name=outer.name())
    outer.done()
    return clause


@parses("terms_set")
def _terms_set(parser: QueryParser, value: object) -> tree.Clause:
    field, asked, outer = one_field("terms_set", value)
    given = Parameters("terms_set", asked)
    if "minimum_should_match_script" in given:
        raise malformed(
            "[terms_set] query does not support [minimum_should_match_script]: scripts are not supported"
        )
    clause = tree.TermsSet(
        field,
        _values("terms_set", given.take("terms", [])),
        given.required_text("minimum_should_match_field"),
        boost=given.boost() * outer.boost(),
        name=given.name() or outer.name(),
    )
    given.done()
    return clause


@parses("range")
def _range(parser: QueryParser, value: object) -> tree.Clause:
    field, asked, outer = one_field("range", value)
    given = Parameters("range", asked)
    name, boost = outer.name(), outer.boost()
    bounds: dict[str, Any] = {key: given.scalar(key) for key in ("gt", "gte", "lt", "lte")}
    for key, include, inclusive, exclusive in (
        ("from", "include_lower", "gte", "gt"),
        ("to", "include_upper", "lte", "lt"),
    ):
        old, whole = given.scalar(key), given.boolean(include, default=True)
        if old is not None:
            bounds[inclusive if whole else exclusive] = old
    given.choice("relation", "intersects", ("intersects", "contains", "within"))
    clause = tree.Range(
        field,
        **bounds,
        format=given.text("format"),
        time_zone=given.text("time_zone"),
        boost=given.boost() * boost,
        name=given.name() or name,
    )
    given.done()
    return clause


@parses("exists")
def _exists(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("exists", value)
    field = given.required_text("field")
    if not field:
        raise malformed("[exists] requires [field] to be a field's name, got ''")
    clause = tree.Exists(field, boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("ids")
def _ids(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("ids", value)
    values = _values("ids", given.take("values"))
    given.take("type")
    clause = tree.Ids(tuple(map(str, values)), boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("prefix")
def _prefix(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("prefix", "value", value)
    clause = tree.Prefix(
        field, given.required_text("value"), whatever_case(given), boost=given.boost(), name=given.name()
    )
    given.done()
    return clause


@parses("wildcard")
def _wildcard(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("wildcard", "value", value)
    if "wildcard" in given and "value" not in given:
        given.rest()["value"] = given.take("wildcard")
    clause = tree.Wildcard(
        field, given.required_text("value"), whatever_case(given), boost=given.boost(), name=given.name()
    )
    given.done()
    return clause


@parses("fuzzy")
def _fuzzy(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("fuzzy", "value", value)
    _rewrite(given)
    given.rest().setdefault("fuzziness", "AUTO")
    clause = tree.Fuzzy(
        field,
        given.required_text("value"),
        fuzziness(given, transpositions="transpositions") or tree.Fuzziness(),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


def whatever_case(given: Parameters) -> bool:
    """Take whether case does not matter, and how terms are rewritten, which makes no difference here.

    Args:
        given: The clause's parameters.
    """
    _rewrite(given)
    return given.boolean("case_insensitive")


def _rewrite(given: Parameters) -> None:
    value = given.take("rewrite")
    if value is not None and value not in _REWRITES:
        raise given.wrong("rewrite", value, "one of " + ", ".join(_REWRITES))


def _values(clause: str, value: object) -> tuple[tree.Scalar, ...]:
    values = [value] if isinstance(value, str) and clause == "ids" else value
    if not isinstance(values, list):
        raise malformed(f"[{clause}] query requires an array of values")
    if len(values) > _MAX_TERMS:
        raise malformed(f"[{clause}] query: at most {_MAX_TERMS} values are allowed, got {len(values)}")
    for item in values:
        if item is None or not isinstance(item, (str, bool, int, float)):
            raise malformed(f"[{clause}] query: values must be texts, numbers or booleans, got {item!r:.80}")
    return tuple(values)
