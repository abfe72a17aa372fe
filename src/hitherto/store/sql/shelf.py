"""One scope's index in memory: a user's rows, or those of the whole store.

A shelf is a value: taking in what changed in the file makes a new one, so that a search that is under way goes on
with the old. Columns are arrays with one more place at the end, which stands for "no row": the place of index -1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hitherto.store.sql.entries import MESSAGE, NEVER, QUESTION_SCALE
from hitherto.store.sql.moment import Moment
from hitherto.store.sql.words import Postings, Text, field_lengths
from hitherto.text import words

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = 1024
"""A row's key is its record's number times this, plus its chunk's."""

_ROLES = frozenset({"user", "assistant", "system", "tool"})
_FILL = {"previous": -1, "next": -1, "record_no": -1, "expires": NEVER}


class Names:
    """Small numbers for ids: None is 0, an unknown id -1. Numbers are only ever added."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {None: 0}

    def number(self, name: object) -> int:
        """Return the number of a name, -1 if it has none."""
        return self._numbers.get(name, -1)

    def take(self, names: Iterable[Any]) -> NDArray[np.int32]:
        """Return the numbers of names, giving new ones to those that have none."""
        known = self._numbers
        return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)

    def items(self) -> list[tuple[Any, int]]:
        """Return all names with their numbers."""
        return list(self._numbers.items())


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of each row; every array has one more place at the end.

    Attributes:
        record_no: The record.
        chunk_no: Which of its chunks.
        user_no: Its user's number.
        kind: The number of its type.
        agent: The number of its agent.
        thread: The number of its thread.
        speaker: The number of its speaker.
        valid: Whether it holds.
        expires: When it expires, in microseconds.
        question: How much of it is questions, 0 to 1.
        alive: Whether it is still in the file as it is here.
        own_length: How many words it has.
        date_length: How many words its date has.
        has_vector: Whether it has a vector.
    """

    record_no: NDArray[np.int64]
    chunk_no: NDArray[np.int32]
    user_no: NDArray[np.int32]
    kind: NDArray[np.uint8]
    agent: NDArray[np.int32]
    thread: NDArray[np.int32]
    speaker: NDArray[np.int32]
    valid: NDArray[np.bool_]
    expires: NDArray[np.int64]
    question: NDArray[np.float32]
    alive: NDArray[np.bool_]
    own_length: NDArray[np.float32]
    date_length: NDArray[np.float32]
    has_vector: NDArray[np.bool_]


COLUMN_NAMES = tuple(Columns.__slots__)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows as they came from the file, in order of record and chunk.

    Attributes:
        columns: Their columns, without the place at the end.
        tokens: The hashes of their words, one after the other.
        dates: The hashes of the words of their dates, likewise.
        vectors: Their unit vectors, or codes in a shelf of codes; None if no row has any.
    """

    columns: Columns
    tokens: NDArray[np.uint32]
    dates: NDArray[np.uint32]
    vectors: NDArray[Any] | None


@dataclass(frozen=True, slots=True)
class Shelf:
    """A scope in memory.

    Attributes:
        moment: What it shows of the database.
        columns: What is known of each row.
        previous: The row of the message before, -1 for none.
        next: The row of the message after.
        text: Its words.
        lead: The row of the first chunk of the same record.
        extra: The rows of further chunks.
        coded: Whether ``vectors`` are 1-bit codes.
        vectors: Vectors or codes, one per row, with room for more at the end; None without any.
        agents: Numbers of agents.
        threads: Numbers of threads.
        speakers: Numbers of speakers.
        speaker_words: The words of each speaker's name, by number, without those of roles.
    """

    moment: Moment
    columns: Columns
    previous: NDArray[np.int32]
    next: NDArray[np.int32]
    text: Text
    lead: NDArray[np.int32]
    extra: NDArray[np.intp]
    coded: bool
    vectors: NDArray[Any] | None
    agents: Names
    threads: Names
    speakers: Names
    speaker_words: dict[int, frozenset[str]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many rows it has, dead ones with them."""
        return self.columns.record_no.size - 1

    @property
    def nbytes(self) -> int:
        """How much memory it takes, in bytes."""
        arrays = [getattr(self.columns, name) for name in COLUMN_NAMES]
        arrays += [self.previous, self.next, self.lead, self.extra, self.text.lengths]
        total = sum(int(array.nbytes) for array in arrays)
        total += self.text.own.nbytes + self.text.dates.nbytes
        return total if self.vectors is None else total + self.vectors.nbytes

    @property
    def wasteful(self) -> bool:
        """Whether so many rows are dead that it is better read anew."""
        return self.size - self.text.rows > 1000 + self.size // 4


