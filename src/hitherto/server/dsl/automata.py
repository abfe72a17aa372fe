"""Wildcards and edit distance over whole terms; neither can be made to run away."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Final

from hitherto.server.dsl.patience import go_on

Test = Callable[[str], bool]

_STEPS: Final = 1_000_000
"""How many characters are compared before it is asked whether to go on."""

_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def any_case(text: str) -> str:
    """Lower the letters of ASCII only, as Lucene does for ``case_insensitive``.

    Args:
        text: A term or a pattern.

    Examples:
        >>> any_case("Ä-A")
        'Ä-a'
    """
    return text.translate(_LOWER)


def wildcard(pattern: str, *, ignoring_case: bool = False) -> Test:
    r"""Return the test of a wildcard pattern.

    Args:
        pattern: ``*`` stands for any characters, ``?`` for one; a backslash makes the next character plain.
        ignoring_case: Whether the case of ASCII letters does not matter.

    Returns:
        A function of a term.

    Examples:
        >>> wildcard("a*c?")("abcd"), wildcard("a*")("ba"), wildcard("a\\*")("a*")
        (True, False, True)
    """
    found = _runs(any_case(pattern) if ignoring_case else pattern)
    runs = [re.compile("".join(run), re.DOTALL) for run in found]
    lengths = [len(run) for run in found]

    def test(term: str) -> bool:
        text = any_case(term) if ignoring_case else term
        if len(runs) == 1:
            return runs[0].fullmatch(text) is not None
        first = runs[0].match(text)
        if first is None:
            return False
        at = first.end()
        # Each has a fixed length, so the earliest place is as good as any.
        for run, length in zip(runs[1:-1], lengths[1:-1], strict=True):
            end = _found(run, length, text, at)
            if end is None:
                return False
            at = end
        last = len(text) - lengths[-1]
        return last >= at and runs[-1].match(text, last) is not None

    return test


def _found(run: re.Pattern[str], length: int, text: str, at: int) -> int | None:
    """Return where a run ends that stands first behind a place, asking from time to time whether to go on."""
    step = max(_STEPS // max(length, 1), 1)
    for start in range(at, len(text) - length + 1, step):
        go_on()
        found = run.search(text, start, start + step + length - 1)
        if found is not None:
            return found.end()
    return None


def _runs(pattern: str) -> list[list[str]]:
    """Return the expressions of the characters between the stars."""
    runs: list[list[str]] = [[]]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\" and at + 1 < len(pattern):
            at += 1
            runs[-1].append(re.escape(pattern[at]))
        elif char == "*":
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append("." if char == "?" else re.escape(char))
        at += 1
    return runs


def distance(one: str, other: str, most: int, *, transpositions: bool = True) -> int | None:
    """Return how many edits lead from one word to another.

    Args:
        one: A word.
        other: Another.
        most: How many edits are allowed.
        transpositions: Whether two characters that changed places are one edit.

    Returns:
        The number, or None if it is larger than *most*.

    Examples:
        >>> (
        ...     distance("memory", "memroy", 2),
        ...     distance("memory", "memroy", 1, transpositions=False),
        ...     distance("a", "b", 1),
        ... )
        (1, None, 1)
    """
    if abs(len(one) - len(other)) > most:
        return None
    go_on()
    start = 0
    while start < len(one) and start < len(other) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    if not a or not b:
        return len(a) + len(b)
    if most == 0:
        return None
    ways = [(a[1:], b[1:]), (a[1:], b), (a, b[1:])]
    if transpositions and a[:2] == b[1::-1] and len(a) > 1:
        ways.append((a[2:], b[2:]))
    found = [distance(x, y, most - 1, transpositions=transpositions) for x, y in ways]
    return min((1 + edits for edits in found if edits is not None), default=None)
