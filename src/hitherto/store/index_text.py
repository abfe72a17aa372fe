"""The text that is indexed for a record: one rule for all backends.

Words index what a message says, with the captions of its images. Meaning is embedded from the same text after
its date and speaker, ``[date] speaker: text [image: caption]``, because "I moved to Lisbon" alone says neither
who nor when. A text that is longer than the embedder reads is cut into chunks at white space.
"""

from __future__ import annotations

import re
from typing import Final

from hitherto.lifetime import parse_time
from hitherto.messages import ImageContent, MessageContent, TextContent

MAX_CHUNKS: Final = 1024
"""The most chunks of one record; SQLite numbers its word rows by it."""

_CHARS_PER_TOKEN: Final = 3
_RESERVED_TOKENS: Final = 24


def message_words(content: str | tuple[MessageContent, ...]) -> str:
    r"""Return what the words of a message are: its texts and the captions of its images, in order.

    Args:
        content: The message's content.

    Examples:
        >>> message_words((TextContent("Look!"), TextContent("My bike")))
        'Look!\nMy bike'
    """
    if isinstance(content, str):
        return content
    pieces = []
    for part in content:
        if isinstance(part, TextContent):
            pieces.append(part.text)
        elif isinstance(part, ImageContent) and part.description:
            pieces.append(f"[image: {part.description}]")
    return "\n".join(pieces)


def embedded_text(words: str, *, role: str | None, timestamp: str | None, name: str | None = None) -> str:
    """Return what is embedded for a message, or for one chunk of it.

    Args:
        words: The message's words.
        role: Who spoke, or None.
        timestamp: The message's own time, or None.
        name: The speaker's name, which stands instead of the role, or None.

    Examples:
        >>> embedded_text("I moved to Lisbon", role="user", timestamp="2026-05-01T09:30:00Z")
        '[1 May 2026] user: I moved to Lisbon'
    """
    date = date_words(timestamp)
    speaker = name or role
    return (f"[{date}] " if date else "") + (f"{speaker}: " if speaker else "") + words


def date_words(timestamp: str | None) -> str:
    """Return a time's date in words, as "1 May 2026"; a free text as it is; "" for None.

    Args:
        timestamp: A record's own time.

    Examples:
        >>> date_words("20260501T093000Z"), date_words("last spring")
        ('1 May 2026', 'last spring')
    """
    if not timestamp:
        return ""
    moment = parse_time(timestamp)
    return timestamp if moment is None else f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


# Not strftime, whose month names depend on the machine's locale.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def split_text(text: str, *, max_input_tokens: int | None) -> tuple[str, ...]:
    """Cut a text into pieces that an embedder reads in full.

    Args:
        text: The text.
        max_input_tokens: The most tokens that the embedder reads, or None for no bound.

    Returns:
        The pieces in order, at least one; white space at the cuts is dropped.

    Examples:
        >>> split_text("aaaa bbbb cccc", max_input_tokens=None)
        ('aaaa bbbb cccc',)
        >>> len(split_text("word " * 1000, max_input_tokens=256))
        8
    """
    if max_input_tokens is None:
        return (text,)
    size = max(max_input_tokens - _RESERVED_TOKENS, 16) * _CHARS_PER_TOKEN
    if len(text) <= size:
        return (text,)
    # A record has so many chunks at most; a longer text gets longer chunks, of which the embedder reads the start.
    size = max(size, -(-len(text) // (MAX_CHUNKS // 2)))
    return tuple(_pieces(text, size))


def _pieces(text: str, size: int) -> list[str]:
    pieces, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = _cut_before(text, start, end)
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    return pieces or [text[:size]]


def _cut_before(text: str, start: int, end: int) -> int:
    # Never before the middle, so that there are at most twice as many pieces as needed.
    middle = start + (end - start + 1) // 2
    for pattern in (r"\n\s*\n", r"[.!?]\s", r"\s"):
        cuts = [match.end() for match in re.finditer(pattern, text[middle:end])]
        if cuts:
            return middle + cuts[-1]
    return end
