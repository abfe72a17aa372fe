"""Messages as text for a prompt."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hitherto.messages import ImageContent, TextContent
from hitherto.records import MessageRecord
from hitherto.search.budget import CHARACTERS_PER_TOKEN
from hitherto.search.render import escape

MESSAGE_FORMAT: Final = (
    "<message>\n"
    "  <timestamp>{timestamp}</timestamp>\n"
    "  <role>{role}</role>\n"
    "  <content>{content}</content>\n"
    "</message>"
)
"""How a message is written in a prompt."""

SUMMARY_CHARACTERS: Final = 4000
"""The most characters of a summary, or of a transcript that stands for one."""

_CARD: Final = re.compile(r"<context_card>.*?</context_card>", re.DOTALL)
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """A message as a prompt shows it.

    Attributes:
        record: The message.
        text: Its text, on one line, maybe shortened; never blank.
        images: The images that go along with it, in order.
    """

    record: MessageRecord
    text: str
    images: tuple[ImageContent, ...] = ()

    @property
    def xml(self) -> str:
        """The message as markup."""
        return MESSAGE_FORMAT.format(
            timestamp=escape(self.record.timestamp or "-"),
            role=escape(self.record.role or ""),
            content=escape(self.text),
        )

    @property
    def tokens(self) -> int:
        """About how many tokens the markup has."""
        return estimate(self.xml)


def estimate(text: str) -> int:
    """Return about how many tokens a text has: its characters divided by 3.5, rounded up.

    Examples:
        >>> estimate("hello, world")
        4
    """
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def without_cards(text: str) -> str:
    """Return a text without the context cards in it: what memory put into a conversation is no news to it.

    Examples:
        >>> without_cards("<context_card><topics></topics></context_card> Good morning!")
        ' Good morning!'
    """
    return _CARD.sub("", text)


def plain_text(record: MessageRecord, describe: Callable[[ImageContent], str | None]) -> str:
    """Return what a message says, on one line.

    Args:
        record: The message.
        describe: Returns what stands for an image, or None for nothing.
    """
    content: Any = record.content
    if isinstance(content, str):
        return _BLANKS.sub(" ", without_cards(content)).strip()
    texts = [
        without_cards(part.text) if isinstance(part, TextContent) else describe(part) or ""
        for part in content or ()
    ]
    return _BLANKS.sub(" ", " ".join(texts)).strip()


def no_image(image: ImageContent) -> None:
    """Let an image stand for nothing."""


def captioned(image: ImageContent) -> str | None:
    """Return an image's description in brackets, or None if it has none."""
    text = (image.description or "").strip()
    return f"[Image description: {text}]" if text else None


def transcript(messages: Sequence[MessageRecord], *, characters: int = SUMMARY_CHARACTERS) -> str:
    """Return messages as a plain transcript, which stands for a summary where there is no language model.

    Args:
        messages: The messages, in order; blank ones are left out.
        characters: The most characters.

    Examples:
        >>> print(transcript([MessageRecord("m", content="Good morning", role="Mia", seq_no=1)]))
        Mia (-): Good morning
    """
    lines = []
    for record in messages:
        text = plain_text(record, no_image)
        if text:
            lines.append(f"{record.role} ({record.timestamp or '-'}): {text}")
    return "\n- ".join(lines)[:characters]


def chunks(lines: Sequence[Line], *, tokens: int | None) -> list[list[Line]]:
    """Split messages into runs that fit a budget; one that does not fit by itself is split in its text.

    Args:
        lines: The messages, in order.
        tokens: The most tokens of one run, or None for one run of all.

    Returns:
        Runs in order; together they hold every word.
    """
    if tokens is None:
        return [list(lines)] if lines else []
    runs: list[list[Line]] = []
    room = 0
    for line in (piece for whole in lines for piece in _pieces(whole, tokens)):
        cost = line.tokens
        if not runs or cost > room:
            runs.append([])
            room = tokens
        runs[-1].append(line)
        room -= cost
    return runs


def _pieces(line: Line, tokens: int) -> list[Line]:
    if line.tokens <= tokens:
        return [line]
    empty = Line(line.record, "").tokens
    # Escaping may make six characters of one, but hardly ever does; what turns out too long is halved again.
    size = max(1, math.floor(max(1, tokens - empty) * CHARACTERS_PER_TOKEN))
    if len(line.text) <= size:
        size = max(1, len(line.text) // 2)
    pieces = [line.text[start : start + size] for start in range(0, len(line.text), size)]
    images = [line.images, *([()] * (len(pieces) - 1))]
    made = [Line(line.record, text, some) for text, some in zip(pieces, images, strict=True) if text.strip()]
    return [
        part
        for piece in made
        for part in ([piece] if piece.tokens <= tokens or len(piece.text) <= 1 else _pieces(piece, tokens))
    ]
