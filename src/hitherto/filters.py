"""The metadata filter language: parsed and checked once, evaluated here, and compiled to SQL from the same tree.

A filter is a JSON object whose entries must all hold for a record's metadata:

| entry | holds when the metadata's value |
|---|---|
| `"key": value` | equals the value; 1 equals 1.0, a bool is never a number, lists are compared whole and in order |
| `"key": {"inner": ...}` | is an object whose entries hold in turn; `{}` asks only for an object |
| `"key": {"$array_contains": value or [values]}` | is an array that holds the value, or all of them |
| `"key": {"$array_contains_any": [values]}` | is an array that holds one of them |
| `"key": {"$not": expression}` | does not match the expression; a missing key does not match anything |

Keys are literal: dots, quotes and spaces in them mean nothing. Other words that start with ``$`` are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hitherto.characters import is_storable
from hitherto.errors import InvalidFilterError, shown

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
Scalar: TypeAlias = "None | bool | int | float | str"

_OPERATORS: Final = frozenset({"$array_contains", "$array_contains_any", "$not"})
_OWN_KEYS: Final = frozenset({"$agent_memory"})
_MISSING: Final = object()
_MAX_DEPTH: Final = 64


@dataclass(frozen=True, slots=True)
class Equals:
    """The value equals another: a scalar, or a whole list."""

    value: Any

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return json_equal(value, self.value)


@dataclass(frozen=True, slots=True)
class ArrayContains:
    """The value is an array that holds all of these scalars."""

    values: tuple[Scalar, ...]

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return isinstance(value, list) and all(
            any(json_equal(item, wanted) for item in value) for wanted in self.values
        )


@dataclass(frozen=True, slots=True)
class ArrayContainsAny:
    """The value is an array that holds one of these scalars."""

    values: tuple[Scalar, ...]

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return isinstance(value, list) and any(
            json_equal(item, wanted) for wanted in self.values for item in value
        )


@dataclass(frozen=True, slots=True)
class Not:
    """The test does not hold; it never does for a missing value, so then this one does."""

    test: Test

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return not self.test.holds(value)


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of these tests hold."""

    tests: tuple[Test, ...]

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return all(test.holds(value) for test in self.tests)


@dataclass(frozen=True, slots=True)
class HasFields:
    """The value is an object, and each of these tests holds for the value of its key."""

    fields: tuple[tuple[str, Test], ...]

    def holds(self, value: object) -> bool:
        """Return whether the test holds for a value, which may be missing."""
        return isinstance(value, dict) and all(
            test.holds(value.get(key, _MISSING)) for key, test in self.fields
        )


Test: TypeAlias = "Equals | ArrayContains | ArrayContainsAny | Not | AllOf | HasFields"


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed metadata filter.

    Attributes:
        root: What the metadata object must satisfy; no metadata count as an empty object.

    Examples:
        >>> wanted = parse_filter({"tags": {"$array_contains": "work"}, "draft": {"$not": True}})
        >>> wanted.matches({"tags": ["work", "urgent"]}), wanted.matches(None)
        (True, False)
    """

    root: HasFields

    def matches(self, metadata: Mapping[str, Any] | None) -> bool:
        """Return whether a record's metadata satisfy the filter.

        Args:
            metadata: The record's metadata, or None for none.
        """
        return self.root.holds(dict(metadata or {}))


def json_equal(left: object, right: object) -> bool:
    """Return whether two JSON values are equal: 1 equals 1.0, and a bool equals only a bool.

    Examples:
        >>> json_equal([1, {"a": None}], [1.0, {"a": None}]), json_equal(True, 1)
        (True, False)
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


