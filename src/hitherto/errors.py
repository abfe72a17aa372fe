"""Every exception of hitherto.

```
HithertoError
├── InvalidArgumentError (ValueError)        an argument has a value that is not allowed
│   ├── InvalidIdError                       an id is empty, too long, or holds NUL or a lone surrogate
│   ├── InvalidTextError                     a text holds NUL or a lone surrogate
│   └── InvalidFilterError                   a metadata filter is malformed
├── ArgumentTypeError (TypeError)            an argument has the wrong type
├── NotFoundError (KeyError)                 no such record, thread or link
├── ConflictError (ValueError)               the id or link exists already
│   └── AlreadyStoredError                   ... and with the same content: a retried request
├── ClosedError (RuntimeError)               the client or store was closed
├── MissingExtraError (ImportError)          an optional dependency is not installed
├── StoreError (RuntimeError)                the database refused or failed
│   ├── SchemaError                          the schema is absent, older or newer than wanted
│   ├── EmbedderMismatchError                the store holds vectors of another embedder
│   └── BusyError (TimeoutError)             the database stayed locked for longer than allowed
└── ModelError (RuntimeError)                an embedder, LLM or reranker failed
    └── ModelOutputError (ValueError)        a model answered, but not in the form that was asked for
```
"""

from __future__ import annotations

from functools import partial
from reprlib import Repr

_shortener = Repr()
_shortener.maxstring = _shortener.maxother = 80


def shown(value: object) -> str:
    """Return a shortened ``repr`` of *value*, fit for an error message.

    Args:
        value: Anything.

    Returns:
        At most about 80 characters.

    Examples:
        >>> shown("x" * 500) == "'" + "x" * 37 + "..." + "x" * 38 + "'"
        True
        >>> shown(3)
        '3'
    """
    try:
        return _shortener.repr(value)
    except ValueError:  # an int of thousands of digits, which Python before 3.13 does not spell out
        return f"<{type(value).__name__} with too many digits>"


class HithertoError(Exception):
    """Base of every error that hitherto raises on purpose."""


class InvalidArgumentError(HithertoError, ValueError):
    """An argument has a value that is not allowed.

    Attributes:
        argument: The argument's name, or None when several are concerned.
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        """Keep the message and the argument's name.

        Args:
            message: What is wrong and what would be right.
            argument: The argument's name, if there is just one.
        """
        super().__init__(message)
        self.argument = argument


class InvalidIdError(InvalidArgumentError):
    """An id is empty, longer than 128 characters, or holds NUL or a lone surrogate."""


class InvalidTextError(InvalidArgumentError):
    """A text holds NUL or a lone surrogate, which no backend can store."""


class InvalidFilterError(InvalidArgumentError):
    """A metadata filter is malformed or uses an unknown operator."""


class ArgumentTypeError(HithertoError, TypeError):
    """An argument has the wrong type.

    Attributes:
        argument: The argument's name, or None when several are concerned.
    """

    def __init__(self, message: str, *, argument: str | None = None) -> None:
        """Keep the message and the argument's name.

        Args:
            message: What came and what was wanted.
            argument: The argument's name, if there is just one.
        """
        super().__init__(message)
        self.argument = argument


class NotFoundError(HithertoError, KeyError):
    """No record, thread or link has the id that was given."""

    def __str__(self) -> str:
        """Return the message as written, where ``KeyError`` would return its repr."""
        return str(self.args[0]) if self.args else ""


class ConflictError(HithertoError, ValueError):
    """An id or link exists already, with other content or another owner."""


class AlreadyStoredError(ConflictError):
    """The very same record is stored already, as after a retried request; nothing was written.

    Attributes:
        record_id: The record's id.
    """

    def __init__(self, message: str, *, record_id: str) -> None:
        """Keep the message and the record's id.

        Args:
            message: Which record it is.
            record_id: Its id.
        """
        super().__init__(message)
        self.record_id = record_id

    def __reduce__(self) -> tuple[partial[AlreadyStoredError], tuple[object, ...]]:
        # An exception is unpickled from its positional arguments alone.
        return partial(type(self), record_id=self.record_id), self.args


class ClosedError(HithertoError, RuntimeError):
    """The client, thread or store was used after ``close()``."""


class MissingExtraError(HithertoError, ImportError):
    """An optional dependency is not installed; the message names the extra to install."""


class StoreError(HithertoError, RuntimeError):
    """The database refused or failed; the driver's error is the cause."""


class SchemaError(StoreError):
    """The schema is absent, older or newer than this version needs."""


class EmbedderMismatchError(StoreError):
    """The store holds vectors of another embedder than the one given."""


class BusyError(StoreError, TimeoutError):
    """The database stayed locked by another writer for longer than the busy timeout."""


class ModelError(HithertoError, RuntimeError):
    """An embedder, LLM or reranker failed; the provider's error is the cause."""


class ModelOutputError(ModelError, ValueError):
    """A model answered, but not in the form that was asked for."""
