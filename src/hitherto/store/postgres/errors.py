"""What the driver raises -> what hitherto raises, the driver's error being the cause."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from hitherto.errors import BusyError, ConflictError, HithertoError, SchemaError, StoreError

_AGAIN: Final = frozenset({"40001", "40P01", "57P01", "57P02", "57P03", "53300"})
"""Serialisation failure, deadlock, a server that stops or starts, too many connections."""
_LOST: Final = "08"
"""The class of errors of the connection."""


class InterruptedTransactionError(StoreError):
    """A transaction was undone by the database or by a lost connection; running it again may succeed."""


class SimultaneousWriteError(ConflictError):
    """Another writer stored the same id, link or user a moment ago; alone, a write would have seen it."""


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    """Turn errors of SQLAlchemy and of the driver into ours.

    Args:
        where: The store's name, for messages.

    Raises:
        BusyError: If the database stayed locked, or no connection was free.
        SchemaError: If a table or column is missing.
        InterruptedTransactionError: If trying again may help.
        SimultaneousWriteError: If another writer took an id at the same moment.
        StoreError: If the database refused for another reason.
    """
    try:
        yield
    except HithertoError:
        raise
    except PoolTimeoutError as error:
        raise BusyError(f"{where}: all connections of the pool stayed in use ({error})") from error
    except DBAPIError as error:
        raise _translated(error.orig if isinstance(error.orig, Exception) else error, where) from error
    except (SQLAlchemyError, psycopg.Error) as error:
        raise _translated(error, where) from error


def is_lost(error: BaseException) -> bool:
    """Return whether an error says that the connection, or the whole server, is gone.

    Args:
        error: What SQLAlchemy or the driver raised.
    """
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.Error):
        return False
    state = cause.sqlstate
    if state is None:
        return isinstance(cause, (psycopg.OperationalError, psycopg.InterfaceError))
    return state.startswith(_LOST) or state in {"57P01", "57P02", "57P03"}


def _translated(error: Exception, where: str) -> HithertoError:
    message = str(error).strip()
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if is_lost(error) or state in _AGAIN:
        return InterruptedTransactionError(f"{where}: {message}")
    if state == "55P03":
        return BusyError(
            f"{where} stayed locked by another writer for longer than busy_timeout_s ({message}); try again, or "
            "allow more time"
        )
    if state in {"42P01", "42703", "3F000"}:
        return SchemaError(f"{where} has not the schema that is needed: {message}")
    if state == "23505":
        return SimultaneousWriteError(
            f"{where}: another writer stored the same id or link a moment ago: {message}"
        )
    if state in {"25006", "42501"}:
        return StoreError(f"{where} may not be changed through this connection: {message}")
    return StoreError(f"{where}: {message}")
