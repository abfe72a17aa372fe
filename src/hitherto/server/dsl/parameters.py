"""The parameters of a clause, read one by one; what is left over is refused by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from hitherto.errors import shown
from hitherto.server.dsl.errors import PARSING, DslError
from hitherto.server.dsl.scoring import MAX_FLOAT, f32
from hitherto.server.dsl.tree import Scalar

_Choice = TypeVar("_Choice", bound=str)
_MAX_INT: Final = 2**31 - 1


class Parameters:
    """The object of a clause.

    Args:
        clause: The clause's name, for errors.
        values: The object.

    Raises:
        DslError: If the value is no object.

    Examples:
        >>> Parameters("match", {"boost": 2, "foo": 1}).boost()
        2.0
    """

    def __init__(self, clause: str, values: object) -> None:
        if not isinstance(values, Mapping):
            raise malformed(
                f"[{clause}] query malformed, no start_object after query name, got {shown(values)}"
            )
        self.clause = clause
        self._left: dict[str, Any] = dict(values)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, default: object = None) -> Any:
        """Take a parameter as it is.

        Args:
            key: The parameter's name.
            default: What is returned if it is missing.
        """
        return self._left.pop(key, default)

    def rest(self) -> dict[str, Any]:
        """Return what was not taken yet."""
        return self._left

    def done(self) -> None:
        """Refuse what was not taken.

        Raises:
            DslError: If anything is left.
        """
        for key in self._left:
            raise malformed(f"[{self.clause}] query does not support [{key}]")

    def wrong(self, key: str, value: object, wanted: str) -> DslError:
        """Return the error about a value of the wrong type.

        Args:
            key: The parameter's name.
            value: What came.
            wanted: What would be right.
        """
        return malformed(f"[{self.clause}] query: [{key}] must be {wanted}, got {shown(value)}")

    def text(self, key: str) -> str | None:
        """Take a text; a number or boolean counts as its text."""
        value = self.take(key)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, (bool, int, float)):
            return str(value).lower() if isinstance(value, bool) else str(value)
        raise self.wrong(key, value, "a text")

    def required_text(self, key: str) -> str:
        """Take a text that must be there."""
        found = self.text(key)
        if found is None:
            raise malformed(f"[{self.clause}] requires [{key}]")
        return found

    def scalar(self, key: str) -> Scalar | None:
        """Take a text, number or boolean."""
        value = self.take(key)
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        raise self.wrong(key, value, "a text, number or boolean")

    def boolean(self, key: str, default: bool = False) -> bool:
        """Take a boolean, which may be written as a text."""
        value = self.take(key, default)
        if value in ("true", "false"):
            return bool(value == "true")
        if not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return value

    def integer(self, key: str, default: int, *, least: int = 0, most: int = _MAX_INT) -> int:
        """Take a whole number, which may be written as a text."""
        value = self.take(key, default)
        number = as_number(value)
        if number is None or not float(number).is_integer() or not least <= number <= most:
            wanted = f"a whole number from {least}" + (f" to {most}" if most < _MAX_INT else "")
            raise self.wrong(key, value, wanted)
        return int(number)

    def number(self, key: str, default: float) -> float:
        """Take a number of 32 bits, not below 0, which may be written as a text."""
        value = self.take(key, default)
        number = as_number(value)
        if number is None or not abs(number) <= MAX_FLOAT:
            raise self.wrong(key, value, "a number")
        if number < 0:
            raise malformed(
                f"negative [{key}] are not allowed in [{self.clause}], use a value between 0 and 1"
            )
        return f32(number)

    def choice(self, key: str, default: _Choice, choices: tuple[_Choice, ...]) -> _Choice:
        """Take one of several words, in any case."""
        value = self.take(key, default)
        for choice in choices:
            if isinstance(value, str) and value.lower() == choice:
                return choice
        raise self.wrong(key, value, "one of " + ", ".join(choices))

    def boost(self) -> float:
        """Take the boost."""
        return self.number("boost", 1.0)

    def name(self) -> str | None:
        """Take the name for ``matched_queries``."""
        return self.text("_name")


def as_number(value: object) -> float | None:
    """Return a number, or the number that a text writes, or None.

    Args:
        value: Anything.

    Examples:
        >>> as_number("2.5"), as_number(3), as_number(True), as_number("nan"), as_number("x")
        (2.5, 3, None, None, None)
    """
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**1023:
        return value if math.isfinite(value) else None
    return None


def malformed(reason: str) -> DslError:
    """Return the error about a clause that is not written as it should be.

    Args:
        reason: What is wrong.
    """
    return DslError(reason, type=PARSING)


def one_field(clause: str, values: object) -> tuple[str, Any, Parameters]:
    """Split the usual form of a clause, ``{"field": ...}``.

    Args:
        clause: The clause's name.
        values: Its object.

    Returns:
        The field, what stands under it, and the clause's other parameters, if any.

    Raises:
        DslError: If there is no field, or more than one.
    """
    outer = Parameters(clause, values)
    names = [key for key in outer.rest() if key not in {"boost", "_name"}]
    if not names:
        raise malformed(f"[{clause}] query requires a field name")
    if len(names) > 1:
        raise malformed(
            f"[{clause}] query doesn't support multiple fields, found [{names[0]}] and [{names[1]}]"
        )
    return names[0], outer.take(names[0]), outer


def short_or_long(clause: str, key: str, values: object) -> tuple[str, Parameters]:
    """Read a clause that is written ``{"field": value}`` or ``{"field": {key: value, ...}}``.

    Args:
        clause: The clause's name.
        key: The parameter that the short form means.
        values: Its object.

    Returns:
        The field and its parameters.
    """
    field, value, outer = one_field(clause, values)
    inner = dict(value) if isinstance(value, Mapping) else {key: value}
    return field, Parameters(clause, outer.rest() | inner)
