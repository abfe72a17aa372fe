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

_NUMBER: Final = re.compile(r"~(\d{0,9})\Z")

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
        self._at = 0

    def clause(self) -> tree.Clause:
        """Read the whole text.

        Returns:
            What it means; nothing at all if it has no words.

        Raises:
            ShardError: If it is nested too deeply.
        """
        found = self._branch(nesting=0) or tree.MatchNone()
        if isinstance(found, tree.Bool) and self._least is not None and found.should:
            return replace(found, minimum_should_match=self._least)
        return found

    def _branch(self, *, nesting: int) -> tree.Clause | None:
        if nesting > MAX_NESTING:
            raise ShardError(f"[simple_query_string] query is nested deeper than {MAX_NESTING}")
        built = _Branch(self._default)
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == ")" and self._on("PRECEDENCE"):
                self._at += 1
                if nesting:
                    break
            elif not self._operator(char, built):
                built.add(self._operand(char, nesting))
        return built.clause()

    def _operator(self, char: str, built: _Branch) -> bool:
        """Note an operator or skip white space; return whether there was one."""
        if char == "-" and self._on("NOT"):
            built.negated = not built.negated
        elif char == "+" and self._on("AND"):
            built.joint = built.joint or ("must" if built.top is not None else None)
        elif char == "|" and self._on("OR"):
            built.joint = built.joint or ("should" if built.top is not None else None)
        elif not (char.isspace() and self._on("WHITESPACE")):
            return False
        else:
            built.negated = False
        self._at += 1
        return True

    def _operand(self, char: str, nesting: int) -> tree.Clause | None:
        if char == "(" and self._on("PRECEDENCE"):
            self._at += 1
            return self._branch(nesting=nesting + 1)
        self._count(1)
        return self._phrase() if char == '"' and self._on("PHRASE") else self._word()

    def _phrase(self) -> tree.Clause | None:
        start = self._at + 1
        text, end = self._until(start, '"')
        if end >= len(self._text):  # never closed: then the quote means nothing
            self._at = start
            return None
        self._at = end + 1
        return self._asked.phrase(text, self._distance("SLOP")) if text.strip() else None

    def _word(self) -> tree.Clause | None:
        stops = "".join(
            char
            for flag, char in (("PHRASE", '"'), ("OR", "|"), ("AND", "+"), ("PRECEDENCE", "()"))
            if self._on(flag)
        )
        text, end = self._until(self._at, stops, spaces=self._on("WHITESPACE"))
        written, self._at = self._text[self._at : end], end
        near = _NUMBER.search(written) if self._on("FUZZY") else None
        if near and near.start():
            word = text[: len(text) - len(near[0])]
            edits = min(int(near[1]), 2) if near[1] else None
            return self._asked.near(word, edits) if edits != 0 else self._asked.words(word)
        if self._on("PREFIX") and written.endswith("*") and not written.endswith("\\*") and len(text) > 1:
            return self._asked.prefix(text[:-1])
        return self._asked.words(text) if text else None

    def _until(self, start: int, stops: str, *, spaces: bool = False) -> tuple[str, int]:
        """Return the text up to one of some characters, without backslashes, and where it ends."""
        at = start
        pieces: list[str] = []
        while at < len(self._text):
            char = self._text[at]
            if char == "\\" and self._on("ESCAPE") and at + 1 < len(self._text):
                at += 1
                char = self._text[at]
            elif char in stops or (spaces and char.isspace()):
                break
            pieces.append(char)
            at += 1
        return "".join(pieces), at

    def _distance(self, flag: str) -> int | None:
        found = re.compile(r"~(\d{1,9})").match(self._text, self._at) if self._on(flag) else None
        if found is None:
            return None
        self._at = found.end()
        return int(found[1])

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
        self.negated, self.joint = False, None

    def clause(self) -> tree.Clause | None:
        """Return the operands together."""
        if self._joined_by is None:
            return self.top
        parts = tuple(self._parts)
        return tree.Bool(must=parts) if self._joined_by == "must" else tree.Bool(should=parts)
