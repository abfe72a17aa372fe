"""One request: messages to a language model, and what it wants remembered, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hitherto.errors import ModelOutputError, shown
from hitherto.extraction.config import ExtractionSettings, MemoryLinkExtractionMode
from hitherto.extraction.dates import resolve_time
from hitherto.extraction.transcript import Line, estimate
from hitherto.messages import Message, TextContent
from hitherto.models.base import LLM
from hitherto.models.json_reply import closed_object, parse_json_reply
from hitherto.prompts import Prompt, load_prompt
from hitherto.records import MEMORY_TYPES, Record
from hitherto.relations import OPPOSITE_TYPES
from hitherto.search.render import escape

PACKAGE: Final = "hitherto.extraction.prompts"
MAX_ITEMS: Final = 100
SCOPES: Final = ("user", "environment", "agent", "multi_agent")


@dataclass(frozen=True, slots=True)
class Extracted:
    """Something that a language model wants remembered.

    Attributes:
        text: What to remember.
        record_type: As what: "memory", "fact", "guideline" or "preference".
        timestamp: When it happened, or None.
        details: What else the model said of it: ``extraction_id``, ``scope``, ``valid_to``, ``importance`` and
            ``entities``.
        links: Links to known memories, as (its place among them from 0, kind).
    """

    text: str
    record_type: str
    timestamp: str | None
    details: dict[str, Any]
    links: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one request gives a language model to read.

    Attributes:
        targets: The messages to extract from.
        history: The messages before them.
        known: What is remembered already.
        summary: The thread's summary, or None.
    """

    targets: tuple[Line, ...]
    history: tuple[Line, ...] = ()
    known: tuple[Record, ...] = ()
    summary: str | None = None


def extraction_prompt(settings: ExtractionSettings) -> tuple[Prompt, str]:
    """Return the prompt of extraction, and the instructions that are made from it and the settings."""
    prompt = load_prompt(PACKAGE, "extract")
    text = prompt.text
    if settings.memory_link_extraction_mode is MemoryLinkExtractionMode.DURING_EXTRACTION:
        text += "\n\n" + load_prompt(PACKAGE, "extract_links").text
        if settings.memory_link_extraction_custom_instructions:
            text += (
                f"\n\nFurther instructions for links:\n{settings.memory_link_extraction_custom_instructions}"
            )
    if settings.memory_extraction_custom_instructions:
        text += f"\n\nFurther instructions:\n{settings.memory_extraction_custom_instructions}"
    return prompt, text


def fixed_tokens(settings: ExtractionSettings) -> int:
    """Return about how many tokens a request has without anything to read."""
    return estimate(extraction_prompt(settings)[1]) + 40


def schema(*, with_links: bool) -> dict[str, Any]:
    """Return the JSON schema of an answer.

    Args:
        with_links: Whether items say how they stand to known memories.
    """
    properties: dict[str, Any] = {
        "id": {"type": ["string", "null"]},
        "text": {"type": "string"},
        "record_type": {"type": "string", "enum": sorted(MEMORY_TYPES)},
        "scope": {"type": ["string", "null"], "enum": [*SCOPES, None]},
        "entities": {"type": ["array", "null"], "items": {"type": "string"}},
        "timestamp": {"type": ["string", "null"]},
        "valid_to": {"type": ["string", "null"]},
        "importance": {"type": ["integer", "null"], "minimum": 1, "maximum": 5},
    }
    if with_links:
        link = {
            "target_candidate_index": {"type": "integer", "minimum": 1},
            "link_type": {"type": "string", "enum": sorted(OPPOSITE_TYPES)},
        }
        properties["links"] = {"type": ["array", "null"], "items": closed_object(link)}
    return {
        "title": "extracted_memories",
        **closed_object(
            {
                "thoughts": {"type": ["string", "null"]},
                "memories": {"type": "array", "items": closed_object(properties)},
            }
        ),
    }


def request_text(reading: Reading, *, numbered: bool) -> str:
    """Return what the language model gets to read.

    Args:
        reading: What that is.
        numbered: Whether known memories are numbered, so that links can name them.
    """
    parts = []
    if reading.summary:
        parts.append(f"<summary>{escape(reading.summary)}</summary>")
    if reading.history:
        parts.append("<history>\n" + "\n".join(line.xml for line in reading.history) + "\n</history>")
    parts.append("<messages>\n" + "\n".join(line.xml for line in reading.targets) + "\n</messages>")
    if reading.known:
        known = [_known(place, record, numbered=numbered) for place, record in enumerate(reading.known, 1)]
        parts.append("<remembered>\n" + "\n".join(known) + "\n</remembered>")
    parts.append("Extract memories from the messages in <messages> only.")
    return "\n\n".join(parts)