def parse_filter(value: object, *, argument: str = "metadata_filter") -> Filter | None:
    """Check a metadata filter and return it parsed.

    Args:
        value: The filter, a dict of JSON values; or None.
        argument: The argument's name, for the message.

    Returns:
        The filter, or None for None.

    Raises:
        InvalidFilterError: If it is no dict, a value is not JSON, or an operator is unknown or misused; the message
            says where.

    Examples:
        >>> parse_filter({"a": {"$gt": 1}})
        Traceback (most recent call last):
        ...
        hitherto.errors.InvalidFilterError: metadata_filter['a'] has the unknown operator '$gt'; ...
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InvalidFilterError(f"{argument} must be a dict or None, got {shown(value)}", argument=argument)
    return Filter(_Parser(argument).fields(value, argument, depth=0))


class _Parser:
    """Walks a filter; ``where`` spells out the place for messages."""

    def __init__(self, argument: str) -> None:
        self._argument = argument

    def _error(self, message: str) -> InvalidFilterError:
        return InvalidFilterError(message, argument=self._argument)

    def fields(self, value: dict[Any, Any], where: str, depth: int) -> HasFields:
        if depth > _MAX_DEPTH:
            raise self._error(f"{self._argument} must not be nested deeper than {_MAX_DEPTH} levels")
        for key in value:
            self._check_key(key, where)
            if key.startswith("$") and key not in _OWN_KEYS:
                raise self._error(
                    f"{where} has the unknown operator {key!r}; a field takes {', '.join(sorted(_OPERATORS))}"
                )
        return HasFields(
            tuple((key, self.test(item, f"{where}[{key!r}]", depth + 1)) for key, item in value.items())
        )

    def test(self, value: object, where: str, depth: int) -> Test:
        if not isinstance(value, dict):
            return Equals(self._json(value, where, depth))
        if not value.keys() & _OPERATORS:
            return self.fields(value, where, depth)
        extra = [key for key in value if key not in _OPERATORS]
        if extra:
            raise self._error(f"{where} mixes operators with the key {extra[0]!r}; give one or the other")
        tests = tuple(
            self._operator(name, item, f"{where}[{name!r}]", depth + 1) for name, item in value.items()
        )
        return tests[0] if len(tests) == 1 else AllOf(tests)

    def _operator(self, name: str, operand: object, where: str, depth: int) -> Test:
        if depth > _MAX_DEPTH:
            raise self._error(f"{self._argument} must not be nested deeper than {_MAX_DEPTH} levels")
        if name == "$not":
            return Not(self.test(operand, where, depth))
        if name == "$array_contains_any":
            if not isinstance(operand, list):
                raise self._error(f"{where} must be a non-empty list, got {shown(operand)}")
            return ArrayContainsAny(self._scalars(operand, where))
        return ArrayContains(self._scalars(operand if isinstance(operand, list) else [operand], where))

    def _scalars(self, values: list[Any], where: str) -> tuple[Scalar, ...]:
        if not values:
            raise self._error(f"{where} must not be an empty list")
        for item in values:
            if isinstance(item, (list, dict)):
                raise self._error(f"{where} takes strings, numbers, booleans and null, got {shown(item)}")
        return tuple(self._json(item, where, 0) for item in values)

    def _check_key(self, key: object, where: str) -> None:
        if not isinstance(key, str):
            raise self._error(f"{where} must have strings as keys, got {shown(key)}")
        self._text(key, where)

    def _text(self, value: str, where: str) -> str:
        # No record can hold it, and a database cannot even be asked for it.
        if not is_storable(value):
            raise self._error(f"{where} must not hold NUL or a lone surrogate, got {shown(value)}")
        return value

    def _json(self, value: Any, where: str, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise self._error(f"{self._argument} must not be nested deeper than {_MAX_DEPTH} levels")
        kind = type(value)
        if value is None or kind in (bool, int) or (kind is float and math.isfinite(value)):
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value), where)
        if kind is list:
            return [self._json(item, where, depth + 1) for item in value]
        if kind is dict:
            for key in value:
                self._check_key(key, where)
            return {key: self._json(item, where, depth + 1) for key, item in value.items()}
        raise self._error(
            f"{where} must be a JSON value (str, finite number, bool, None, list, dict), got {shown(value)}"
        )
