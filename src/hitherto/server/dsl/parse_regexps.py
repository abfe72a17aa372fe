"""Reads Lucene's regular expressions, and the clause that asks with one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.automata import any_case
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.parameters import malformed, short_or_long
from hitherto.server.dsl.parse import QueryParser, parses
from hitherto.server.dsl.parse_terms import whatever_case
from hitherto.server.dsl.regexes import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    NOTHING,
    Chars,
    Expression,
    Number,
    Regex,
    both,
    either,
    negation,
    repetition,
    sequence,
)

_MAX_PATTERN: Final = 1000
_MAX_NESTING: Final = 40
_MAX_REPEAT: Final = 1000
_FLAGS: Final = ("ALL", "ANYSTRING", "AUTOMATON", "COMPLEMENT", "EMPTY", "INTERSECTION", "INTERVAL", "NONE")
_BOUNDS: Final = re.compile(r"\{(\d{1,9})(,(\d{1,9})?)?\}")
_INTERVAL: Final = re.compile(r"<(\d{1,18})-(\d{1,18})>")
_CLASSES: Final = {
    "d": (("0", "9"),),
    "s": ((" ", " "), ("\t", "\r")),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
}


@parses("regexp")
def _regexp(parser: QueryParser, value: object) -> tree.Clause:
    field, given = short_or_long("regexp", "value", value)
    given.integer("max_determinized_states", 10_000)
    clause = tree.Regexp(
        field,
        given.required_text("value"),
        given.text("flags") or "ALL",
        whatever_case(given),
        boost=given.boost(),
        name=given.name(),
    )
    given.done()
    regular_expression(clause.value, clause.flags, ignoring_case=clause.case_insensitive)
    return clause


@lru_cache(maxsize=64)
def regular_expression(pattern: str, flags: str = "ALL", *, ignoring_case: bool = False) -> Regex:
    """Read a regular expression.

    Args:
        pattern: The pattern.
        flags: Which operators beyond the usual are on, joined by ``|``: ``ALL``, ``NONE``, ``ANYSTRING``,
            ``COMPLEMENT``, ``EMPTY``, ``INTERSECTION``, ``INTERVAL``.
        ignoring_case: Whether the case of ASCII letters does not matter.

    Returns:
        The expression.

    Raises:
        DslError: If a flag is unknown, or the pattern is malformed or too long.

    Examples:
        >>> regular_expression("a.*(b|c)+").matches("axxbc"), regular_expression("~(abc)").matches("abc")
        (True, False)
    """
    if len(pattern) > _MAX_PATTERN:
        raise ShardError(
            f"The length of regex [{len(pattern)}] used in the Regexp Query request has exceeded the allowed maximum "
            f"of [{_MAX_PATTERN}]."
        )
    named = set(flags.upper().split("|"))
    if not named <= set(_FLAGS):
        raise malformed(f"[regexp] query: unknown flag in {shown(flags)}; known are {', '.join(_FLAGS)}")
    on = set(_FLAGS) if "ALL" in named else named
    return Regex(
        _Reader(any_case(pattern) if ignoring_case else pattern, on).all(), ignoring_case=ignoring_case
    )


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str, flags: set[str]) -> None:
        self._pattern = pattern
        self._flags = flags
        self._at = 0
        self._nesting = 0

    def all(self) -> Expression:
        if not self._pattern:
            return EMPTY
        found = self._union()
        if self._at < len(self._pattern):
            raise self._wrong("unexpected end of expression")
        return found

    def _union(self) -> Expression:
        self._nesting += 1
        if self._nesting > _MAX_NESTING:
            raise self._wrong(f"it is nested deeper than {_MAX_NESTING}")
        options = [self._intersection()]
        while self._skip("|"):
            options.append(self._intersection())
        self._nesting -= 1
        return either(*options)

    def _intersection(self) -> Expression:
        found = self._sequence()
        while "INTERSECTION" in self._flags and self._skip("&"):
            found = both(found, self._sequence())
        return found

    def _sequence(self) -> Expression:
        parts = []
        while self._at < len(self._pattern) and not self._ahead(")|") and not self._stops():
            parts.append(self._repeated())
        if not parts:
            raise self._wrong("an operand is missing")
        return sequence(*parts)

    def _stops(self) -> bool:
        return "INTERSECTION" in self._flags and self._ahead("&")

    def _repeated(self) -> Expression:
        found = self._negated()
        times = 0
        while self._ahead("?*+{"):
            times += 1
            if times > _MAX_NESTING:
                raise self._wrong("it is repeated too often")
            char = self._pattern[self._at]
            if char == "{":
                found = repetition(found, *self._bounds())
                continue
            self._at += 1
            found = repetition(found, 1 if char == "+" else 0, 1 if char == "?" else None)
        return found

    def _bounds(self) -> tuple[int, int | None]:
        bounds = _BOUNDS.match(self._pattern, self._at)
        if bounds is None:
            raise self._wrong("integer expected")
        self._at = bounds.end()
        least = int(bounds[1])
        most = int(bounds[3]) if bounds[3] else None if bounds[2] else least
        if least > _MAX_REPEAT or (most is not None and not least <= most <= _MAX_REPEAT):
            raise self._wrong(f"a repetition must be from 0 to {_MAX_REPEAT}, the smaller number first")
        return least, most

    def _negated(self) -> Expression:
        count = 0
        while "COMPLEMENT" in self._flags and self._skip("~"):
            count += 1
        found = self._simple()
        return negation(found) if count % 2 else found

    def _simple(self) -> Expression:
        for char, flag, meaning in (
            (".", None, ANY_CHAR),
            ("#", "EMPTY", NOTHING),
            ("@", "ANYSTRING", ANY_TEXT),
        ):
            if (flag is None or flag in self._flags) and self._skip(char):
                return meaning
        if self._skip("("):
            return self._group()
        if self._skip("["):
            return self._class()
        if self._skip('"'):
            return self._quoted()
        if "INTERVAL" in self._flags and self._ahead("<"):
            return self._interval()
        return self._character()

    def _group(self) -> Expression:
        if self._skip(")"):
            return EMPTY
        found = self._union()
        if not self._skip(")"):
            raise self._wrong("expected ')'")
        return found

    def _quoted(self) -> Expression:
        end = self._pattern.find('"', self._at)
        if end < 0:
            raise self._wrong("expected '\"'")
        text, self._at = self._pattern[self._at : end], end + 1
        return sequence(*(Chars(((char, char),)) for char in text))

    def _interval(self) -> Expression:
        found = _INTERVAL.match(self._pattern, self._at)
        if found is None:
            raise self._wrong("'<' starts a number such as <1-20>; named automata are not supported")
        self._at = found.end()
        low, high = sorted((int(found[1]), int(found[2])))
        return Number(low, high, len(found[1]) if len(found[1]) == len(found[2]) else 0)

    def _class(self) -> Expression:
        negated = self._skip("^")
        ranges: list[tuple[str, str]] = []
        while not self._ahead("]") or not ranges:
            if self._ahead("\\") and self._pattern[self._at + 1 : self._at + 2] in _CLASSES:
                ranges += _CLASSES[self._pattern[self._at + 1]]
                self._at += 2
                continue
            low = high = self._plain()
            if self._ahead("-") and self._pattern[self._at + 1 : self._at + 2] not in {"]", ""}:
                self._at += 1
                high = self._plain()
            if low > high:
                raise self._wrong(f"the range {low}-{high} runs backwards")
            ranges.append((low, high))
        self._at += 1
        return Chars(tuple(ranges), negated)

    def _character(self) -> Expression:
        following = self._pattern[self._at + 1 : self._at + 2]
        if self._ahead("\\") and following and following.lower() in _CLASSES:
            self._at += 2
            return Chars(_CLASSES[following.lower()], negated=following.isupper())
        char = self._plain()
        return Chars(((char, char),))

    def _plain(self) -> str:
        self._skip("\\")
        if self._at >= len(self._pattern):
            raise self._wrong("unexpected end of expression")
        self._at += 1
        return self._pattern[self._at - 1]

    def _ahead(self, chars: str) -> bool:
        return self._at < len(self._pattern) and self._pattern[self._at] in chars

    def _skip(self, char: str) -> bool:
        if self._ahead(char):
            self._at += 1
            return True
        return False

    def _wrong(self, what: str) -> ShardError:
        return ShardError(f"[regexp] query: {what} at position {self._at} of {shown(self._pattern)}")
