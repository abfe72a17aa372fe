"""The command ``oam``, which sets up an Oracle database: here there is nothing to set up."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Say so, and return 0.

    Args:
        argv: The words after ``oam``, which change nothing.

    Examples:
        >>> main()
        hitherto needs no set-up: its store is a file that is made when it is first opened.
        0
    """
    sys.stdout.write("hitherto needs no set-up: its store is a file that is made when it is first opened.\n")
    return 0