def new_shelf(
    batch: Batch,
    *,
    moment: Moment,
    coded: bool,
    agents: Names,
    threads: Names,
    speakers: Names,
) -> Shelf:
    """Return a shelf of rows that were read from the file.

    Args:
        batch: The rows.
        moment: What they show of the database.
        coded: Whether the vectors are codes.
        agents: The numbers of agents that the rows have.
        threads: The numbers of threads.
        speakers: The numbers of speakers.
    """
    columns = Columns(*(_closed(name, getattr(batch.columns, name)) for name in COLUMN_NAMES))
    own = Postings(batch.tokens, _owners(batch.columns.own_length, 0))
    dates = Postings(batch.dates, _owners(batch.columns.date_length, 0))
    return _assembled(
        columns,
        *_chain(columns),
        own=own,
        dates=dates,
        rest={
            "moment": moment,
            "coded": coded,
            "vectors": batch.vectors,
            "agents": agents,
            "threads": threads,
            "speakers": speakers,
        },
        known={},
    )


def changed_shelf(shelf: Shelf, batch: Batch, gone: Sequence[int], *, moment: Moment) -> Shelf:
    """Return a shelf that has taken in what changed in the file.

    Args:
        shelf: The shelf as it was.
        batch: The rows that were added or changed since.
        gone: The numbers of records that were deleted since.
        moment: What the shelf shows from now on.
    """
    columns = shelf.columns
    changed = np.unique(np.concatenate([batch.columns.record_no, np.asarray(gone, np.int64)]))
    newest = int(columns.record_no.max(initial=-1))
    old = changed[changed <= newest]
    alive = columns.alive
    if old.size:
        alive = alive & ~np.isin(columns.record_no, old)
        columns = replace(columns, alive=alive)
    start = shelf.size
    columns = Columns(
        *(_closed(name, getattr(columns, name)[:-1], getattr(batch.columns, name)) for name in COLUMN_NAMES)
    )
    own, dates = shelf.text.own, shelf.text.dates
    if batch.columns.record_no.size:
        own = own.extended(batch.tokens, _owners(batch.columns.own_length, start))
        dates = dates.extended(batch.dates, _owners(batch.columns.date_length, start))
    links = _chain(columns) if old.size else _chain_on(shelf, columns, start)
    rest = {
        "moment": moment,
        "coded": shelf.coded,
        "vectors": _appended(shelf.vectors, batch.vectors, start, batch.columns.record_no.size),
        "agents": shelf.agents,
        "threads": shelf.threads,
        "speakers": shelf.speakers,
    }
    return _assembled(columns, *links, own=own, dates=dates, rest=rest, known=shelf.speaker_words)


def _assembled(
    columns: Columns,
    previous: NDArray[np.int32],
    following: NDArray[np.int32],
    *,
    own: Postings,
    dates: Postings,
    rest: dict[str, Any],
    known: dict[int, frozenset[str]],
) -> Shelf:
    lengths = field_lengths(columns.own_length, columns.date_length, previous, following)
    rows = int(columns.alive.sum())
    # In float64, where the sum hardly depends on the order in which the rows were read.
    mean = float(lengths[:-1].astype(np.float64) @ columns.alive[:-1]) / rows if rows else 0.0
    lead, extra = _leads(columns)
    all_alive = rows == columns.alive.size - 1
    text = Text(
        own, dates, previous, following, lengths, rows, mean or 1.0, None if all_alive else columns.alive
    )
    return Shelf(
        columns=columns,
        previous=previous,
        next=following,
        text=text,
        lead=lead,
        extra=extra,
        speaker_words=_speaker_words(columns, rest["speakers"], known),
        **rest,
    )


def _closed(name: str, *parts: NDArray[Any]) -> NDArray[Any]:
    end = np.array([_FILL.get(name, 0)], dtype=parts[0].dtype)
    return np.concatenate([*parts, end])


def _owners(lengths: NDArray[np.float32], start: int) -> NDArray[np.int32]:
    return np.repeat(np.arange(start, start + lengths.size, dtype=np.int32), lengths.astype(np.int64))


