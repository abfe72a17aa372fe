"""From the JSON of a query to its tree; whatever is unknown or of the wrong type is refused by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.errors import ILLEGAL_ARGUMENT, PARSING, DslError, ShardError, locate
from hitherto.server.dsl.fields import IndexMapping
from hitherto.server.dsl.parameters import Parameters, malformed

MAX_DEPTH: Final = 50
MAX_CLAUSES: Final = 1024
_LONGEST_RULE: Final = 200

ClauseParser = Callable[["QueryParser", Any], tree.Clause]
CLAUSES: Final[dict[str, ClauseParser]] = {}


def parses(name: str) -> Callable[[ClauseParser], ClauseParser]:
    """Register the function that reads a clause.

    Args:
        name: The clause's name.
    """

    def register(parser: ClauseParser) -> ClauseParser:
        CLAUSES[name] = parser
        return parser

    return register


@dataclass
class QueryParser:
    """Reads the clauses of one request, and counts them.

    Attributes:
        mapping: The index's mapping.
        now: The present moment, for date math.
        body: The whole request, to find the place of an error.
        raw: Its bytes, if at hand.
    """

    mapping: IndexMapping
    now: datetime
    body: object = None
    raw: bytes | None = None
    _depth: int = field(default=0, repr=False)
    _count: int = field(default=0, repr=False)

    def clause(self, value: object) -> tree.Clause:
        """Read a clause.

        Args:
            value: An object with one key, the clause's name.

        Returns:
            The tree.

        Raises:
            DslError: If it is malformed, unknown, too deep, or one too many.
        """
        if not isinstance(value, Mapping):
            raise malformed(f"[_na] query malformed, must start with start_object, got {shown(value)}")
        if not value:
            place = locate(self.body, self.raw, "query")
            raise DslError(f"query malformed, empty clause found at [{place['line']}:{place['col']}]")
        name, *others = map(str, value)
        if name not in CLAUSES:
            raise self._unknown(name)
        if others:
            raise malformed(
                f"[{name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]: [{others[0]}]"
            )
        self.count(1)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise DslError(f"The nested depth of the query exceeds the maximum nested depth of [{MAX_DEPTH}]")
        try:
            return CLAUSES[name](self, value[name])
        except DslError as error:
            if error.type == PARSING and "line" not in error.metadata:
                error.metadata |= locate(self.body, self.raw, name)
            raise
        finally:
            self._depth -= 1

    def clauses(self, clause: str, key: str, value: object) -> tuple[tree.Clause, ...]:
        """Read a list of clauses, or a single one.

        Args:
            clause: The clause that they stand in.
            key: The parameter that they stand under.
            value: What stands there.
        """
        if isinstance(value, Mapping):
            return (self.clause(value),)
        if not isinstance(value, list):
            raise malformed(
                f"[{clause}] query: [{key}] must be a clause or an array of clauses, got {shown(value)}"
            )
        return tuple(self.clause(item) for item in value)

    def count(self, more: int) -> None:
        """Count clauses.

        Args:
            more: How many more there are.

        Raises:
            DslError: If there are too many now.
        """
        self._count += more
        if self._count > MAX_CLAUSES:
            raise ShardError(f"maxClauseCount is set to {MAX_CLAUSES}", type="too_many_clauses")

    def _unknown(self, name: str) -> DslError:
        near = difflib.get_close_matches(name, CLAUSES, n=1, cutoff=0.75)
        place = locate(self.body, self.raw, name)
        return DslError(
            f"unknown query [{name}]" + (f" did you mean [{near[0]}]?" if near else ""),
            type=PARSING,
            metadata=place,
            caused_by={
                "type": "named_object_not_found_exception",
                "reason": f"[{place['line']}:{place['col']}] unknown field [{name}]",
            },
        )


@parses("match_all")
def _match_all(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("match_all", value)
    clause = tree.MatchAll(boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("match_none")
def _match_none(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("match_none", value)
    clause = tree.MatchNone(boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("bool")
def _bool(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("bool", value)
    groups = {
        key: parser.clauses("bool", key, given.take(key, []))
        for key in ("must", "should", "filter", "must_not", "mustNot")
    }
    given.boolean("adjust_pure_negative", default=True)
    clause = tree.Bool(
        must=groups["must"],
        should=groups["should"],
        filter=groups["filter"],
        must_not=groups["must_not"] + groups["mustNot"],
        minimum_should_match=minimum_should_match(given),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


@parses("constant_score")
def _constant_score(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("constant_score", value)
    if "filter" not in given:
        raise malformed("[constant_score] requires a 'filter' element")
    clause = tree.ConstantScore(parser.clause(given.take("filter")), boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("dis_max")
def _dis_max(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("dis_max", value)
    queries = parser.clauses("dis_max", "queries", given.take("queries", []))
    if not queries:
        raise malformed("[dis_max] requires 'queries' field with at least one clause")
    clause = tree.DisMax(queries, given.number("tie_breaker", 0.0), boost=given.boost(), name=given.name())
    given.done()
    return clause


@parses("boosting")
def _boosting(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("boosting", value)
    for key, kind in (("positive", "query"), ("negative", "query"), ("negative_boost", "number")):
        if key not in given:
            raise malformed(f"[boosting] query requires '{key}' {kind} to be set")
    clause = tree.Boosting(
        parser.clause(given.take("positive")),
        parser.clause(given.take("negative")),
        given.number("negative_boost", 0.0),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    return clause


@parses("neural")
def _neural(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("neural", value)
    boost, name = given.boost(), given.name()
    fields = list(given.rest())
    if len(fields) != 1:
        raise malformed(f"[neural] query requires one field name, got {len(fields)}")
    inner = Parameters("neural", given.take(fields[0]))
    clause = tree.Neural(
        fields[0],
        inner.required_text("query_text"),
        inner.integer("k", 10, least=1, most=10_000),
        boost=boost * inner.boost(),
        name=inner.name() or name,
    )
    inner.done()
    return clause


@parses("hybrid")
def _hybrid(parser: QueryParser, value: object) -> tree.Clause:
    given = Parameters("hybrid", value)
    queries = parser.clauses("hybrid", "queries", given.take("queries", []))
    if not 1 <= len(queries) <= 5:
        raise malformed(f"[hybrid] query requires 'queries' with 1 to 5 clauses, got {len(queries)}")
    clause = tree.Hybrid(queries, _weights(given, len(queries)), boost=given.boost(), name=given.name())
    given.done()
    return clause


def _weights(given: Parameters, count: int) -> tuple[float, ...] | None:
    value = given.take("weights")
    if value is None:
        return None
    numbers = (
        [Parameters("hybrid", {"weights": item}).number("weights", 0) for item in value]
        if isinstance(value, list)
        else []
    )
    if len(numbers) != count or abs(sum(numbers) - 1) > 0.01:
        raise given.wrong("weights", value, f"{count} numbers that add up to 1")
    return tuple(numbers)


def minimum_should_match(given: Parameters) -> str | None:
    """Take how many optional clauses must match, and check how it is written.

    Args:
        given: The clause's parameters.

    Returns:
        The text, or None.

    Raises:
        DslError: If it is neither a number, a share, nor conditions of them.
    """
    text = given.text("minimum_should_match")
    if text is not None:
        try:
            required(10, text if len(text) <= _LONGEST_RULE else "")
        except ValueError:
            wanted = 'such as 2, "75%" or "2<-1 5<80%"'
            raise DslError(
                f"[{given.clause}] query: [minimum_should_match] must be {wanted}, got {shown(text)}",
                type=ILLEGAL_ARGUMENT,
            ) from None
    return text


def required(optional: int, text: str) -> int:
    """Return how many of the optional clauses must match.

    Args:
        optional: How many there are.
        text: The rule.

    Returns:
        A number that may be larger than *optional*: then nothing matches.

    Examples:
        >>> required(5, "75%"), required(5, "-1"), required(5, "2<-25% 9<-3"), required(2, "2<-25%")
        (3, 4, 4, 2)
    """
    result = optional
    if "<" in text:
        for condition in text.replace(" <", "<").replace("< ", "<").split():
            bound, _, rule = condition.partition("<")
            if optional <= int(bound):
                return result
            result = required(optional, rule)
        return result
    text = text.strip()
    if text.endswith("%"):
        share = int(optional * int(text[:-1]) / 100)
        result = optional + share if share < 0 else share
    else:
        result = int(text) if int(text) >= 0 else optional + int(text)
    return max(result, 0)
