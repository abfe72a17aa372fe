"""What the driver raises -> what hitherto raises, the driver's error being the cause."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from hitherto.errors import BusyError, HithertoError, SchemaError, StoreError


@contextmanager
def translate_errors(where: str, lost_file: Callable[[], str | None]) -> Iterator[None]:
    """Turn errors of SQLAlchemy and of the driver into ours.

    Args:
        where: The store's name, for messages.
        lost_file: Returns what became of the file since it was opened, or None; asked only for an error.

    Raises:
        BusyError: If the database stayed locked.
        SchemaError: If a table or column is missing, or the file was deleted or replaced.
        StoreError: If the database refused for another reason.
    """
    try:
        yield
    except HithertoError:
        raise
    except DBAPIError as error:
        raise _translated(
            error.orig if isinstance(error.orig, Exception) else error, where, lost_file()
        ) from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _translated(error, where, lost_file()) from error


def _translated(error: Exception, where: str, lost: str | None) -> StoreError:
    message = str(error)
    if lost is not None:
        return SchemaError(f"{where} was {lost} while it was open ({message}); close it and open it again")
    if "locked" in message or "busy" in message:
        return BusyError(
            f"{where} stayed locked by another writer for longer than busy_timeout_s ({message}); try again, or "
            "allow more time"
        )
    if "no such table" in message or "no such column" in message:
        return SchemaError(f"{where} has not the schema that is needed: {message}")
    if "readonly" in message:
        return StoreError(f"{where} is open for reading only: {message}")
    return StoreError(f"{where}: {message}")
