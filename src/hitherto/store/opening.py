"""Opening a store by its path or URL, with the embedder that fits what it holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from hitherto._optional import require
from hitherto.errors import (
    ArgumentTypeError,
    EmbedderMismatchError,
    InvalidArgumentError,
    MissingExtraError,
    SchemaError,
    shown,
)
from hitherto.models.base import Embedder, Fingerprint

if TYPE_CHECKING:
    from hitherto.store.postgres.store import PostgresStore
    from hitherto.store.sql.store import SqlMemoryStore

Auto = Literal["auto"]

_SCHEME: Final = "sqlite:///"
_POSTGRES: Final = ("postgresql://", "postgres://")


def open_store(
    target: str | os.PathLike[str], *, embedder: Embedder | Auto | None = "auto", **options: Any
) -> SqlMemoryStore:
    """Open the store at a path or URL.

    Args:
        target: A path, ``sqlite:///`` and a path, ":memory:", or ``postgresql://user:password@host:port/name``.
        embedder: What turns texts into vectors; None to search by words alone; "auto" for the embedder that an
            existing store's vectors are of, and for a new store the local one if the extra ``local`` is installed.
        **options: What the backend takes; see :class:`~hitherto.store.sqlite.store.SQLiteStore` and
            :class:`~hitherto.store.postgres.store.PostgresStore`.

    Returns:
        The open store.

    Raises:
        ArgumentTypeError: If target or embedder has the wrong type.
        InvalidArgumentError: If the URL is of an unknown kind.
        MissingExtraError: If the stored vectors are the local embedder's and the extra is not installed, or the extra
            ``postgres`` is not installed and the URL is one of PostgreSQL.
        EmbedderMismatchError: If "auto" finds vectors of an embedder that it cannot make.

    Examples:
        >>> with open_store(":memory:", embedder=None) as store:
        ...     store.add(["Ana plays the cello"], "fact", record_ids="f1")
        ['f1']
    """
    remote = isinstance(target, str) and target.startswith(_POSTGRES)
    path = str(target) if remote else _sqlite_path(target)
    if embedder == "auto":
        embedder = _fitting_embedder(path, remote=remote)
    elif embedder is not None and not callable(getattr(embedder, "embed", None)):
        raise ArgumentTypeError(
            f'embedder must be an Embedder, "auto" or None, got {shown(embedder)}', argument="embedder"
        )
    if remote:
        return _postgres(path, embedder=embedder, **options)
    from hitherto.store.sqlite.store import SQLiteStore

    return SQLiteStore(path, embedder=embedder, **options)


def _postgres(url: str, **options: Any) -> PostgresStore:
    require("psycopg", extra="postgres")
    from hitherto.store.postgres.store import PostgresStore

    return PostgresStore(url, **options)


def _sqlite_path(target: object) -> str:
    if isinstance(target, os.PathLike):
        target = os.fspath(target)
    if not isinstance(target, str):
        raise ArgumentTypeError(
            f"path must be the path or URL of a store, got {shown(target)}", argument="path"
        )
    if target.startswith(_SCHEME):
        return target.removeprefix(_SCHEME)
    if "://" in target:
        # A URL may hold a password, so only its scheme is named.
        raise InvalidArgumentError(
            f"a store's URL must start with {_SCHEME!r} or {_POSTGRES[0]!r}, got one that starts with "
            f"{target.split('://')[0] + '://'!r}",
            argument="path",
        )
    return target


def _fitting_embedder(path: str, *, remote: bool) -> Embedder | None:
    stored = _remote_fingerprint(path) if remote else _stored_fingerprint(path)
    try:
        from hitherto.models.local import LocalEmbedder

        local = LocalEmbedder()
    except MissingExtraError:
        if stored is not None:
            raise
        return None
    if stored is None or stored == local.fingerprint:
        return local
    raise EmbedderMismatchError(
        f"{'the database' if remote else path} holds vectors of {stored}; hand that embedder in as embedder=, or "
        "embedder=None to search by words"
    )


def _stored_fingerprint(path: str) -> Fingerprint | None:
    from hitherto.store.sql.migrate import SchemaPolicy
    from hitherto.store.sqlite.store import SQLiteStore

    file = Path(path)
    if path == ":memory:" or not file.is_file() or not file.stat().st_size:
        return None
    # What the caller's policy allows is seen to when the store is opened; here nothing is changed.
    try:
        with SQLiteStore(path, schema_policy=SchemaPolicy.NO_CHECK, read_only=True) as store:
            return store.stored_fingerprint
    except SchemaError:
        return None


def _remote_fingerprint(url: str) -> Fingerprint | None:
    from hitherto.store.sql.migrate import SchemaPolicy

    try:
        with _postgres(url, schema_policy=SchemaPolicy.NO_CHECK, read_only=True, pool_size=1) as store:
            return store.stored_fingerprint
    except SchemaError:
        return None
