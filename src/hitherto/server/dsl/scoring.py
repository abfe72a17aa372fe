"""Scores as Lucene computes them: BM25 in steps of 32-bit floats, with lengths kept in one byte."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from hitherto.server.dsl.documents import Statistics

Profile = Literal["3.x", "2.x"]

K1: Final = 1.2
B: Final = 0.75
MAX_FLOAT: Final = 3.4028234663852886e38

_FLOAT: Final = struct.Struct("<f")


def f32(value: float) -> float:
    """Round to the nearest 32-bit float; what is too large becomes the largest.

    Args:
        value: Any number.

    Examples:
        >>> f32(0.1)
        0.10000000149011612
    """
    try:
        rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(MAX_FLOAT, value)
    return rounded


def shortest(score: float) -> float:
    """Return the shortest decimal that is rounded to the same 32-bit float, which is what hits show.

    Args:
        score: A 32-bit float.

    Examples:
        >>> shortest(f32(0.1))
        0.1
    """
    for digits in range(1, 9):
        short = float(f"{score:.{digits}g}")
        # What lies above the largest float is rounded down to it, but only its last digits are near enough.
        if f32(short) == score and (abs(short) <= MAX_FLOAT or digits == 8):
            return short
    return score


def _kept_length(code: int) -> int:
    # Below 24 exactly; above, four bits of mantissa and an exponent.
    if code < 24:
        return code
    bits, shift = (code - 24) & 0x07, ((code - 24) >> 3) - 1
    return 24 + (bits if shift == -1 else (bits | 0x08) << shift)


LENGTHS: Final = tuple(_kept_length(code) for code in range(256))
"""The length that each byte stands for."""


def length_code(length: int) -> int:
    """Return the byte that keeps a length.

    Args:
        length: A number of words.

    Examples:
        >>> [LENGTHS[length_code(length)] for length in (1, 39, 40, 41, 57, 1000)]
        [1, 39, 40, 40, 56, 984]
    """
    if length < 24:
        return length
    rest = length - 24
    bits = rest.bit_length()
    if bits < 4:
        return 24 + rest
    shift = bits - 4
    return 24 + (((rest >> shift) & 0x07) | ((shift + 1) << 3))


def idf(containing: int, documents: int) -> float:
    """Return how telling a term is.

    Args:
        containing: The number of documents with the term.
        documents: The number of documents with the field.

    Examples:
        >>> round(idf(1, 1), 5)
        0.28768
    """
    containing = max(containing, 1)
    documents = max(documents, containing)
    return f32(math.log(1 + (documents - containing + 0.5) / (containing + 0.5)))


@dataclass(frozen=True, slots=True)
class Bm25:
    """The weight of one term, or of a phrase, in one field.

    Attributes:
        weight: Boost times idf.
        norms: For each kept length, what a frequency is multiplied by.
    """

    weight: float
    norms: tuple[float, ...]

    @classmethod
    def of(cls, field: str, idf_sum: float, boost: float, statistics: Statistics, profile: Profile) -> Bm25:
        """Weigh a term or a phrase.

        Args:
            field: The field.
            idf_sum: The term's idf, or the sum over the phrase.
            boost: The boost.
            statistics: Counts over the index.
            profile: The generation of scores.
        """
        if profile == "2.x":
            boost = f32(boost * f32(1 + f32(K1)))
        documents, tokens = statistics.documents(field), statistics.tokens(field)
        return cls(f32(boost * idf_sum), _norms(f32(tokens / documents) if documents and tokens else 1.0))

    def score(self, frequency: float, length: int) -> float:
        """Score a document.

        Args:
            frequency: How often the term stands in the field.
            length: How many words the field has.
        """
        norm = self.norms[length_code(length)]
        return f32(self.weight - f32(self.weight / f32(1 + f32(frequency * norm))))


@lru_cache(maxsize=256)
def _norms(average: float) -> tuple[float, ...]:
    k1, b = f32(K1), f32(B)
    return tuple(
        f32(1 / f32(k1 * f32(f32(1 - b) + f32(f32(b * f32(length)) / average)))) for length in LENGTHS
    )


def added(scores: list[float]) -> float:
    """Add the scores of several clauses, in 64 bits, rounded at the end.

    Args:
        scores: The scores.
    """
    return f32(math.fsum(scores)) if len(scores) > 2 else f32(sum(scores))
