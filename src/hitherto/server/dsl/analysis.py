"""The standard analyser: words as Unicode's text segmentation finds them, in lower case.

The rules are those of UAX #29 as Lucene applies them: Han and Hiragana characters stand alone, runs of Katakana, of
Hangul and of the scripts of South East Asia stay together, an emoji sequence is a word, and punctuation is none.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import regex

MAX_TOKEN_LENGTH: Final = 255
"""What is longer is cut into pieces of this length."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text.

    Attributes:
        term: What is indexed.
        start: Where the word starts in the text.
        end: Where it ends.
    """

    term: str
    start: int
    end: int


_MARKS = r"[\p{WB=Format}\p{WB=Extend}\p{WB=ZWJ}]*+"
_LETTER = rf"(?:[\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}]{_MARKS})"
_DIGIT = rf"(?:[\p{{WB=Numeric}}\uFF10-\uFF19]{_MARKS})"
_KATAKANA = rf"(?:\p{{WB=Katakana}}{_MARKS})"
_JOINER = rf"(?:\p{{WB=ExtendNumLet}}{_MARKS})"
_MID_LETTER = rf"(?:[:\p{{WB=MidLetter}}\p{{WB=MidNumLet}}']{_MARKS})"
_MID_DIGIT = rf"(?:[\p{{WB=MidNum}}\p{{WB=MidNumLet}}']{_MARKS})"
_PIECE = rf"""(?:
    {_KATAKANA}(?:{_JOINER}*+{_KATAKANA})*+
  | (?: {_LETTER}(?:(?:{_MID_LETTER}|(?<=\p{{WB=Hebrew_Letter}})"(?=\p{{WB=Hebrew_Letter}})|{_JOINER}*+){_LETTER})*+
      | {_DIGIT}(?:(?:{_MID_DIGIT}|{_JOINER}*+){_DIGIT})*+
    )++(?:(?<=\p{{WB=Hebrew_Letter}})'{_MARKS})?
)"""
_PICTURE = r"(?:[\p{Extended_Pictographic}--[©®™\u3030\u303D0-9#*]]|[©®™\u3030\u303D](?=\uFE0F))"
_EMOJI_MARKS = rf"(?:(?!\u200D{_PICTURE})[[\p{{WB=Format}}\p{{WB=Extend}}\p{{WB=ZWJ}}]--[\uFE0E\uFE0F]])*+"
_EMOJI = rf"(?:{_PICTURE}(?:\p{{Emoji_Modifier}}|{_EMOJI_MARKS}\uFE0F?){_EMOJI_MARKS}|\p{{Emoji_Modifier}})"
_WORD: Final = regex.compile(
    rf"""
    {_EMOJI}(?:\u200D{_EMOJI})*+(?:[\U000E0020-\U000E007E]+\U000E007F)?
  | [0-9\#*]{_EMOJI_MARKS}\uFE0F?\u20E3{_MARKS}
  | (?:\p{{WB=Regional_Indicator}}{_MARKS}){{2}}
  | (?P<word>{_JOINER}*+{_PIECE}(?:{_JOINER}++{_PIECE})*+{_JOINER}*+)
  | (?P<none>{_JOINER}++)
  | (?:\p{{LB=Complex_Context}}{_MARKS})++
  | [\p{{Script=Han}}\p{{Script=Hiragana}}]{_MARKS}
    """,
    regex.VERBOSE | regex.VERSION1,
)
_ASCII_WORD: Final = regex.compile(
    r"""
    _*+(?P<word>
      (?:[A-Za-z]++(?:(?:[:.']|_++)[A-Za-z]++)*+|[0-9]++(?:(?:[.,;']|_++)[0-9]++)*+)++
      (?:_++(?:[A-Za-z]++(?:(?:[:.']|_++)[A-Za-z]++)*+|[0-9]++(?:(?:[.,;']|_++)[0-9]++)*+)++)*+
    )_*+
  | (?P<none>_++)
    """,
    regex.VERBOSE,
)
# What stands between these can be cut on its own: no word reaches over it, and no rule looks over it.
_RUN: Final = re.compile(r"[A-Za-z0-9_:.',;]+")
_SPACED: Final = re.compile(r"[^ \t\n\r]+")
_PUNCTUATION: Final = string.punctuation.replace("_", "")
_PLAIN: Final = re.compile(r"[0-9A-Za-zÀ-ÖØ-öø-ɏЀ-ҁҊ-ԯ]+")
"""Latin and Cyrillic: a run of these between spaces and punctuation of ASCII is one word."""


def standard(text: str) -> Iterator[Token]:
    """Find the words of a text.

    Args:
        text: Any text.

    Yields:
        The words in order, in lower case.

    Examples:
        >>> [
        ...     token.term
        ...     for token in standard("Don't ask api.openai.com: foo_bar, foo-bar, C++, a@b.com, 東京")
        ... ]
        ["don't", 'ask', 'api.openai.com', 'foo_bar', 'foo', 'bar', 'c', 'a', 'b.com', '東', '京']
    """
    pattern = _ASCII_WORD if text.isascii() else _WORD
    for found in pattern.finditer(text):
        start, end = found.span()
        if found["none"] is not None:
            continue
        if end - start <= MAX_TOKEN_LENGTH:
            yield Token(lower(found[0]), start, end)
        else:
            yield from _pieces(pattern, text, start, end)


def terms(text: str) -> list[str]:
    """Return the words of a text without their places, which is many times faster.

    Args:
        text: Any text.

    Returns:
        The terms of :func:`standard`, in order.

    Examples:
        >>> terms("Ask api.openai.com: foo_bar!")
        ['ask', 'api.openai.com', 'foo_bar']
    """
    if text.isascii():
        return _ascii_terms(text)
    found: list[str] = []
    for piece in _SPACED.findall(text):
        found += _ascii_terms(piece) if piece.isascii() else _other_terms(piece)
    return found


def _other_terms(piece: str) -> list[str]:
    word = piece.strip(_PUNCTUATION)
    if _PLAIN.fullmatch(word) and len(word) <= MAX_TOKEN_LENGTH:
        return [lower(word)]
    return [token.term for token in standard(piece)]


def _ascii_terms(text: str) -> list[str]:
    found: list[str] = []
    for run in _RUN.findall(text.lower()):
        word = run.strip(":.',;")
        if word.isalnum() and len(word) <= MAX_TOKEN_LENGTH:
            found.append(word)
        elif word:
            found += [token.term for token in standard(word)]
    return found


def _pieces(pattern: regex.Pattern[str], text: str, at: int, end: int) -> Iterator[Token]:
    # Lucene's scanner sees no more than so much at a time, and goes on behind what it found there.
    while at < end:
        found = pattern.search(text, at, min(at + MAX_TOKEN_LENGTH, end))
        if found is None or found["none"] is not None:
            at = found.end() if found is not None else at + MAX_TOKEN_LENGTH
            continue
        yield Token(lower(found[0]), *found.span())
        at = found.end()


def keyword(text: str) -> Iterator[Token]:
    """Take a text as one word, as it is.

    Args:
        text: Any text.

    Yields:
        The text.
    """
    yield Token(text, 0, len(text))


def whitespace(text: str) -> Iterator[Token]:
    """Find what stands between white space, as it is.

    Args:
        text: Any text.

    Yields:
        The words in order.
    """
    for found in regex.finditer(r"\S+", text):
        yield Token(found[0], *found.span())


def simple(text: str) -> Iterator[Token]:
    """Find runs of letters.

    Args:
        text: Any text.

    Yields:
        The words in order, in lower case.
    """
    for found in regex.finditer(r"\p{L}+", text):
        yield Token(lower(found[0]), *found.span())


Analyzer = Callable[[str], Iterator[Token]]

ANALYZERS: Final[dict[str, Analyzer]] = {
    "keyword": keyword,
    "simple": simple,
    "standard": standard,
    "whitespace": whitespace,
}
"""What a query may name as its analyser."""


def lower(text: str) -> str:
    """Lower each character for itself, as Java does: never one into two, and no final sigma.

    Args:
        text: Any text.

    Examples:
        >>> lower("ΟΔΟΣ İ")
        'οδοσ i'
    """
    return text.lower() if text.isascii() else "".join(map(_lowered, text))


@lru_cache(maxsize=8192)
def _lowered(char: str) -> str:
    return char.lower()[0]
