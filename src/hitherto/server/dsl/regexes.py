"""Regular expressions as Lucene writes them, matched by their derivatives.

They always span the whole term. Beyond the usual there are ``~`` for "not", ``&`` for "and", ``@`` for any text,
``#`` for none, ``<1-20>`` for a number and ``"..."`` for plain text. The derivative of an expression after a
character is what the rest of the term has to match: "not" and "and" are as easy as "or" this way, nothing is ever
tried twice, and the work for each character is bounded by the size of the expression, which is bounded too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from hitherto.server.dsl.automata import any_case
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.patience import paced

_MAX_PARTS: Final = 2_000
_MAX_STATES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of ranges, or out of all others."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def holds(self, char: str) -> bool:
        """Return whether a character is meant.

        Args:
            char: The character.
        """
        return any(low <= char <= high for low, high in self.ranges) != self.negated


@dataclass(frozen=True, slots=True)
class Sequence:
    """Expressions one after the other; none of them for the empty text."""

    parts: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """One of several expressions; none of them for nothing at all."""

    options: frozenset[Expression] = frozenset()


@dataclass(frozen=True, slots=True)
class Both:
    """Two expressions at once."""

    one: Expression
    other: Expression


@dataclass(frozen=True, slots=True)
class Not:
    """Anything but an expression."""

    inner: Expression


@dataclass(frozen=True, slots=True)
class Repeat:
    """An expression several times over; without *most* as often as one likes."""

    inner: Expression
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number between two; *digits* is how long it is written, or 0 for any length.

    What is asked of the rest of the number is kept as what was read so far.
    """

    low: int
    high: int
    digits: int
    read: str = ""


Expression: TypeAlias = "Chars | Sequence | Either | Both | Not | Repeat | Number"

EMPTY: Final = Sequence()
NOTHING: Final = Either()
ANY_CHAR: Final = Chars((), negated=True)
ANY_TEXT: Final = Repeat(ANY_CHAR)


def sequence(*parts: Expression) -> Expression:
    """Put expressions one after the other.

    Args:
        parts: The expressions.

    Returns:
        The simplest that means the same.
    """
    flat: list[Expression] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        flat += part.parts if isinstance(part, Sequence) else (part,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def either(*options: Expression) -> Expression:
    """Join expressions of which one must match.

    Args:
        options: The expressions.

    Returns:
        The simplest that means the same.
    """
    flat: set[Expression] = set()
    for option in options:
        flat |= option.options if isinstance(option, Either) else {option}
    return ANY_TEXT if ANY_TEXT in flat else next(iter(flat)) if len(flat) == 1 else Either(frozenset(flat))


def both(one: Expression, other: Expression) -> Expression:
    """Join two expressions that must both match.

    Args:
        one: An expression.
        other: Another.

    Returns:
        The simplest that means the same.
    """
    if NOTHING in (one, other):
        return NOTHING
    if one in (other, ANY_TEXT):
        return other
    return one if other == ANY_TEXT else Both(one, other)


def negation(inner: Expression) -> Expression:
    """Turn an expression into its opposite.

    Args:
        inner: The expression.
    """
    if inner in (NOTHING, ANY_TEXT):
        return ANY_TEXT if inner == NOTHING else NOTHING
    return inner.inner if isinstance(inner, Not) else Not(inner)


def repetition(inner: Expression, least: int, most: int | None) -> Expression:
    """Repeat an expression.

    Args:
        inner: The expression.
        least: How often at least.
        most: How often at most, or None.
    """
    if most == 0 or inner == EMPTY:
        return EMPTY
    if inner == NOTHING:
        return NOTHING if least else EMPTY
    return inner if (least, most) == (1, 1) else Repeat(inner, least, most)


class Regex:
    """A regular expression that can be asked.

    Args:
        expression: The expression.
        ignoring_case: Whether the case of ASCII letters does not matter.

    Examples:
        >>> Regex(sequence(Chars((("a", "a"),)), ANY_TEXT)).matches("abc")
        True
    """

    def __init__(self, expression: Expression, *, ignoring_case: bool = False) -> None:
        self._expression = expression
        self._ignoring_case = ignoring_case
        self._next: dict[tuple[Expression, str], Expression] = {}

    def matches(self, term: str) -> bool:
        """Return whether all of a term fits.

        Args:
            term: The term.

        Raises:
            ShardError: If the expression turns out too complex.
        """
        state = self._expression
        for char in paced(any_case(term) if self._ignoring_case else term):
            if state in (NOTHING, ANY_TEXT):
                break
            state = self._after(state, char)
        return nullable(state)

    def _after(self, state: Expression, char: str) -> Expression:
        found = self._next.get((state, char))
        if found is None:
            found = derivative(state, char)
            if _size(found) > _MAX_PARTS:
                raise ShardError(
                    "[regexp] query: the expression is too complex", type="illegal_argument_exception"
                )
            if len(self._next) >= _MAX_STATES:
                self._next.clear()
            self._next[state, char] = found
        return found


@lru_cache(maxsize=4096)
def _size(expression: Expression) -> int:
    if isinstance(expression, Sequence):
        return 1 + sum(map(_size, expression.parts))
    if isinstance(expression, Either):
        return 1 + sum(map(_size, expression.options))
    if isinstance(expression, Both):
        return 1 + _size(expression.one) + _size(expression.other)
    return 1 + _size(expression.inner) if isinstance(expression, (Not, Repeat)) else 1


def nullable(expression: Expression) -> bool:
    """Return whether an expression fits the empty text.

    Args:
        expression: The expression.
    """
    if isinstance(expression, Sequence):
        return all(map(nullable, expression.parts))
    if isinstance(expression, Either):
        return any(map(nullable, expression.options))
    if isinstance(expression, Both):
        return nullable(expression.one) and nullable(expression.other)
    if isinstance(expression, Not):
        return not nullable(expression.inner)
    if isinstance(expression, Repeat):
        return expression.least == 0 or nullable(expression.inner)
    return isinstance(expression, Number) and _complete(expression)


def derivative(expression: Expression, char: str) -> Expression:
    """Return what the rest must match after a character.

    Args:
        expression: The expression.
        char: The character.
    """
    if isinstance(expression, Chars):
        return EMPTY if expression.holds(char) else NOTHING
    if isinstance(expression, Sequence):
        return _after_first(expression.parts, char)
    if isinstance(expression, Either):
        return either(*(derivative(option, char) for option in expression.options))
    if isinstance(expression, Both):
        return both(derivative(expression.one, char), derivative(expression.other, char))
    if isinstance(expression, Not):
        return negation(derivative(expression.inner, char))
    if isinstance(expression, Repeat):
        most = None if expression.most is None else expression.most - 1
        least = 0 if nullable(expression.inner) else max(expression.least - 1, 0)
        return sequence(derivative(expression.inner, char), repetition(expression.inner, least, most))
    return _longer(expression, char)


def _after_first(parts: tuple[Expression, ...], char: str) -> Expression:
    options: list[Expression] = []
    for place, part in enumerate(parts):
        options.append(sequence(derivative(part, char), *parts[place + 1 :]))
        if not nullable(part):
            break
    return either(*options)


def _longer(number: Number, char: str) -> Expression:
    read = number.read + char
    most = number.digits or len(str(number.high))
    return (
        Number(number.low, number.high, number.digits, read)
        if char in "0123456789" and len(read) <= most
        else NOTHING
    )


def _complete(number: Number) -> bool:
    if not number.read or (number.digits and len(number.read) != number.digits):
        return False
    return number.low <= int(number.read) <= number.high
