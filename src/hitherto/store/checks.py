"""Checks of what callers hand to a store: texts, JSON, vectors and types, before anything is written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hitherto.characters import is_storable
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, InvalidTextError, shown
from hitherto.notset import NOT_SET
from hitherto.records import RECORD_CLASSES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

F = TypeVar("F", bound="Callable[..., Any] | None")

MAX_LABEL_LENGTH = 128
MAX_METADATA_DEPTH: Final = 200
# Python reads no longer number back from JSON, so a record that held one could never be listed again.
_LARGE_NUMBER: Final = 10**4300


@contextmanager
def named_as(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors about arguments name them as the caller did, where a verb hands them on under other names.

    Args:
        names: The caller's names by those of the verb that is called.

    Examples:
        >>> with named_as({"contents": "content"}):
        ...     check_text(5, argument="contents")
        Traceback (most recent call last):
        hitherto.errors.ArgumentTypeError: content must be a str, got 5
    """
    try:
        yield
    except (ArgumentTypeError, InvalidArgumentError) as error:
        inner = error.argument
        if inner is not None and inner in names:
            error.args = (re.sub(rf"\b{inner}\b", names[inner], str(error), count=1),)
            error.argument = names[inner]
        raise


def check_flag(value: object, *, argument: str, default: bool | None = None) -> bool:
    """Return *value* if it is True or False: any other would pass for True, "no" too.

    Args:
        value: What came.
        argument: The argument's name, for the message.
        default: What NOT_SET stands for; None to refuse it.

    Raises:
        ArgumentTypeError: If it is no bool.

    Examples:
        >>> check_flag(NOT_SET, argument="explain", default=False)
        False
    """
    if value is NOT_SET and default is not None:
        return default
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{argument} must be True or False, got {shown(value)}", argument=argument)
    return value


def check_whole(value: object, *, argument: str, least: int, most: int | None = None) -> int:
    """Return *value* if it is a whole number within its bounds.

    Args:
        value: What came.
        argument: The argument's name, for the message.
        least: The smallest that is allowed.
        most: The largest, or None.

    Raises:
        ArgumentTypeError: If it is no int.
        InvalidArgumentError: If it is out of bounds.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{argument} must be an int, got {shown(value)}", argument=argument)
    if value < least or (most is not None and value > most):
        wanted = f">= {least}" if most is None else f"{least} to {most}"
        raise InvalidArgumentError(f"{argument} must be {wanted}, got {value}", argument=argument)
    return value


def check_instance(value: object, kind: type, *, argument: str) -> None:
    """Refuse a value that is neither of a class nor None.

    Args:
        value: What came.
        kind: The class.
        argument: The argument's name, for the message.

    Raises:
        ArgumentTypeError: If it is of another class.
    """
    if value is not None and not isinstance(value, kind):
        raise ArgumentTypeError(
            f"{argument} must be of {kind.__name__} or None, got {shown(value)}", argument=argument
        )


def check_callable(value: F, *, argument: str) -> F:
    """Return *value* if it can be called, or is None.

    Raises:
        ArgumentTypeError: If it is neither.
    """
    if value is not None and not callable(value):
        raise ArgumentTypeError(f"{argument} must be callable, got {shown(value)}", argument=argument)
    return value


def check_text(value: object, *, argument: str) -> str:
    """Return *value* if it is a text that every backend can store.

    Args:
        value: What came.
        argument: The argument's name, for the message.

    Raises:
        ArgumentTypeError: If it is no str.
        InvalidTextError: If it holds NUL or a lone surrogate.

    Examples:
        >>> check_text("Ana 🚲", argument="content")
        'Ana 🚲'
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{argument} must be a str, got {shown(value)}", argument=argument)
    if not is_storable(value):
        raise InvalidTextError(
            f"{argument} must not hold NUL or a lone surrogate, got {shown(value)}", argument=argument
        )
    return value


def check_label(value: object, *, argument: str) -> str:
    """Return *value* if it is a legal label of a link: a text of 1 to 128 characters.

    Raises:
        ArgumentTypeError: If it is neither a str nor None.
        InvalidArgumentError: If it is None, empty or too long.
        InvalidTextError: If it holds NUL or a lone surrogate.
    """
    if value is None:
        raise InvalidArgumentError(f"{argument} must be a str, got None", argument=argument)
    text = check_text(value, argument=argument)
    if not 1 <= len(text) <= MAX_LABEL_LENGTH:
        raise InvalidArgumentError(
            f"{argument} must have 1 to {MAX_LABEL_LENGTH} characters, got {len(text)}", argument=argument
        )
    return text


def check_timestamp(value: object, *, argument: str = "timestamp") -> str | None:
    """Return a record's own time as it was given, or None; any text is one.

    Raises:
        ArgumentTypeError: If it is neither a str nor None.
        InvalidTextError: If it holds NUL or a lone surrogate.
    """
    return None if value is None else check_text(value, argument=argument)


