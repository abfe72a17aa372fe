"""Where the databases differ for the index: a few statements, and how vectors and lists of numbers are handed over.

Statements mark their values by ``?``; a driver whose database writes them otherwise translates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection, Table

    from hitherto.filters import Filter
    from hitherto.store.sql.moment import Changes, Moment


Key = tuple[int, int, int]


class Cursor(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any:
        """Return the next row, or None."""

    def fetchmany(self, size: int, /) -> list[Any]:
        """Return the next rows, at most so many."""

    def fetchall(self) -> list[Any]:
        """Return all further rows."""

    def __iter__(self) -> Any:
        """Return the rows one by one."""


class Driver(Protocol):
    """A connection past SQLAlchemy, whose share of a small search would be a fifth."""

    def execute(self, sql: str, values: Any = ..., /) -> Cursor:
        """Run a statement."""

    def executemany(self, sql: str, rows: Iterable[Any], /) -> object:
        """Run a statement for each of many rows."""


@dataclass(frozen=True, slots=True)
class IndexSql:
    """What the index is in one database.

    Attributes:
        put_entry: Writes an entry, in place of one with the same key.
        put_vector: Writes a vector likewise.
        vector: The stored vector as bytes; the table is ``v``.
        vector_bytes: How many bytes a stored vector takes as numbers of 32 bits.
        ids: Selects number, type and id of records by their numbers and those of their users.
        fetch: Selects whole records likewise.
        thread_users: Selects the numbers of the users who have records in a thread, two of them at most.
        store_changes: Returns what has changed in the whole store since a shelf of it was read.
        changed: What the scopes that changed are selected from, as ``s`` with the columns ``user_no`` and ``since``;
            its values are those of the changes.
        driver: Returns the driver of a connection.
        pack_vector: Returns a unit vector as a value.
        unpack_vectors: Returns the rows of stored vectors of one size, joined.
        some_vectors: Reads stored vectors by user, record and chunk; yields the place of each that is there.
        stored_bytes: Returns how long the stored bytes are of a vector of so many dimensions.
        after_copy: What is run when rows were copied in with their numbers.
        copied: How a row of a table is copied in where that takes more than its columns.
        set_counter: Sets a counter: its value and its name, in this order.
        matching: Returns which records pass a metadata filter, of those with these numbers, of these users.
        passing: Returns the numbers of all searchable records of a user, or of everybody, that may pass a metadata
            filter; None where the database cannot tell, or they are many.
        narrow: A condition that holds for all rows of a table whose metadata pass a filter, and for some others.
    """

    put_entry: str
    put_vector: str
    vector: str
    vector_bytes: str
    ids: Callable[[Driver, Sequence[int], Sequence[int]], Cursor]
    fetch: Callable[[Driver, Sequence[int], Sequence[int]], Cursor]
    thread_users: str
    store_changes: Callable[[Driver, Moment | None], Changes]
    changed: str
    driver: Callable[[Connection], Driver]
    pack_vector: Callable[[NDArray[np.float32]], Any]
    unpack_vectors: Callable[[Sequence[bytes]], NDArray[np.float32]]
    some_vectors: Callable[[Driver, Sequence[Key]], Iterable[tuple[int, bytes]]]
    stored_bytes: Callable[[int], int]
    after_copy: tuple[str, ...]
    copied: Mapping[str, str]
    set_counter: str
    matching: Callable[[Connection, Filter, Sequence[int], Sequence[int]], set[int]]
    passing: Callable[[Connection, Filter, int | None], list[int] | None]
    narrow: Callable[[Filter | None, Table], ColumnElement[bool]]
