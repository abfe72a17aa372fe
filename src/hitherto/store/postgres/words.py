"""Words in PostgreSQL: the index that finds the rows which hold a word, and how rows are read with their neighbours.

The index is a GIN index of ``entries`` over a tsvector that PostgreSQL makes of our own tokens, each written as the
eight hexadecimal digits of its bytes. Nothing but the index depends on it: there is no column and no trigger.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto.store.postgres.build import build_online
from hitherto.store.postgres.conditions import Wanted
from hitherto.store.sql.entries import MESSAGE
from hitherto.store.sql.reader import ScopeNames, read_rows

if TYPE_CHECKING:
    import psycopg
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from hitherto.store.sql.index_sql import Driver
    from hitherto.store.sql.shelf import Batch

INDEX_NAME: Final = "ix_entries_words"
_LEXEMES: Final = (
    "array_to_tsvector(string_to_array(rtrim(regexp_replace("
    r"""encode(tokens || dates, 'hex') COLLATE "C", '(.{8})', '\1 ', 'g')), ' '))"""
)
# Rows that were added lately wait in a list which every search reads: the shorter, the faster the search.
_HOW: Final = f"USING gin (({_LEXEMES})) WITH (gin_pending_list_limit = 256)"
_IN_THREAD: Final = f"e.record_type = {MESSAGE} AND e.thread_id IS NOT NULL"
_FIELDS: Final = ("user_no", "record_no", "chunk_no", "thread", "length", "fits")
# What is absent, as most words are, is seen without writing the row anew.
_OFTEN: Final = (
    "(CASE WHEN position(%s IN e.tokens) = 0 THEN 0 ELSE least(length(e.tokens) / 4 - "
    "length(replace(encode(e.tokens, 'hex'), %s, '')) / 8, 1000) END)::int2"
)
_IN_DATE: Final = "(position(%s IN e.dates) > 0)::int::int2"
# OFFSET 0 keeps each look-up one by key: joined at once, whole tables would be read where they are not large.
_AROUND: Final = """(
    SELECT c.user_no, c.record_no FROM unnest(?::bigint[], ?::bigint[]) c (user_no, record_no)
    UNION
    SELECT c.user_no, n.record_no FROM unnest(?::bigint[], ?::bigint[]) c (user_no, record_no)
    CROSS JOIN LATERAL (
        SELECT r.thread_id FROM records r
        WHERE r.user_no = c.user_no AND r.record_no = c.record_no AND r.record_type = 'message' OFFSET 0
    ) t
    CROSS JOIN LATERAL (
        (SELECT b.record_no FROM records b WHERE b.user_no = c.user_no AND b.thread_id = t.thread_id
        AND b.record_type = 'message' AND b.record_no < c.record_no ORDER BY b.record_no DESC LIMIT 3)
        UNION ALL
        (SELECT a.record_no FROM records a WHERE a.user_no = c.user_no AND a.thread_id = t.thread_id
        AND a.record_type = 'message' AND a.record_no > c.record_no ORDER BY a.record_no LIMIT 3)
    ) n
) w CROSS JOIN LATERAL (
    SELECT * FROM entries f WHERE f.user_no = w.user_no AND f.record_no = w.record_no OFFSET 0
) e"""


def build_words(conn: Connection) -> None:
    """Build the index of words, or what is missing of it, without keeping writers waiting.

    Args:
        conn: A connection without a transaction, as concurrent building wants it.
    """
    build_online(conn, "entries", INDEX_NAME, _HOW, anew=False)
    # Without statistics of the words the planner takes every word for a rare one.
    conn.exec_driver_sql("ANALYZE entries")


@dataclass(frozen=True, slots=True)
class Holders:
    """Rows that hold some of a query's words.

    Attributes:
        rows: A structured array: ``user_no``, ``record_no``, ``chunk_no``, ``thread`` (a hash, 0 for what has no
            neighbours), ``length`` (how many words a row has), ``fits`` (whether the row may be found), and for each
            word how often it stands in the row (``own``) and whether it does in its date (``dated``).
        words: The words' hashes.
        complete: Whether there are no others.
    """

    rows: NDArray[Any]
    words: Sequence[int]
    complete: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """Which holders are asked for.

    Attributes:
        words: The words' hashes.
        dated: Those that are looked for in dates too.
        ranked: What rows must meet to say anything.
        found: What rows must meet to be found.
        near: What messages must meet whose neighbours may be found; None where all rows are asked for, whether they
            may be found or not.
        most: The most rows.
    """

    words: Sequence[int]
    dated: Collection[int]
    ranked: Wanted
    found: Wanted
    near: Wanted | None
    most: int


def holders_statement(asked: Asked) -> tuple[bytes, list[Any]]:
    """Return the statement that finds the rows which hold words, and its values.

    Args:
        asked: Which.
    """
    stored = [word.to_bytes(4, "little") for word in asked.words]
    dated = [word in asked.dated for word in asked.words]
    values: list[Any] = list(asked.found.values)
    for item in stored:
        values += [item, item.hex()]
    values += [item for item, wanted in zip(stored, dated, strict=True) if wanted]
    where = asked.ranked
    if asked.near is not None:
        also = f"({asked.found.sql} OR ({_IN_THREAD} AND {asked.near.sql}))"
        where = where.join(Wanted([also], [*asked.found.values, *asked.near.values]))
    columns = (
        "e.user_no",
        "e.record_no",
        "e.chunk_no",
        f"CASE WHEN {_IN_THREAD} THEN hashtextextended(e.thread_id, 0) ELSE 0 END",
        "length(e.tokens) / 4",
        f"({asked.found.sql})::int",
    )
    # One value of bytes: half a million numbers one by one would take longer to hand over than to find.
    packed = " || ".join(
        [
            *(f"int8send({column})" for column in columns),
            *(f"int2send({_OFTEN})" for _ in stored),
            *(f"int2send({_IN_DATE if wanted else '0::int2'})" for wanted in dated),
        ]
    )
    statement = (
        f"SELECT string_agg(packed, '') FROM (SELECT {packed} AS packed FROM entries e "  # noqa: S608  names of our own
        f"WHERE {where.sql} AND {_LEXEMES} @@ %s::tsquery LIMIT %s) h"
    )
    wanted = " | ".join(f"'{item.hex()}'" for item in stored)
    return statement.encode(), [*values, *where.values, wanted, asked.most]


def find_holders(driver: psycopg.Connection[Any], asked: Asked) -> Holders:
    """Return rows that hold words.

    Args:
        driver: A connection in a read transaction.
        asked: Which.
    """
    counts = (len(asked.words),)
    kind = np.dtype([*((name, ">i8") for name in _FIELDS), ("own", ">i2", counts), ("dated", ">i2", counts)])
    if not asked.words:
        return Holders(np.empty(0, kind), (), complete=True)
    row = driver.execute(*holders_statement(asked), prepare=False, binary=True).fetchone()
    packed = b"" if row is None or row[0] is None else row[0]
    rows = np.frombuffer(packed, kind)
    return Holders(rows, asked.words, complete=rows.size < asked.most)


def read_around(driver: Driver, users: Sequence[int], numbers: Sequence[int], names: ScopeNames) -> Batch:
    """Read the rows of records, and of the three messages before and after each that is a message.

    A message is ranked by the two before and the one after, and the words of a message that is found so count for
    its neighbours: so far must be read that nothing is missing where a record or its neighbours are ranked.

    Args:
        driver: A connection in a read transaction.
        users: The users' numbers.
        numbers: The records' numbers.
        names: The numbers of ids, which may grow.
    """
    keys = [list(users), list(numbers)]
    return read_rows(driver, _AROUND, [*keys, *keys], names)