def check_metadata(value: object, *, argument: str = "metadata") -> dict[str, Any] | None:
    """Return a copy of a JSON object, or None.

    Args:
        value: A mapping from str to JSON values, or None.
        argument: The argument's name, for the message.

    Raises:
        InvalidArgumentError: If it is no mapping, has a key that is no str, a value that is not JSON, an int of more
            than 4300 digits, or more than 200 levels.
        InvalidTextError: If a text in it holds NUL or a lone surrogate.

    Examples:
        >>> check_metadata({"tags": ["a", "b"], "n": 1.5})
        {'tags': ['a', 'b'], 'n': 1.5}
    """
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(
            f"{argument} must be a JSON object or None, got {shown(value)}", argument=argument
        )
    return _json_object(value, argument, depth=1)


def _json_object(value: Mapping[Any, Any], argument: str, depth: int) -> dict[str, Any]:
    return {_key(key, argument): _json(item, argument, depth) for key, item in value.items()}


def _key(key: object, argument: str) -> str:
    if not isinstance(key, str):
        raise InvalidArgumentError(f"{argument} must have str keys, got {shown(key)}", argument=argument)
    return check_text(key, argument=argument)


def _json(value: object, argument: str, depth: int) -> Any:
    if isinstance(value, (Mapping, list, tuple)):
        return _json_container(value, argument, depth + 1)
    # Enums that are also str or int are stored as their plain value, which is what reading gives back.
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return check_text(str.__str__(value), argument=argument)
    if isinstance(value, int):
        if abs(value) >= _LARGE_NUMBER:
            raise InvalidArgumentError(
                f"{argument} must not hold an int of more than 4300 digits", argument=argument
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                f"{argument} must not hold NaN or infinity, got {value!r}", argument=argument
            )
        return float(value)
    raise InvalidArgumentError(
        f"{argument} must hold JSON values only (null, bool, number, str, list, object), got {shown(value)}",
        argument=argument,
    )


def _json_container(value: Mapping[Any, Any] | Sequence[Any], argument: str, depth: int) -> Any:
    # An object that holds itself ends here too.
    if depth > MAX_METADATA_DEPTH:
        raise InvalidArgumentError(
            f"{argument} must not be nested deeper than {MAX_METADATA_DEPTH} levels", argument=argument
        )
    if isinstance(value, Mapping):
        return _json_object(value, argument, depth)
    return [_json(item, argument, depth) for item in value]


def check_record_type(value: object, *, argument: str = "record_type") -> str:
    """Return *value* if it names a type of record.

    Raises:
        ArgumentTypeError: If it is no str.
        InvalidArgumentError: If no type has this name.

    Examples:
        >>> check_record_type("fact")
        'fact'
    """
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{argument} must be a str, got {shown(value)}", argument=argument)
    if value not in RECORD_CLASSES:
        raise InvalidArgumentError(
            f"{argument} must be one of {', '.join(sorted(RECORD_CLASSES))}, got {shown(value)}",
            argument=argument,
        )
    return value


def check_vector(value: object, *, argument: str, dimension: int | None = None) -> NDArray[np.float32]:
    """Return a vector as float32.

    Args:
        value: A sequence of numbers or a one-dimensional array.
        argument: The argument's name, for the message.
        dimension: The number of components wanted, or None for any.

    Raises:
        ArgumentTypeError: If it is no sequence of numbers.
        InvalidArgumentError: If it is empty, not finite, or of another dimension.
    """
    import numpy as np

    try:
        vector = np.asarray(value, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"{argument} must be a sequence of numbers, got {shown(value)}", argument=argument
        ) from error
    if vector.ndim != 1 or not vector.size:
        raise InvalidArgumentError(
            f"{argument} must be a flat, non-empty vector, got shape {vector.shape}", argument=argument
        )
    if not np.isfinite(vector).all():
        raise InvalidArgumentError(f"{argument} must hold finite numbers only", argument=argument)
    if dimension is not None and vector.size != dimension:
        raise InvalidArgumentError(
            f"{argument} must have {dimension} components, got {vector.size}", argument=argument
        )
    return vector


def spread(value: object, count: int, *, argument: str) -> Sequence[Any]:
    """Return one value per record: a list as it is, anything else repeated.

    Args:
        value: A list or tuple of *count* values, or one value for all.
        count: The number of records.
        argument: The argument's name, for the message.

    Raises:
        InvalidArgumentError: If a list has another length.

    Examples:
        >>> spread("u1", 2, argument="user_ids")
        ['u1', 'u1']
    """
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise InvalidArgumentError(
            f"{argument} must have one value per record ({count}), got {len(value)}", argument=argument
        )
    return value


def check_summary(value: object, *, argument: str = "content") -> dict[str, Any]:
    """Return the content of a summary: a JSON object; a text becomes ``{"text": ...}``.

    Raises:
        InvalidArgumentError: If it is neither.
    """
    checked = check_metadata({"text": value} if isinstance(value, str) else value, argument=argument)
    if checked is None:
        raise InvalidArgumentError(f"{argument} must be a JSON object or a str, got None", argument=argument)
    return checked


def json_text(value: object) -> str | None:
    """Return checked JSON as it is stored, or None for None."""
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
