"""Vectors in memory: unit rows, their 1-bit codes, and the nearest of them.

A scope's vectors are a float32 matrix, whose product with the query is as fast as memory can be read. A scope with
very many rows keeps only the sign of each number: 48 bytes a row instead of 1,536 for 384 numbers. The number of
bits in which two codes differ tells their angle; the best rows by it are then scored again in full precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD_BITS: Final = 64
_BLOCK: Final = 16_384
_THREADS_PAY: Final = 20_000


def unit_rows(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors of length 1; a vector of nothing but zeros stays.

    Args:
        vectors: Shape (rows, dimension).

    Examples:
        >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
        [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    # In float64, because the squares of large numbers overflow float32.
    wide = vectors.astype(np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    norms[norms == 0] = 1
    return np.ascontiguousarray((wide / norms[:, None]).astype("<f4"))


def code_bytes(dimension: int) -> int:
    """Return how long the code of a vector is, in bytes: whole 64-bit words.

    Args:
        dimension: The vector's dimension.

    Examples:
        >>> code_bytes(384), code_bytes(3)
        (48, 8)
    """
    return -(-dimension // _WORD_BITS) * 8


def bit_codes(vectors: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Return the signs of vectors, one bit each, padded to whole 64-bit words.

    Args:
        vectors: Shape (rows, dimension).

    Returns:
        Shape (rows, code_bytes(dimension)).

    Examples:
        >>> bit_codes(np.array([[1.0, -1.0, 1.0]], dtype=np.float32)).tolist()
        [[160, 0, 0, 0, 0, 0, 0, 0]]
    """
    rows, dimension = vectors.shape
    codes = np.zeros((rows, code_bytes(dimension)), dtype=np.uint8)
    packed = np.packbits(vectors > 0, axis=1)
    codes[:, : packed.shape[1]] = packed
    return codes


def estimated_cosines(codes: NDArray[np.uint8], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return cosines as far as the codes tell: from the share of bits that differ.

    Args:
        codes: The codes of the rows, shape (rows, code_bytes(dimension)).
        query: The query's unit vector, shape (dimension,).

    Returns:
        One estimate per row.
    """
    differing = differing_bits(codes, bit_codes(query[None, :])[0])
    dimension = query.shape[0]
    table = np.cos(np.pi * np.arange(dimension + 1) / dimension).astype(np.float32)
    estimates: NDArray[np.float32] = table[differing]
    return estimates


def differing_bits(codes: NDArray[np.uint8], code: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return in how many bits each of many codes differs from one.

    Args:
        codes: Shape (rows, bytes).
        code: Shape (bytes,).
    """
    wide, one = codes.view(np.uint64), code.view(np.uint64)
    total = np.zeros(wide.shape[0], dtype=np.uint16)
    # Column by column in blocks that stay in the cache: temporaries of the whole height are read from memory again.
    for start in range(0, wide.shape[0], _BLOCK):
        block = wide[start : start + _BLOCK]
        part = total[start : start + _BLOCK]
        for place in range(wide.shape[1]):
            part += np.bitwise_count(block[:, place] ^ one[place])
    return total


def cosines(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the products of unit vectors with a query.

    A matrix product shares its work out to threads and waits for them: with another process on one of the cores
    that is 8 ms for what takes 0.2 ms. Row by row there are no threads; they pay only where memory is the limit.

    Args:
        vectors: Unit vectors, shape (rows, dimension).
        query: The query's unit vector.
    """
    if vectors.shape[0] <= _THREADS_PAY:
        rows: NDArray[np.float32] = np.vecdot(vectors, query)
        return rows
    product: NDArray[np.float32] = vectors @ query
    return product


def exact_cosines(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return cosines that are the same for the same vectors, wherever in the matrix they stand.

    A matrix product rounds differently for different rows of a block, which would order equal records by chance.

    Args:
        vectors: A few unit vectors, shape (rows, dimension).
        query: The query's unit vector.
    """
    found: NDArray[np.float64] = np.vecdot(vectors, query).astype(np.float64)
    return found


def refined_cosines(codes: NDArray[np.uint8], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return an order of rows by their codes and the full query, which is finer than by bits that differ.

    The query's numbers are summed up with the signs of each code, eight at a time from a table.

    Args:
        codes: Shape (rows, code_bytes(dimension)).
        query: The query's unit vector.

    Examples:
        >>> codes = bit_codes(np.array([[1.0, -1.0], [-1.0, 1.0]], dtype=np.float32))
        >>> refined_cosines(codes, np.array([0.75, 0.5], dtype=np.float32)).tolist()
        [0.25, -0.25]
    """
    padded = np.zeros(codes.shape[1] * 8, np.float32)
    padded[: query.size] = query
    signs = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
    table = padded.reshape(-1, 8) @ signs.T
    total = np.zeros(codes.shape[0], np.float32)
    for place in range(codes.shape[1]):
        total += table[place][codes[:, place]]
    return total
