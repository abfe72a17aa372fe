"""What only an Oracle database can do, refused with what to do instead."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import NoReturn

from hitherto.compat.oracle.core.dbsearch import SearchIndexSyncMode
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.notset import NOT_SET


def only_on_oracle(what: str, instead: str) -> NoReturn:
    """Refuse something that needs an Oracle database.

    Args:
        what: What was asked for.
        instead: What to do here.

    Raises:
        InvalidArgumentError: Always.
    """
    raise InvalidArgumentError(f"{what} needs an Oracle database, which hitherto has none of; {instead}")


def is_oracle_connection(value: object) -> bool:
    """Return whether a value is a connection or a pool of the package ``oracledb``."""
    return any(cls.__module__.split(".")[0] == "oracledb" for cls in type(value).__mro__)


def target_of(connection: object, *, argument: str = "connection") -> str | os.PathLike[str]:
    """Return the path or URL that stands where a program had an Oracle connection.

    Args:
        connection: A path, a URL or an SQLAlchemy engine.
        argument: The argument's name, for the message.

    Raises:
        InvalidArgumentError: If it is a connection or pool of ``oracledb``.
        ArgumentTypeError: If it is anything else.
    """
    if is_oracle_connection(connection):
        only_on_oracle(
            "an oracledb connection",
            f'give {argument}="memory.db", a path; or keep the original package and give it as_oracle_store(store)',
        )
    url = getattr(connection, "url", None)
    if url is not None and hasattr(url, "render_as_string"):
        return str(url.render_as_string(hide_password=False))
    if not isinstance(connection, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"{argument} must be a path, a URL or an SQLAlchemy engine, got {shown(connection)}",
            argument=argument,
        )
    return connection


def check_nothing_here(given: Mapping[str, object], *, has_store: bool = False) -> None:
    """Check options that only an Oracle database has, and warn that they do nothing.

    Args:
        given: The options by name; NOT_SET for those that were not given.
        has_store: Whether a store was given, on which they would have to be configured.

    Raises:
        ArgumentTypeError: If an option has the wrong type.
        InvalidArgumentError: If a store was given.
    """
    for name, value in given.items():
        if value is NOT_SET:
            continue
        kind = SearchIndexSyncMode if name == "search_index_sync" else str
        if not isinstance(value, kind):
            raise ArgumentTypeError(f"{name} must be a {kind.__name__}, got {shown(value)}", argument=name)
        if has_store:
            raise InvalidArgumentError(f"{name} must be configured on the store itself", argument=name)
        warnings.warn(
            f"{name} does nothing here: it is a matter of an Oracle database", UserWarning, stacklevel=4
        )
