"""The sentinel for "this argument was not given", where ``None`` means something of its own."""

from __future__ import annotations

import enum
from typing import Final, Literal, TypeAlias


class NotSet(enum.Enum):
    """The type of :data:`NOT_SET`; an enum, so that type checkers narrow it and copies stay identical."""

    NOT_SET = "not set"

    def __repr__(self) -> str:
        """Return ``NOT_SET``."""
        return "NOT_SET"


NOT_SET: Final = NotSet.NOT_SET
"""Says that an argument was not given."""

NOT_SET_MARKER: Final = NOT_SET
"""The same sentinel under its longer name."""

NotSetType: TypeAlias = Literal[NotSet.NOT_SET]
