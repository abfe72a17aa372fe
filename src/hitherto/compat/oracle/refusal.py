"""What only an Oracle database can do, refused with what to do instead."""

from __future__ import annotations

from typing import NoReturn

from hitherto.errors import InvalidArgumentError


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