def _known(place: int, record: Record, *, numbered: bool) -> str:
    text = escape(record.content or "")
    if not numbered:
        return f"- {text}"
    return f"{place}. [{record.record_type}, {escape(record.timestamp or '-')}] {text}"


def ask(llm: LLM, reading: Reading, settings: ExtractionSettings) -> list[Extracted]:
    """Ask a language model what to remember.

    Args:
        llm: The model.
        reading: What it reads.
        settings: The thread's settings.

    Returns:
        The items that can be used.

    Raises:
        ModelOutputError: If the answer is no JSON object with a list of memories.
        Exception: Whatever the model raises.
    """
    numbered = settings.memory_link_extraction_mode is MemoryLinkExtractionMode.DURING_EXTRACTION
    _, instructions = extraction_prompt(settings)
    text = request_text(reading, numbered=numbered)
    images = [image for line in (*reading.history, *reading.targets) for image in line.images]
    content: Any = (TextContent(text), *images) if images else text
    messages = [
        {"role": "system", "content": instructions},
        Message("user", content) if images else {"role": "user", "content": text},
    ]
    reply = llm.generate(messages, response_json_schema=schema(with_links=numbered))
    spoken_at = next((line.record.timestamp for line in reversed(reading.targets)), None)
    return read_items(reply.text, spoken_at=spoken_at, known=len(reading.known) if numbered else 0)


def read_items(text: object, *, spoken_at: str | None, known: int) -> list[Extracted]:
    """Read a model's answer.

    Args:
        text: The answer.
        spoken_at: The last message's time, from which relative times count.
        known: How many known memories links may name.

    Returns:
        The items, without those that say nothing or are not as the schema wants them: one bad item costs itself,
        not the others. Of more than 100 the first 100.

    Raises:
        ModelOutputError: If it is no JSON object with a list of memories, or none of several items can be used.

    Examples:
        >>> items = read_items(
        ...     '{"memories": [{"text": "Mia plays the cello", "record_type": "fact"}, 5]}',
        ...     spoken_at=None,
        ...     known=0,
        ... )
        >>> [(item.record_type, item.text) for item in items]
        [('fact', 'Mia plays the cello')]
    """
    value = parse_json_reply(text)
    items = value.get("memories") if isinstance(value, dict) else None
    if not isinstance(items, list):
        raise ModelOutputError(f'the model must answer with {{"memories": [...]}}, got {shown(text)}')
    read = [_item(item, spoken_at=spoken_at, known=known) for item in items]
    if items and all(item is None for item in read):
        raise ModelOutputError(
            f"the model must answer with memories that can be used, none of {len(items)} can, got {shown(items[0])}"
        )
    return [item for item in read if item is not None and item.text][:MAX_ITEMS]


def _item(item: object, *, spoken_at: str | None, known: int) -> Extracted | None:
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        return None
    kind = item.get("record_type")
    kind = kind.strip().lower() if isinstance(kind, str) else None
    if kind not in MEMORY_TYPES:
        return None
    named = item.get("timestamp")
    return Extracted(
        text=item["text"].strip(),
        record_type=kind,
        timestamp=resolve_time(named, spoken_at=spoken_at) if isinstance(named, str) else None,
        details=_details(item, spoken_at=spoken_at),
        links=_links(item.get("links"), known),
    )


def _details(item: dict[str, Any], *, spoken_at: str | None) -> dict[str, Any]:
    details: dict[str, Any] = {}
    if isinstance(item.get("id"), str) and item["id"].strip():
        details["extraction_id"] = item["id"].strip()
    if item.get("scope") in SCOPES:
        details["scope"] = item["scope"]
    if isinstance(item.get("valid_to"), str):
        until = resolve_time(item["valid_to"], spoken_at=spoken_at)
        if until is not None:
            details["valid_to"] = until
    importance = item.get("importance")
    if type(importance) is int and 1 <= importance <= 5:
        details["importance"] = importance
    if isinstance(item.get("entities"), list):
        names = [name.strip() for name in item["entities"] if isinstance(name, str) and name.strip()]
        if names:
            details["entities"] = names
    return details


def _links(value: object, known: int) -> tuple[tuple[int, str], ...]:
    links = []
    for link in value if isinstance(value, list) else ():
        number = link.get("target_candidate_index") if isinstance(link, dict) else None
        kind = link.get("link_type") if isinstance(link, dict) else None
        if type(number) is int and 1 <= number <= known and kind in OPPOSITE_TYPES:
            links.append((number - 1, str(kind)))
    return tuple(dict.fromkeys(links))
