"""Which characters a text may hold that is stored: all of Unicode but NUL and lone surrogates."""

from __future__ import annotations

import re
from typing import Final

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


def is_storable(value: str) -> bool:
    r"""Return whether a text has neither NUL nor a lone surrogate, which no backend takes.

    Args:
        value: The text.

    Examples:
        >>> is_storable("Ana 🚲"), is_storable("nul\0")
        (True, False)
    """
    if "\0" in value:
        return False
    try:
        value.encode()  # faster than to look for them
    except UnicodeEncodeError:
        return False
    return True


def storable(value: str) -> str:
    r"""Return a text with NUL and lone surrogates replaced by U+FFFD; for queries and models' answers.

    Args:
        value: The text.

    Examples:
        >>> storable("a\0b")
        'a\ufffdb'
    """
    return value if is_storable(value) else _UNSTORABLE.sub("\ufffd", value)