def _chain(columns: Columns) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return who comes before and after each message in its thread."""
    previous = np.full(columns.record_no.size, -1, np.int32)
    following = previous.copy()
    rows = np.flatnonzero(columns.alive & (columns.kind == MESSAGE) & (columns.thread > 0))
    link_threads(columns, rows, previous, following)
    return previous, following


def _chain_on(shelf: Shelf, columns: Columns, start: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the same where rows were only added: only the threads that grew are put in order again."""
    more = np.full(columns.record_no.size - 1 - start, -1, np.int32)
    previous = np.concatenate([shelf.previous[:-1], more, [-1]]).astype(np.int32)
    following = np.concatenate([shelf.next[:-1], more, [-1]]).astype(np.int32)
    grown = np.unique(columns.thread[start:-1])
    candidates = np.isin(columns.thread, grown[grown > 0])
    rows = np.flatnonzero(candidates & columns.alive & (columns.kind == MESSAGE))
    link_threads(columns, rows, previous, following)
    return previous, following


class ThreadColumns(Protocol):
    """What the order of messages in threads follows from."""

    @property
    def user_no(self) -> NDArray[Any]:
        """The user's number."""

    @property
    def thread(self) -> NDArray[Any]:
        """A number of the thread."""

    @property
    def record_no(self) -> NDArray[Any]:
        """The record's number."""

    @property
    def chunk_no(self) -> NDArray[Any]:
        """The chunk's number."""


def link_threads(
    columns: ThreadColumns,
    rows: NDArray[np.intp],
    previous: NDArray[np.int32],
    following: NDArray[np.int32],
) -> None:
    """Write who comes before and after each message in its thread.

    Args:
        columns: What is known of each row.
        rows: The rows of messages that are in a thread.
        previous: Where the row before is written, -1 for none.
        following: Where the row after is written.
    """
    # Within one user only: no record says anything of another user's.
    order = np.lexsort(
        (columns.chunk_no[rows], columns.record_no[rows], columns.thread[rows], columns.user_no[rows])
    )
    ordered = rows[order]
    first, second = ordered[:-1], ordered[1:]
    same = (columns.thread[first] == columns.thread[second]) & (
        columns.user_no[first] == columns.user_no[second]
    )
    previous[ordered] = -1
    following[ordered] = -1
    previous[second[same]] = first[same]
    following[first[same]] = second[same]


def _leads(columns: Columns) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    lead = np.arange(columns.record_no.size, dtype=np.int32)
    extra = np.flatnonzero((columns.chunk_no > 0) & columns.alive)
    if extra.size:
        rows = np.flatnonzero((columns.chunk_no[:-1] == 0) & columns.alive[:-1])
        rows = rows[np.argsort(columns.record_no[rows], kind="stable")]
        places = np.searchsorted(columns.record_no[rows], columns.record_no[extra])
        lead[extra] = rows[np.minimum(places, rows.size - 1)]
    return lead, extra


def _appended(
    vectors: NDArray[Any] | None, more: NDArray[Any] | None, start: int, count: int
) -> NDArray[Any] | None:
    """Return vectors with more rows, in place where there is room: who reads the old ones never looks there."""
    if vectors is None and more is None:
        return None
    pattern = more if vectors is None else vectors
    assert pattern is not None  # noqa: S101  one of the two is there
    if vectors is None:
        vectors = np.zeros((start, pattern.shape[1]), pattern.dtype)
    if vectors.shape[0] < start + count:
        room = np.zeros((start + count + (start + count) // 8, pattern.shape[1]), pattern.dtype)
        room[:start] = vectors[:start]
        vectors = room
    if more is not None:
        vectors[start : start + count] = more
    return vectors


def _speaker_words(
    columns: Columns, speakers: Names, known: dict[int, frozenset[str]]
) -> dict[int, frozenset[str]]:
    named = {}
    for name, number in speakers.items():
        if number in known:
            named[number] = known[number]
        elif name is not None and name not in _ROLES:
            named[number] = frozenset(words(name))
    present = set(np.unique(columns.speaker[columns.alive & (columns.kind == MESSAGE)]).tolist())
    return {number: found for number, found in named.items() if number in present and found}


def question_column(stored: Sequence[int]) -> NDArray[np.float32]:
    """Return the shares of questions as numbers from 0 to 1."""
    shares: NDArray[np.float32] = np.array(stored, np.float32) / np.float32(QUESTION_SCALE)
    return shares
