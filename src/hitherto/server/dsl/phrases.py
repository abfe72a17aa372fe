"""How often words stand in order in a text, exactly or nearly, counted as Lucene counts."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence

from hitherto.server.dsl.patience import go_on

Places = Mapping[str, Sequence[int]]


def exact_frequency(places: Places, words: Sequence[Collection[str]]) -> float:
    """Return how often words follow each other without a gap.

    Args:
        places: Where each word stands in the text.
        words: For each place of the phrase, the words that may stand there.

    Returns:
        The number of places where the phrase starts.

    Examples:
        >>> exact_frequency({"a": [0, 3], "b": [1, 4]}, [["a"], ["b"]])
        2.0
    """
    starts: set[int] | None = None
    for offset, options in enumerate(words):
        go_on()
        found = {place - offset for word in options for place in places.get(word, ())}
        starts = found if starts is None else starts & found
        if not starts:
            return 0.0
    return float(len(starts or ()))


class _Cursor:
    """Walks over the places of one word of the phrase; its position is where the phrase would have to start."""

    def __init__(self, offset: int, options: Collection[str], places: Places) -> None:
        go_on()
        self.offset = offset
        self.options = frozenset(options)
        self._rest = iter(sorted({place for word in options for place in places.get(word, ())}))
        self.position = 0

    def advance(self) -> bool:
        place = next(self._rest, None)
        if place is None:
            return False
        self.position = place - self.offset
        return True

    def key(self) -> tuple[int, int]:
        return self.position, self.offset

    def __lt__(self, other: _Cursor) -> bool:
        return self.key() < other.key()


class _Sloppy:
    """Lucene's search for near phrases: the cursor that is furthest behind moves until all stand close together."""

    def __init__(self, cursors: list[_Cursor], slop: int) -> None:
        self._slop = slop
        self._repeats = {
            cursor: [other for other in cursors if other is not cursor and other.options & cursor.options]
            for cursor in cursors
        }
        self._queue = cursors
        self._end = 0

    def frequency(self) -> float:
        if not self._start():
            return 0.0
        total = 0.0
        cursor = heapq.heappop(self._queue)
        length, limit = self._end - cursor.position, self._queue[0].position
        while self._advance(cursor) and self._apart(cursor):
            if cursor.position > limit:
                if length <= self._slop:
                    total += 1 / (1 + length)
                heapq.heappush(self._queue, cursor)
                cursor = heapq.heappop(self._queue)
                length, limit = self._end - cursor.position, self._queue[0].position
            else:
                length = min(length, self._end - cursor.position)
        return total + 1 / (1 + length) if length <= self._slop else total

    def _start(self) -> bool:
        if not all(cursor.advance() for cursor in self._queue):
            return False
        # Equal words of the phrase must not stand on the same word of the text.
        for cursor in self._queue:
            go_on()
            taken = {
                other.position + other.offset
                for other in self._repeats[cursor]
                if other.offset < cursor.offset
            }
            while cursor.position + cursor.offset in taken:
                go_on()
                if not cursor.advance():
                    return False
        self._end = max(cursor.position for cursor in self._queue)
        heapq.heapify(self._queue)
        return True

    def _advance(self, cursor: _Cursor) -> bool:
        go_on()
        if not cursor.advance():
            return False
        self._end = max(self._end, cursor.position)
        return True

    def _apart(self, cursor: _Cursor) -> bool:
        moved = False
        while (other := self._on_the_same_word(cursor)) is not None:
            cursor = min(cursor, other)
            if not self._advance(cursor):
                return False
            moved = True
        if moved:
            heapq.heapify(self._queue)
        return True

    def _on_the_same_word(self, cursor: _Cursor) -> _Cursor | None:
        place = cursor.position + cursor.offset
        return next(
            (other for other in self._repeats[cursor] if other.position + other.offset == place), None
        )


def sloppy_frequency(places: Places, words: Sequence[Collection[str]], slop: int) -> float:
    """Return how often words stand near each other; each time counts less the further they are apart.

    Args:
        places: Where each word stands in the text.
        words: For each place of the phrase, the words that may stand there.
        slop: How many steps of single words lead from the text to the phrase at most.

    Returns:
        The sum of ``1 / (1 + steps)``.

    Examples:
        >>> (
        ...     sloppy_frequency({"a": [0], "b": [2]}, [["a"], ["b"]], 1),
        ...     sloppy_frequency({"a": [1], "b": [0]}, [["a"], ["b"]], 2),
        ... )
        (0.5, 0.3333333333333333)
    """
    cursors = [_Cursor(offset, options, places) for offset, options in enumerate(words)]
    return _Sloppy(cursors, slop).frequency()
