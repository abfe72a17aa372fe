"""Enums whose members are texts."""

from __future__ import annotations

import enum


class TextEnum(str, enum.Enum):
    """An enum whose members are texts by value, and shown by name in every version of Python.

    Examples:
        >>> class Colour(TextEnum):
        ...     RED = "red"
        >>> Colour.RED == "red", f"{Colour.RED}"
        (True, 'Colour.RED')
    """

    __str__ = enum.Enum.__str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)  # Python 3.10 would format the value
