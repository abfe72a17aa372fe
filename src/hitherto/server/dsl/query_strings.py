"""Lucene's query language: ``title:(rag AND test) -draft "exact words"~2 pop* [2024 TO *] word~1 ^2``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from hitherto.errors import shown
from hitherto.server.dsl import tree
from hitherto.server.dsl.asked_fields import AskedFields
from hitherto.server.dsl.errors import ShardError
from hitherto.server.dsl.parameters import Parameters
from hitherto.server.dsl.parse_regexps import regular_expression

MAX_NESTING: Final = 50

_TOKEN: Final = re.compile(
    r"""(?P<space>[\s　]+)
      | (?P<and>AND(?![^\s():"])|&&) | (?P<or>OR(?![^\s():"])|\|\|) | (?P<not>NOT(?![^\s():"])|!)
      | (?P<plus>\+) | (?P<minus>-)
      | (?P<open>\() | (?P<close>\)) | (?P<colon>:)
      | "(?P<quoted>(?:[^"\\]|\\.)*)"
      | /(?P<regexp>(?:[^/\\]|\\.)*)/
      | (?P<range>[\[{]\s*(?:"[^"]*"|[^\s\]}"]+)\s+TO\s+(?:"[^"]*"|[^\s\]}"]+)\s*[\]}])
      | (?P<compare>[<>]=?)
      | \^(?P<boost>\d+(?:\.\d*)?|\.\d+)
      | ~(?P<near>\d*(?:\.\d+)?)
      | (?P<term>(?:\\.|[^\s　+\-!():^\[\]"{}~\\/<>=]|=)(?:\\.|[^\s　!():^\[\]"{}~\\/])*)
    """,
    re.VERBOSE | re.DOTALL,
)
_RANGE: Final = re.compile(r'([\[{])\s*("[^"]*"|[^\s\]}"]+)\s+TO\s+("[^"]*"|[^\s\]}"]+)\s*([\]}])')
_COMPARISONS: Final = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_PATTERN: Final = re.compile(r"\\.|([*?])", re.DOTALL)

Occur = Literal["must", "should", "must_not"]


class Token(NamedTuple):
    """A piece of the text.

    Attributes:
        kind: What it is.
        text: What it says.
        spaced: Whether white space stands before it.
    """

    kind: str
    text: str
    spaced: bool


@dataclass
class _Part:
    """A clause with how it must occur."""

    occur: Occur
    clause: tree.Clause


class QueryStrings:
    """Reads one text.

    Args:
        text: The text.
        asked: The fields that are asked, unless the text names others.
        joined: How words without an operator between them are joined.
        least: How many optional clauses must match, or None.
        leading_wildcard: Whether a pattern may start with a wildcard.
        count: Is told how many clauses were read, and may refuse them.
    """

    def __init__(
        self,
        text: str,
        asked: AskedFields,
        *,
        joined: tree.Operator,
        least: str | None,
        leading_wildcard: bool,
        count: Callable[[int], None],
    ) -> None:
        self._text = text
        self._asked = asked
        self._joined = joined
        self._least = least
        self._leading_wildcard = leading_wildcard
        self._count = count
        self._tokens = self._split()
        self._at = 0
        self._nesting = 0

    def clause(self) -> tree.Clause:
        """Read the whole text.

        Returns:
            What it means; nothing at all for an empty text.

        Raises:
            ShardError: If the text is malformed.
        """
        found = self._group(self._asked)
        if self._at < len(self._tokens):
            raise self._wrong()
        if isinstance(found, tree.Bool) and self._least is not None:
            return replace(found, minimum_should_match=self._least)
        return found

    def _split(self) -> list[Token]:
        tokens: list[Token] = []
        at, spaced = 0, False
        while at < len(self._text):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise self._wrong()
            kind = str(found.lastgroup)
            if kind != "space":
                tokens.append(Token(kind, found[kind], spaced))
            spaced = kind == "space"
            at = found.end()
        return tokens

    def _group(self, asked: AskedFields) -> tree.Clause:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise self._wrong()
        parts: list[_Part] = []
        while self._kind() not in {"", "close"}:
            joint = self._conjunction(first=not parts)
            occur = self._modifier()
            self._join(parts, joint, occur, self._clause(asked, bare=not joint and not occur))
        self._nesting -= 1
        if len(parts) == 1 and parts[0].occur != "must_not":
            return parts[0].clause
        if not parts:
            return tree.MatchNone()

        def those(occur: Occur) -> tuple[tree.Clause, ...]:
            return tuple(part.clause for part in parts if part.occur == occur)

        return tree.Bool(must=those("must"), should=those("should"), must_not=those("must_not"))

    def _conjunction(self, *, first: bool) -> str:
        kind = self._kind()
        if kind not in {"and", "or"}:
            return ""
        if first:
            raise self._wrong()
        self._at += 1
        return kind

    def _modifier(self) -> str:
        kind = self._kind()
        if kind in {"plus", "minus", "not"}:
            self._at += 1
            return kind
        return ""

    def _join(self, parts: list[_Part], joint: str, modifier: str, clause: tree.Clause) -> None:
        """Add a clause; "and" reaches back to the clause before it."""
        self._count(1)
        before = parts[-1] if parts else None
        if before is not None and before.occur != "must_not":
            if joint == "and":
                before.occur = "must"
            elif joint == "or" and self._joined == "and":
                before.occur = "should"
        if modifier in {"minus", "not"}:
            occur: Occur = "must_not"
        elif self._joined == "or":
            occur = "must" if modifier == "plus" or joint == "and" else "should"
        else:
            occur = "should" if joint == "or" else "must"
        parts.append(_Part(occur, clause))

    def _clause(self, asked: AskedFields, *, bare: bool) -> tree.Clause:
        if self._kind() == "term" and self._kind(1) == "colon":
            text = self._tokens[self._at].text
            if text != "*" and any(match[1] for match in _PATTERN.finditer(text)):
                raise self._wrong()
            name = _plain(text)
            self._at += 2
            if name == "_exists_":
                return tree.Exists(_plain(self._take("term").text))
            asked, bare = asked.only(name), False
        if self._kind() != "open":
            return self._leaf(asked, bare=bare)
        self._at += 1
        found = self._group(asked)
        self._take("close")
        return self._boosted(found)

    def _leaf(self, asked: AskedFields, *, bare: bool) -> tree.Clause:
        token = self._take()
        if token.kind == "quoted":
            return self._boosted(asked.phrase(_plain(token.text), self._slop()))
        if token.kind == "regexp":
            pattern = token.text.replace("\\/", "/")
            regular_expression(pattern)
            return self._boosted(asked.regexp(pattern))
        if token.kind == "range":
            return self._boosted(self._range(asked, token.text))
        if token.kind == "compare":
            value = self._take()
            if value.kind not in {"term", "quoted"}:
                raise self._wrong()
            return self._boosted(asked.between(**{_COMPARISONS[token.text]: _plain(value.text)}))
        if token.kind != "term":
            raise self._wrong()
        return self._boosted(self._term(asked, token.text, bare=bare))

    def _range(self, asked: AskedFields, text: str) -> tree.Clause:
        found = _RANGE.fullmatch(text)
        if found is None:
            raise self._wrong()
        opening, low, high, closing = (str(part).strip('"') for part in found.groups())
        bounds = {}
        if low != "*":
            bounds["gte" if opening == "[" else "gt"] = _plain(low)
        if high != "*":
            bounds["lte" if closing == "]" else "lt"] = _plain(high)
        return asked.between(**bounds) if bounds else asked.present()

    def _term(self, asked: AskedFields, text: str, *, bare: bool) -> tree.Clause:
        wild = [found.start() for found in _PATTERN.finditer(text) if found[1]]
        if text == "*":
            return asked.present()
        if wild and wild[0] == 0 and not self._leading_wildcard:
            raise ShardError(
                "'*' or '?' not allowed as first character in WildcardQuery", type="query_shard_exception"
            )
        if wild == [len(text) - 1] and text.endswith("*"):
            return asked.prefix(_plain(text[:-1]))
        if wild:
            return asked.wildcard(text)
        if self._kind() == "near":
            return asked.near(_plain(text), self._edits())
        return asked.words(self._run(asked, text) if bare else _plain(text))

    def _run(self, asked: AskedFields, text: str) -> str:
        """Return a word with those that follow it without any operator, which several fields are asked together."""
        found = [_plain(text)]
        if len(asked.fields) == 1 and "*" not in asked.fields[0][0]:
            return found[0]
        while self._kind() == "term" and self._kind(1) not in {"and", "or", "colon", "near", "boost"}:
            if any(match[1] for match in _PATTERN.finditer(self._tokens[self._at].text)):
                break
            if self._kind(1) == "term" and self._tokens[self._at + 1].text == "*":
                break
            found.append(_plain(self._tokens[self._at].text))
            self._at += 1
        return " ".join(found)

    def _slop(self) -> int | None:
        if self._kind() != "near":
            return None
        text = self._take().text
        return min(int(float(text)), 2**31 - 1) if text else None

    def _edits(self) -> int | None:
        text = self._take().text
        return min(int(float(text)), 2) if text else None

    def _boosted(self, clause: tree.Clause) -> tree.Clause:
        if self._kind() != "boost":
            return clause
        boost = Parameters("query_string", {"boost": self._take().text}).boost()
        return tree.Bool(must=(clause,), boost=boost)

    def _kind(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at].kind if at < len(self._tokens) else ""

    def _take(self, kind: str = "") -> Token:
        if self._at >= len(self._tokens) or (kind and self._tokens[self._at].kind != kind):
            raise self._wrong()
        self._at += 1
        return self._tokens[self._at - 1]

    def _wrong(self) -> ShardError:
        return ShardError(f"Failed to parse query [{shown(self._text)[1:-1]}]", type="query_shard_exception")


def _plain(text: str) -> str:
    """Return a text without its backslashes."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
