"""New memories beside those that are there: what is new, what says the same, and how it is related."""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import ModelOutputError, shown
from hitherto.extraction.config import ExtractionSettings
from hitherto.extraction.extractor import PACKAGE, Extracted
from hitherto.extraction.transcript import estimate
from hitherto.messages import new_id
from hitherto.models.base import LLM
from hitherto.models.json_reply import closed_object, parse_json_reply
from hitherto.prompts import load_prompt
from hitherto.records import MEMORY_TYPES, MemoryRecord, Record, ScopedRecord
from hitherto.relations import INVALIDATION_REASONS, OPPOSITE_TYPES
from hitherto.search.render import escape

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

log = logging.getLogger("hitherto.extraction")

CANDIDATES: Final = 7
"""How many earlier memories are looked at beside a new one."""

SOURCES_PER_REQUEST: Final = 10
REQUESTS_AT_ONCE: Final = 10

_PUNCTUATION: Final = re.compile(r"[^\w\s]+")


@dataclass(slots=True)
class NewMemory:
    """A memory on its way into the store.

    Attributes:
        item: What the model said.
        message_ids: The messages that it came from.
        metadata: Its metadata.
        timestamp: When it happened, or None.
        known: Earlier memories that may be related.
        links: Links to earlier memories, as (the memory, kind).
        id: Its id.
    """

    item: Extracted
    message_ids: tuple[str, ...]
    metadata: dict[str, Any]
    timestamp: str | None
    known: tuple[Record, ...] = ()
    links: list[tuple[Record, str]] = field(default_factory=list)
    id: str = field(default_factory=new_id)

    @property
    def text(self) -> str:
        """What it says."""
        return self.item.text


def same_words(text: str) -> str:
    """Return what two texts share if they say the same in the same words: case, punctuation and blanks aside.

    Examples:
        >>> same_words("Mia lives in Lisbon.") == same_words("mia  lives in Lisbon")
        True
    """
    plain = _PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(plain.split())


def scope_of(record: ScopedRecord, *, exact_thread: bool) -> dict[str, Any]:
    """Return where memories that may be related are looked for, as the store's search takes it: same user and agent.

    Args:
        record: A memory or a thread.
        exact_thread: Whether only in the same thread.
    """
    return {
        "user_id": record.user_id,
        "agent_id": record.agent_id,
        "thread_id": record.thread_id,
        "exact_user_match": True,
        "exact_agent_match": True,
        "exact_thread_match": exact_thread,
    }


def related(store: MemoryStore, text: str, scope: Mapping[str, Any], *, k: int = CANDIDATES) -> list[Record]:
    """Return earlier memories that may be related to a text, nearest first; those that no longer hold are left out.

    Args:
        store: The store.
        text: The text.
        scope: The ids and exact flags that the store's search takes.
        k: How many.
    """
    found = store.search(
        text, k, record_types=set(MEMORY_TYPES), include_invalid_results=False, **dict(scope)
    )
    return [record for record, _ in found]


def without_repeats(new: Sequence[NewMemory]) -> tuple[list[NewMemory], list[tuple[Record, NewMemory]]]:
    """Set aside what is remembered already in the same words.

    Args:
        new: New memories with what is known beside each.

    Returns:
        Those that are new, each text of a type once; and what repeats an earlier memory, with that memory.
    """
    kept: dict[tuple[str, str], NewMemory] = {}
    repeats: list[tuple[Record, NewMemory]] = []
    for memory in new:
        words = same_words(memory.text)
        earlier = next(
            (
                record
                for record in memory.known
                if isinstance(record.content, str) and same_words(record.content) == words
            ),
            None,
        )
        if earlier is not None:
            repeats.append((earlier, memory))
            continue
        twin = kept.setdefault((memory.item.record_type, words), memory)
        if twin is not memory:
            twin.message_ids = tuple(dict.fromkeys((*twin.message_ids, *memory.message_ids)))
    return list(kept.values()), repeats


def link_by_model(llm: LLM, new: Sequence[NewMemory], settings: ExtractionSettings) -> list[Exception]:
    """Ask a language model how new memories stand to earlier ones, and note the links on them.

    Args:
        llm: The model.
        new: New memories with what is known beside each.
        settings: The thread's settings: instructions, and how many tokens all requests together may have.

    Returns:
        The errors of requests that failed; their memories stay without links.
    """
    sources = _affordable([memory for memory in new if memory.known], settings)
    groups = [
        sources[start : start + SOURCES_PER_REQUEST] for start in range(0, len(sources), SOURCES_PER_REQUEST)
    ]
    if not groups:
        return []
    with ThreadPoolExecutor(min(REQUESTS_AT_ONCE, len(groups)), "hitherto-link") as pool:
        outcomes = pool.map(lambda group: _ask(llm, group, settings), groups)
        return [error for error in outcomes if error is not None]


