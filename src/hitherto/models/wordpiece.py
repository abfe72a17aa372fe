"""The WordPiece tokeniser of uncased BERT models, as their vocabularies expect it.

A text is cleaned, folded, cut at white space, punctuation and Han characters, and each word is covered from the
left by the longest pieces of the vocabulary. Names of special tokens inside a text are plain text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from hitherto.errors import ModelError

_MAX_WORD: Final = 100
_CACHED_WORDS: Final = 50_000
_HAN: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Turns texts into the token numbers of one vocabulary.

    Args:
        pieces: The vocabulary: its pieces in the order of their numbers.

    Raises:
        ModelError: If a special token is missing.

    Examples:
        >>> tokenizer = WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "run", "##ning", "!"])
        >>> tokenizer.encode("Running!", max_tokens=8)
        [2, 4, 5, 6, 3]
        >>> tokenizer.encode_pair("run", "!", max_tokens=8)
        ([2, 4, 3, 6, 3], 3)
    """

    def __init__(self, pieces: list[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        try:
            self._unknown, self._start, self._end = (
                self._numbers[name] for name in ("[UNK]", "[CLS]", "[SEP]")
            )
        except KeyError as error:
            raise ModelError(f"the vocabulary has no {error.args[0]}; an uncased BERT's is wanted") from None
        self._cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """Read a vocabulary: a text file with one piece a line.

        Args:
            path: The file, usually ``vocab.txt``.

        Raises:
            ModelError: If it is no vocabulary.
        """
        try:
            return cls(path.read_text(encoding="utf-8").split("\n"))
        except UnicodeDecodeError as error:
            raise ModelError(f"{path} is no vocabulary: {error}") from error

    def encode(self, text: str, *, max_tokens: int) -> list[int]:
        """Return the numbers of a text between the start and the end token.

        Args:
            text: Any text.
            max_tokens: The most numbers to return, both marks counted; the end of a longer text is dropped.
        """
        return [self._start, *self._tokens(text, max_tokens - 2), self._end]

    def encode_pair(self, first: str, second: str, *, max_tokens: int) -> tuple[list[int], int]:
        """Return the numbers of two texts, and how many of them belong to the first.

        Args:
            first: The first text, such as a query; it keeps at least half of the room.
            second: The second text, whose end is dropped if both are too long.
            max_tokens: The most numbers to return, three marks counted.
        """
        room = max_tokens - 3
        head = self._tokens(first, room)
        tail = self._tokens(second, room)
        if len(head) + len(tail) > room:
            head = head[: max(room - len(tail), room // 2)]
            tail = tail[: room - len(head)]
        return [self._start, *head, self._end, *tail, self._end], len(head) + 2

    def _tokens(self, text: str, limit: int) -> list[int]:
        found: list[int] = []
        # A token covers at least one character, and a word at most _MAX_WORD: what is far beyond is never read.
        for word in _split(text[: limit * _MAX_WORD]):
            found.extend(self._pieces(word))
            if len(found) >= limit:
                return found[:limit]
        return found

    def _pieces(self, word: str) -> tuple[int, ...]:
        found = self._cache.get(word)
        if found is None:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            found = self._cache[word] = self._cover(word)
        return found

    def _cover(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD:
            return (self._unknown,)
        numbers: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    numbers.append(number)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(numbers)


def _split(text: str) -> Iterator[str]:
    folded = text.lower() if text.isascii() else _fold(text)
    yield from "".join(map(_spread, folded)).split()


def _fold(text: str) -> str:
    bare = unicodedata.normalize("NFD", text.lower())
    return "".join(char for char in bare if unicodedata.category(char) != "Mn")


@lru_cache(maxsize=16384)
def _spread(char: str) -> str:
    """Return a character with spaces around it if it is a word of its own, "" if it is none at all."""
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category == "Zs":
        return " "
    code = ord(char)
    if category in {"Cc", "Cf", "Cs", "Co", "Cn"} or code in {0, 0xFFFD}:
        return ""
    ascii_mark = 33 <= code <= 126 and not char.isalnum()
    if ascii_mark or category[0] == "P" or any(low <= code <= high for low, high in _HAN):
        return f" {char} "
    return char
