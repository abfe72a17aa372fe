"""The simple query language, in which nothing is an error: ``"exact words"~2 +must -not pop* (a | b) word~1``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal

from hitherto.server.dsl import tree
from hitherto.server.dsl.asked_fields import AskedFields
from hitherto.server.dsl.errors import ShardError

FLAGS: Final = frozenset(
    {"AND", "ESCAPE", "FUZZY", "NOT", "OR", "PHRASE", "PRECEDENCE", "PREFIX", "SLOP", "WHITESPACE"}
)
"""The operators that a query can switch off."""

MAX_NESTING: Final = 50

_NUMBER: Final = re.compile(r"\d{1,9}")
_SPACES: Final = " \t\n\r"
_STOPS: Final = (("PHRASE", '"'), ("OR", "|"), ("AND", "+"), ("PRECEDENCE", "()"), ("WHITESPACE", _SPACES))

Joint = Literal["must", "should"]


class SimpleQueryStrings:
    """Reads one text.

    Args:
        text: The text.
        asked: The fields that are asked.
        joined: How words without an operator between them are joined.
        least: How many optional clauses must match, or None.
        flags: The operators that are on.
        count: Is told how many clauses were read, and may refuse them.
    """

    def __init__(
        self,
        text: str,
        asked: AskedFields,
        *,
        joined: tree.Operator,
        least: str | None,
        flags: frozenset[str],
        count: Callable[[int], None],
    ) -> None:
        self._text = text
        self._asked = asked
        self._default: Joint = "must" if joined == "and" else "should"
        self._least = least
        self._flags = flags
        self._count = count
        self._stops = "".join(char for flag, char in _STOPS if flag in flags)
        self._ends = self._matched()

    def clause(self) -> tree.Clause:
        """Read the whole text.

        Returns:
            What it means; nothing at all if it has no words.

        Raises:
            ShardError: If it is nested too deeply.
        """
        if self._text.strip() == "*":
            return tree.MatchAll()
        found = self._branch(0, len(self._text), 0) or tree.MatchNone()
        if isinstance(found, tree.Bool) and self._least is not None and found.should:
            return replace(found, minimum_should_match=self._least)
        return found

    def _branch(self, at: int, end: int, nesting: int) -> tree.Clause | None:
        if nesting > MAX_NESTING:
            raise ShardError(f"[simple_query_string] query is nested deeper than {MAX_NESTING}")
        built = _Branch(self._default)
        while at < end:
            char = self._text[at]
            if char == "-" and self._on("NOT"):
                built.negated = not built.negated
                at += 1
                continue
            if self._operator(char, built):
                at += 1
            elif char == "(" and self._on("PRECEDENCE"):
                at = self._group(at, built, nesting)
            elif char == '"' and self._on("PHRASE"):
                at = self._phrase(at + 1, end, built)
            else:
                at = self._word(at, end, built)
            built.negated = False  # it must stand right before what it negates
        return built.clause()

    def _operator(self, char: str, built: _Branch) -> bool:
        """Note an operator; return whether there was one, or something else that means nothing by itself."""
        if char == "+" and self._on("AND"):
            built.join("must")
        elif char == "|" and self._on("OR"):
            built.join("should")
        elif not ((char == ")" and self._on("PRECEDENCE")) or (char in _SPACES and self._on("WHITESPACE"))):
            return False
        return True

    def _group(self, at: int, built: _Branch, nesting: int) -> int:
        end = self._ends.get(at)
        if end is None:  # never closed: then it means nothing
            return at + 1
        if end == at + 1:
            built.joint = None
        else:
            built.add(self._branch(at + 1, end, nesting + 1))
        return end + 1

    def _phrase(self, start: int, end: int, built: _Branch) -> int:
        text, at = self._until(start, end, '"')
        if at >= end:  # never closed: then it means nothing
            return start
        if at == start:
            built.joint = None
            return at + 1
        slop = None
        if self._on("SLOP") and self._text[at + 1 : at + 2] == "~" and at + 2 < end:
            slop, at = self._distance(at + 1, end)
        else:
            at += 1
        self._count(1)
        built.add(self._asked.phrase(text, slop))
        return at

    def _word(self, start: int, end: int, built: _Branch) -> int:
        text, at = self._until(start, end, self._stops + ("~" if self._on("FUZZY") else ""), first="~")
        self._count(1)
        if at < end and self._text[at] == "~" and self._on("FUZZY"):
            edits, at = self._distance(at, end)
            edits = min(edits, 2)
            built.add(self._asked.near(text, edits) if edits else self._asked.words(text))
        elif (
            self._on("PREFIX") and len(text) > 1 and self._text[at - 1] == "*" and self._text[at - 2] != "\\"
        ):
            built.add(self._asked.prefix(text[:-1]))
        else:
            built.add(self._asked.words(text))
        return at

    def _until(self, at: int, end: int, stops: str, *, first: str = "") -> tuple[str, int]:
        """Return the text up to one of some characters, without backslashes, and where it ends.

        The *first* character may be one that would end the text further on.
        """
        pieces: list[str] = []
        while at < end:
            char = self._text[at]
            if char == "\\" and self._on("ESCAPE"):
                at += 1
                char = self._text[at] if at < end else ""
            elif char in stops and (pieces or char not in first):
                break
            pieces.append(char)
            at += 1
        return "".join(pieces), min(at, end)

    def _distance(self, at: int, end: int) -> tuple[int, int]:
        """Return the number behind a tilde, 2 if there is none, and where it ends."""
        text, stop = self._until(at + 1, end, self._stops)
        if not text:
            return 2, stop
        return (int(text) if _NUMBER.fullmatch(text) else 0), stop

    def _matched(self) -> dict[int, int]:
        """Return for each opening parenthesis where it is closed."""
        ends: dict[int, int] = {}
        opened: list[int] = []
        at = 0
        while at < len(self._text):
            char = self._text[at]
            if char == "\\" and self._on("ESCAPE"):
                at += 1
            elif char == "(":
                opened.append(at)
            elif char == ")" and opened:
                ends[opened.pop()] = at
            at += 1
        return ends

    def _on(self, flag: str) -> bool:
        return flag in self._flags


class _Branch:
    """What has been read of one pair of parentheses: from left to right, without precedence."""

    def __init__(self, default: Joint) -> None:
        self.top: tree.Clause | None = None
        self.joint: Joint | None = None
        self.negated = False
        self._default = default
        self._parts: list[tree.Clause] = []
        self._joined_by: Joint | None = None

    def join(self, joint: Joint) -> None:
        """Say how the next operand is joined, unless it was said already or there is none to join it to."""
        if self.joint is None and self.top is not None:
            self.joint = joint

    def add(self, clause: tree.Clause | None) -> None:
        """Add an operand."""
        if clause is None:
            return
        if self.negated:
            clause = tree.Bool(must_not=(clause,), should=(tree.MatchAll(),))
        if self.top is None:
            self.top, self._parts = clause, [clause]
        else:
            joint = self.joint or self._default
            if joint != self._joined_by:
                self._parts = [self.clause() or clause]
                self._joined_by = joint
            self._parts.append(clause)
        self.joint = None

    def clause(self) -> tree.Clause | None:
        """Return the operands together."""
        if self._joined_by is None:
            return self.top
        parts = tuple(self._parts)
        return tree.Bool(must=parts) if self._joined_by == "must" else tree.Bool(should=parts)
