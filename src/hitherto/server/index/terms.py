"""The statistics of words over a whole index, kept up to date write by write.

A word is counted under a keyed hash of 48 bits, so that the tables name no word of a text that was erased a moment
ago; two of a million words share a hash with a probability below one in a hundred. Each document keeps the hashes that
it was counted with, so that it can be taken out again exactly.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sqlalchemy import bindparam, select

from hitherto.server.dsl.analysis import terms as words
from hitherto.server.index.tables import fields, terms
from hitherto.store.sql.rows import slices

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from hitherto.store.sql.index_sql import Driver

_HASH_BYTES: Final = 6
_HEAD: Final = struct.Struct("<HI")
"""How many fields, how many hashes."""
_FIELD: Final = struct.Struct("<BI")
"""A field's number, how many tokens it has."""

TEXT_FIELDS: Final = ("name", "input", "prompt_template", "response")
KEYWORD_FIELDS: Final = ("user", "application_type", "memory_id", "origin", "parent_message_id")
_FIELDS: Final = TEXT_FIELDS + KEYWORD_FIELDS
"""Their places are stored; new ones go to the end."""

_ADD_TERM: Final = (
    "INSERT INTO rest_terms (term, documents) VALUES (?, ?) "
    "ON CONFLICT (term) DO UPDATE SET documents = rest_terms.documents + excluded.documents"
)
_DROP_TERMS: Final = "DELETE FROM rest_terms WHERE term = ? AND documents <= 0"
_ADD_FIELD: Final = (
    "INSERT INTO rest_fields (field, documents, tokens) VALUES (?, ?, ?) "
    "ON CONFLICT (field) DO UPDATE SET documents = rest_fields.documents + excluded.documents, "
    "tokens = rest_fields.tokens + excluded.tokens"
)
_COUNTS: Final = select(terms.c.term, terms.c.documents).where(
    terms.c.term.in_(bindparam("wanted", expanding=True))
)
_FIELD_COUNTS: Final = select(fields)


