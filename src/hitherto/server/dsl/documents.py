"""A document of an index, and the statistics of the whole index that scores need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hitherto.server.dsl.analysis import terms
from hitherto.server.dsl.dates import stored_millis
from hitherto.server.dsl.fields import IndexMapping, Kind

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Document:
    """A stored memory or message; what is read out of it is kept with it.

    Attributes:
        id: The document's id.
        source: What was stored, as hits show it.
        version: How often it was written.
        seq_no: The number of its last write among all writes to the index.
        primary_term: Always 1 here.
        order: Its place among all documents in the order of writing; ties are ordered by it.

    Examples:
        >>> Document("1", {"input": "Hello, hello"}).counts("input")["hello"]
        2
    """

    id: str
    source: Mapping[str, Any]
    version: int = 1
    seq_no: int = 0
    primary_term: int = 1
    order: int = 0
    _cache: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False, compare=False)

    def tokens(self, field: str) -> tuple[str, ...]:
        """Return the words of a text field in order.

        Args:
            field: The field's name.
        """
        return self._kept("tokens", field, lambda: tuple(terms(self.text(field))))

    def counts(self, field: str) -> Mapping[str, int]:
        """Return how often each word stands in a text field.

        Args:
            field: The field's name.
        """
        return self._kept("counts", field, lambda: Counter(self.tokens(field)))

    def positions(self, field: str) -> Mapping[str, Sequence[int]]:
        """Return where each word stands in a text field.

        Args:
            field: The field's name.
        """
        return self._kept("positions", field, lambda: _places(self.tokens(field)))

    def exact(self, field: str) -> tuple[str, ...]:
        """Return the values of a keyword field.

        Args:
            field: The field's name.
        """
        return tuple(str(value) for value in _values(self.source.get(field)))

    def millis(self, field: str) -> int | None:
        """Return the time of a date field in milliseconds since 1970.

        Args:
            field: The field's name.
        """
        return self._kept("millis", field, lambda: stored_millis(self.source.get(field)))

    def number(self, field: str) -> int | None:
        """Return the value of a number field.

        Args:
            field: The field's name.
        """
        value = self.source.get(field)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def leaves(self, field: str) -> Mapping[str, tuple[str, ...]]:
        """Return the leaves of an object field as texts, by the path below the field.

        Args:
            field: The field's name.
        """
        return self._kept("leaves", field, lambda: _leaves(self.source.get(field)))

    def terms(self, field: str, kind: Kind | None) -> Iterable[str]:
        """Return what is indexed of a field of texts: words, values, or leaves.

        Args:
            field: The field's name; of an object field, a path may follow with dots.
            kind: The field's kind; fields of other kinds have no texts.
        """
        if kind is Kind.TEXT:
            return self.counts(field)
        if kind is Kind.KEYWORD:
            return self.exact(field)
        if kind is Kind.ID:
            return (self.id,)
        if kind is Kind.FLAT_OBJECT:
            root, _, path = field.partition(".")
            leaves = self.leaves(root)
            return leaves.get(path, ()) if path else [value for found in leaves.values() for value in found]
        return ()

    def text(self, field: str) -> str:
        """Return the text of a text field.

        Args:
            field: The field's name.
        """
        return "\n".join(str(value) for value in _values(self.source.get(field)))

    def _kept(self, what: str, field: str, make: Callable[[], _T]) -> _T:
        key = (what, field)
        if key not in self._cache:
            self._cache[key] = make()
        kept: _T = self._cache[key]
        return kept


class Statistics(Protocol):
    """Counts over the whole index, whoever asks."""

    def documents(self, field: str) -> int:
        """Return how many documents have the field."""

    def tokens(self, field: str) -> int:
        """Return how many words the field has in all documents together."""

    def containing(self, field: str, term: str) -> int:
        """Return how many documents have the term in the field."""


class CountedStatistics:
    """Statistics that are counted from all documents of an index.

    Args:
        documents: The documents.
        mapping: The index's mapping.

    Examples:
        >>> from hitherto.server.dsl.fields import MEMORIES
        >>> counted = CountedStatistics.of([Document("1", {"name": "a b"}), Document("2", {})], MEMORIES)
        >>> counted.documents("name"), counted.tokens("name"), counted.containing("name", "b")
        (1, 2, 1)
    """

    def __init__(self, documents: Sequence[Document], mapping: IndexMapping) -> None:
        self._documents = documents
        self._mapping = mapping
        self._known: dict[str, tuple[int, int, Counter[str]]] = {}

    @classmethod
    def of(cls, documents: Sequence[Document], mapping: IndexMapping) -> CountedStatistics:
        """Count documents.

        Args:
            documents: All documents of the index.
            mapping: The index's mapping.
        """
        return cls(documents, mapping)

    def documents(self, field: str) -> int:
        """Return how many documents have the field."""
        return self._of(field)[0]

    def tokens(self, field: str) -> int:
        """Return how many words the field has in all documents together."""
        return self._of(field)[1]

    def containing(self, field: str, term: str) -> int:
        """Return how many documents have the term in the field."""
        return self._of(field)[2][term]

    def _of(self, field: str) -> tuple[int, int, Counter[str]]:
        if field not in self._known:
            kind = self._mapping.kind(field)
            found = [list(document.terms(field, kind)) for document in self._documents]
            lengths = [
                len(document.tokens(field)) if kind is Kind.TEXT else len(terms)
                for document, terms in zip(self._documents, found, strict=True)
            ]
            containing = Counter(term for terms in found for term in set(terms))
            self._known[field] = (sum(map(bool, lengths)), sum(lengths), containing)
        return self._known[field]


def _values(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from (item for item in value if item is not None)
    elif value is not None:
        yield value


def _places(tokens: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, token in enumerate(tokens):
        places.setdefault(token, []).append(place)
    return places


def _leaves(value: object) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, Mapping):
            waiting += [(f"{path}.{key}" if path else str(key), inner) for key, inner in item.items()]
        elif isinstance(item, list):
            waiting += [(path, inner) for inner in item]
        elif item is not None:
            found.setdefault(path, []).append(as_text(item))
    return {path: tuple(reversed(values)) for path, values in found.items()}


def as_text(value: object) -> str:
    """Return a scalar as an object field indexes it.

    Args:
        value: A text, number or boolean.

    Examples:
        >>> as_text(True), as_text(5), as_text("x")
        ('true', '5', 'x')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