def link_one(
    store: MemoryStore,
    llm: LLM,
    memory_id: str,
    memory_type: str,
    settings: ExtractionSettings,
    *,
    exact_thread: bool,
) -> list[tuple[Record, str]]:
    """Find out how a stored memory stands to earlier ones, and store the links.

    Args:
        store: The store.
        llm: The model.
        memory_id: The memory.
        memory_type: Its type.
        settings: Instructions and bounds.
        exact_thread: Whether only memories of the same thread are looked at; they always have the same user and agent.

    Returns:
        The links, as (the earlier memory, kind).

    Raises:
        Exception: Whatever the model raises; the memory stays as it is.
    """
    record = store.get(memory_type, memory_id)
    if not isinstance(record, MemoryRecord) or record.content is None:
        return []
    scope = scope_of(record, exact_thread=exact_thread)
    # The memory itself is the nearest of all: one more is asked for, and it is left out.
    found = related(store, record.content, scope, k=CANDIDATES + 1)
    known = tuple(item for item in found if item.id != memory_id)[:CANDIDATES]
    item = Extracted(record.content, memory_type, record.timestamp, {})
    memory = NewMemory(item, (), {}, record.timestamp, known=known, id=memory_id)
    for error in link_by_model(llm, [memory], settings):
        raise error
    for target, kind in memory.links:
        store_link(store, memory_id, memory_type, target, kind)
    return memory.links


def store_link(store: MemoryStore, memory_id: str, memory_type: str, target: Record, kind: str) -> None:
    """Store a link that a model found; one that cannot be stored, as its target is gone, is left out.

    Args:
        store: The store.
        memory_id: The memory that it starts from.
        memory_type: Its type.
        target: The memory that it points at.
        kind: How the first stands to the second.
    """
    try:
        store.add_relations(
            memory_id,
            memory_type,
            target.id,
            target.record_type,
            kind,
            opposite_relation_types=OPPOSITE_TYPES[kind],
        )
    except (ValueError, KeyError) as error:  # the target was deleted or linked meanwhile
        log.warning("a link from memory %s was not stored: %s", memory_id, type(error).__name__)


def _affordable(sources: Sequence[NewMemory], settings: ExtractionSettings) -> list[NewMemory]:
    limit = settings.memory_link_extraction_token_limit
    if limit < 1:
        return list(sources)
    left = limit - estimate(load_prompt(PACKAGE, "link").text)
    chosen = []
    for memory in sources:
        left -= estimate(_source(memory))
        if left < 0:
            break
        chosen.append(memory)
    return chosen


def link_schema(sources: Sequence[NewMemory]) -> dict[str, Any]:
    """Return the JSON schema of an answer about links."""
    link = closed_object(
        {
            "target_memory_id": {"type": "string"},
            "link_type": {"type": "string", "enum": sorted(OPPOSITE_TYPES)},
        }
    )
    resolution = {
        **closed_object(
            {
                "updated_source_memory_text": {"type": ["string", "null"]},
                "links": {"type": "array", "items": link},
            }
        ),
        "type": ["object", "null"],
    }
    resolutions = closed_object(dict.fromkeys((memory.id for memory in sources), resolution))
    return {"title": "memory_links", **closed_object({"source_resolutions": resolutions})}


def _source(memory: NewMemory) -> str:
    candidates = "\n".join(
        f'  <candidate id="{record.id}" type="{record.record_type}" timestamp="{escape(record.timestamp or "-")}">'
        f"{escape(record.content or '')}</candidate>"
        for record in memory.known
    )
    return (
        f'<new_memory id="{memory.id}" type="{memory.item.record_type}" '
        f'timestamp="{escape(memory.timestamp or "-")}">\n'
        f"  <text>{escape(memory.text)}</text>\n{candidates}\n</new_memory>"
    )


def _ask(llm: LLM, sources: Sequence[NewMemory], settings: ExtractionSettings) -> Exception | None:
    instructions = load_prompt(PACKAGE, "link").text
    if settings.memory_link_extraction_custom_instructions:
        instructions += f"\n\nFurther instructions:\n{settings.memory_link_extraction_custom_instructions}"
    messages = [
        {"role": "system", "content": instructions},
        {"role": "user", "content": "\n".join(map(_source, sources))},
    ]
    try:
        reply = llm.generate(messages, response_json_schema=link_schema(sources))
        read_links(reply.text, sources)
    except Exception as error:  # whatever a model raises: links are not worth losing memories
        return error
    return None


def read_links(text: object, sources: Iterable[NewMemory]) -> None:
    """Note the links of a model's answer on the new memories; what names no candidate is dropped.

    Args:
        text: The answer.
        sources: The new memories that were asked about.

    Raises:
        ModelOutputError: If it is no JSON object with resolutions.
    """
    value = parse_json_reply(text)
    resolutions = value.get("source_resolutions") if isinstance(value, dict) else None
    if not isinstance(resolutions, dict):
        raise ModelOutputError(
            f'the model must answer with {{"source_resolutions": {{...}}}}, got {shown(text)}'
        )
    for memory in sources:
        resolution = resolutions.get(memory.id)
        if not isinstance(resolution, dict):
            continue
        known = {record.id: record for record in memory.known}
        named = dict.fromkeys(_link(link, known) for link in _list(resolution.get("links")))
        memory.links += [(known[link[0]], link[1]) for link in named if link is not None]
        merged = resolution.get("updated_source_memory_text")
        if (
            isinstance(merged, str)
            and merged.strip()
            and any(k in INVALIDATION_REASONS for _, k in memory.links)
        ):
            memory.item = replace(memory.item, text=merged.strip())


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _link(value: object, known: Mapping[str, Record]) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    target, kind = value.get("target_memory_id"), value.get("link_type")
    if not isinstance(target, str) or target not in known or kind not in OPPOSITE_TYPES:
        return None
    return target, str(kind)