@dataclass(frozen=True, slots=True)
class Counted:
    """What one document adds to the statistics.

    Attributes:
        lengths: How many tokens each field has that it has.
        hashes: The hashes of its words, each once.
    """

    lengths: Mapping[str, int] = field(default_factory=dict)
    hashes: frozenset[int] = frozenset()

    def to_bytes(self) -> bytes:
        """Return it as stored."""
        return b"".join(
            (
                _HEAD.pack(len(self.lengths), len(self.hashes)),
                *(_FIELD.pack(_FIELDS.index(name), length) for name, length in self.lengths.items()),
                np.array([*self.hashes], "<u8").view(np.uint8).reshape(-1, 8)[:, :_HASH_BYTES].tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, stored: bytes) -> Counted:
        """Return what :meth:`to_bytes` made; of b"" nothing.

        Examples:
            >>> Counted.from_bytes(Counted({"name": 2}, frozenset({7, 9})).to_bytes()).lengths
            {'name': 2}
        """
        if not stored:
            return cls()
        count, words = _HEAD.unpack_from(stored)
        pairs = (_FIELD.unpack_from(stored, _HEAD.size + place * _FIELD.size) for place in range(count))
        lengths = {_FIELDS[number]: length for number, length in pairs}
        start = _HEAD.size + count * _FIELD.size
        packed = np.frombuffer(stored, np.uint8, words * _HASH_BYTES, start).reshape(-1, _HASH_BYTES)
        numbers = np.zeros((words, 8), np.uint8)
        numbers[:, :_HASH_BYTES] = packed
        return cls(lengths, frozenset(numbers.view("<u8").ravel().tolist()))


def term_hash(salt: bytes, name: str, term: str) -> int:
    """Return the number that a word of a field is counted under.

    Args:
        salt: The store's own key.
        name: The field.
        term: The word.
    """
    digest = blake2b(f"{name}\0{term}".encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES, key=salt)
    return int.from_bytes(digest.digest(), "little")


class TermHashes:
    """The numbers of words that were asked for once: most words of a batch of texts come again and again.

    Args:
        salt: The store's own key.
    """

    def __init__(self, salt: bytes) -> None:
        self._known = {name: _Known(salt, name) for name in _FIELDS}

    def of(self, name: str, found: Iterable[str]) -> Iterator[int]:
        """Return the numbers that words of a field are counted under.

        Args:
            name: The field.
            found: The words.
        """
        return map(self._known[name].__getitem__, found)


class _Known(dict[str, int]):
    def __init__(self, salt: bytes, name: str) -> None:
        super().__init__()
        self._salt, self._name = salt, name

    def __missing__(self, term: str) -> int:
        number = self[term] = term_hash(self._salt, self._name, term)
        return number


def count_source(numbers: TermHashes, source: Mapping[str, Any]) -> Counted:
    """Return what a document adds to the statistics.

    Args:
        numbers: The numbers of words.
        source: The document.
    """
    lengths: dict[str, int] = {}
    hashes: set[int] = set()
    for name in TEXT_FIELDS:
        tokens = words(source[name]) if isinstance(source.get(name), str) else []
        if tokens:
            lengths[name] = len(tokens)
            hashes.update(numbers.of(name, set(tokens)))
    for name in KEYWORD_FIELDS:
        if isinstance(source.get(name), str):
            lengths[name] = 1
            hashes.update(numbers.of(name, (source[name],)))
    return Counted(lengths, frozenset(hashes))


@dataclass(slots=True)
class Difference:
    """What a number of documents change in the statistics; written at once."""

    words: Counter[int] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def replace(self, old: Counted, new: Counted) -> None:
        """Take out what a document was counted with, and count what it is now."""
        self.words.update(new.hashes - old.hashes)
        self.words.subtract(old.hashes - new.hashes)
        for counted, sign in ((new, 1), (old, -1)):
            for name, length in counted.lengths.items():
                self.documents[name] += sign
                self.tokens[name] += sign * length

    def write(self, driver: Driver) -> None:
        """Write it.

        Args:
            driver: A connection in a write transaction; past SQLAlchemy, whose share of so many rows would be half.
        """
        changed = [(number, count) for number in sorted(self.words) if (count := self.words[number])]
        driver.executemany(_ADD_TERM, changed)
        driver.executemany(_DROP_TERMS, [(number,) for number, count in changed if count < 0])
        driver.executemany(
            _ADD_FIELD,
            [
                (name, count, self.tokens[name])
                for name, count in sorted(self.documents.items())
                if count or self.tokens[name]
            ],
        )


class StoredStatistics:
    """The statistics of an index as they are in a transaction.

    Args:
        conn: The transaction.
        salt: The store's own key.
    """

    def __init__(self, conn: Connection, salt: bytes) -> None:
        self._conn = conn
        self._salt = salt
        self._fields = {row.field: (row.documents, row.tokens) for row in conn.execute(_FIELD_COUNTS)}
        self._words: dict[int, int] = {}

    def documents(self, name: str) -> int:
        """Return how many documents have a field."""
        return int(self._fields.get(name, (0, 0))[0])

    def tokens(self, name: str) -> int:
        """Return how many tokens a field has in all documents together."""
        return int(self._fields.get(name, (0, 0))[1])

    def prefetch(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Fetch the counts of words that will be asked for, in one go.

        Args:
            wanted: Fields and words.
        """
        numbers = {term_hash(self._salt, name, term) for name, term in wanted} - self._words.keys()
        self._words.update(dict.fromkeys(numbers, 0))
        for some in slices(sorted(numbers)):
            self._words.update(
                (row.term, row.documents) for row in self._conn.execute(_COUNTS, {"wanted": some})
            )

    def containing(self, name: str, term: str) -> int:
        """Return how many documents have a word in a field."""
        number = term_hash(self._salt, name, term)
        if number not in self._words:
            self.prefetch([(name, term)])
        return self._words[number]
