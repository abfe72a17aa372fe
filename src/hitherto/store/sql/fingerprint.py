"""Which embedder made a store's vectors, and how far a change of embedder has come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from sqlalchemy import bindparam, delete, insert, select

from hitherto.errors import EmbedderMismatchError
from hitherto.models.base import Embedder, Fingerprint
from hitherto.store.requests import Chunk
from hitherto.store.sql.tables import meta

if TYPE_CHECKING:
    from sqlalchemy import Connection

EMBEDDER_KEY: Final = "embedder"
PROGRESS_KEY: Final = "reembedded_through"
UNKNOWN: Final = ""
"""The name of what made vectors that were handed in ready-made."""

_READ = select(meta.c.value).where(meta.c.key == bindparam("meta_key"))
_DELETE = delete(meta).where(meta.c.key == bindparam("meta_key"))


def read_meta(conn: Connection, key: str) -> str | None:
    """Return a stored setting, or None."""
    value: str | None = conn.execute(_READ, {"meta_key": key}).scalar()
    return value


def write_meta(conn: Connection, key: str, value: str | None) -> None:
    """Store a setting, or delete it."""
    conn.execute(_DELETE, {"meta_key": key})
    if value is not None:
        conn.execute(insert(meta), {"key": key, "value": value})


def read_fingerprint(conn: Connection) -> Fingerprint | None:
    """Return which embedder made the stored vectors, or None if there are none."""
    text = read_meta(conn, EMBEDDER_KEY)
    return None if text is None else Fingerprint(**json.loads(text))


def write_fingerprint(conn: Connection, fingerprint: Fingerprint) -> None:
    """Store which embedder makes the vectors from now on."""
    write_meta(conn, EMBEDDER_KEY, json.dumps(asdict(fingerprint)))


def embedder_fingerprint(embedder: Embedder) -> Fingerprint:
    """Return what must be equal for two embedders' vectors to be comparable."""
    found = getattr(embedder, "fingerprint", None)
    if isinstance(found, Fingerprint):
        return found
    return Fingerprint(type(embedder).__name__, embedder.embedding_dimension, normalised=False)


def check_fingerprint(stored: Fingerprint | None, given: Fingerprint, where: str) -> None:
    """Refuse an embedder whose vectors cannot be compared with the stored ones.

    Args:
        stored: What made the stored vectors, or None.
        given: What would make new ones.
        where: What is being opened, for the message.

    Raises:
        EmbedderMismatchError: If they differ.
    """
    if stored is None or stored == given:
        return
    if UNKNOWN in (stored.name, given.name) and stored.dimension == given.dimension:
        return
    raise EmbedderMismatchError(
        f"{where} holds vectors of {_named(stored)}, the embedder given is {_named(given)}; open it with the first, "
        "or re-embed it with reembed()"
    )


def _named(fingerprint: Fingerprint) -> str:
    if fingerprint.name == UNKNOWN:
        return f"an unknown model ({fingerprint.dimension} dimensions)"
    return str(fingerprint)


def note_vectors(conn: Connection, embedder: Embedder | None, chunks: Sequence[Chunk], where: str) -> None:
    """Check vectors that are about to be stored against those that are, and note what made the first ones.

    Args:
        conn: A connection in a write transaction.
        embedder: What made them, or None if they were handed in.
        chunks: The chunks that are about to be stored.
        where: The store's name, for messages.

    Raises:
        EmbedderMismatchError: If they cannot be compared with the stored ones.
    """
    dimension = next((chunk.vector.size for chunk in chunks if chunk.vector is not None), None)
    if dimension is None:
        return
    given = (
        Fingerprint(UNKNOWN, dimension, normalised=False)
        if embedder is None
        else embedder_fingerprint(embedder)
    )
    stored = read_fingerprint(conn)
    check_fingerprint(stored, given, where)
    if stored is not None and stored.name == UNKNOWN != given.name:
        if not conn.execute(_DELETE, {"meta_key": EMBEDDER_KEY}).rowcount:
            # Only the owner of the tables may say more of what is there; or another writer just did.
            check_fingerprint(read_fingerprint(conn), given, where)
            return
        stored = None
    if stored is None:
        write_fingerprint(conn, given)
