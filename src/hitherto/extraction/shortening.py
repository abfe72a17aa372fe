"""Messages made ready for a prompt: their text, their images, and long ones shortened by a language model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from hitherto.extraction.config import MemoryExtractionImageContext
from hitherto.extraction.extractor import PACKAGE
from hitherto.extraction.transcript import (
    Line,
    captioned,
    estimate,
    no_image,
    plain_text,
)
from hitherto.messages import ImageContent
from hitherto.models.base import LLM
from hitherto.prompts import load_prompt
from hitherto.records import MessageRecord
from hitherto.search.budget import CHARACTERS_PER_TOKEN
from hitherto.search.render import escape

_GAP: Final = " [...] "


@dataclass(frozen=True, slots=True)
class Shortening:
    """How long messages are shortened.

    Attributes:
        most_tokens: From how many tokens on; <= 0 for never.
        input_tokens: How many tokens of a long message the model reads, from its head and its end; <= 0 for all.
    """

    most_tokens: int
    input_tokens: int


def lines(
    records: Sequence[MessageRecord],
    *,
    llm: LLM,
    shortening: Shortening,
    image_context: MemoryExtractionImageContext,
) -> list[Line]:
    """Return messages as a prompt shows them; blank ones are left out.

    Args:
        records: The messages, in order.
        llm: What shortens long ones.
        shortening: Which are long.
        image_context: How images take part.

    Raises:
        Exception: Whatever the model raises.
    """
    describe: Callable[[ImageContent], str | None] = no_image
    if image_context is MemoryExtractionImageContext.CAPTION:
        describe = captioned
    made = []
    for record in records:
        text = plain_text(record, describe)
        images: tuple[ImageContent, ...] = ()
        if image_context is MemoryExtractionImageContext.IMAGE and isinstance(record.content, tuple):
            images = tuple(part for part in record.content if isinstance(part, ImageContent) and part.bytes)
        if 0 < shortening.most_tokens < estimate(text):
            text = _shorter(text, record.role or "", llm, shortening)
        if text or images:
            made.append(Line(record, text or "[image]", images))
    return made


def _shorter(text: str, role: str, llm: LLM, shortening: Shortening) -> str:
    most = math.floor(shortening.most_tokens * CHARACTERS_PER_TOKEN)
    messages = [
        {"role": "system", "content": load_prompt(PACKAGE, "shorten").text},
        {
            "role": "user",
            "content": f"<role>{escape(role)}</role>\n<limit>{most} characters</limit>\n"
            f"<message>{escape(_excerpt(text, shortening.input_tokens))}</message>",
        },
    ]
    answer = " ".join(str(llm.generate(messages).text).split())
    # An empty answer must not lose the message: its head is better than nothing.
    return (answer or text)[:most]


def _excerpt(text: str, tokens: int) -> str:
    most = math.floor(tokens * CHARACTERS_PER_TOKEN)
    if tokens <= 0 or len(text) <= most:
        return text
    head = max(1, (most - len(_GAP)) // 2)
    return text[:head] + _GAP + text[len(text) - head :]
