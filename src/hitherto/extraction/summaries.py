"""Summaries of a thread: durable, refreshed step by step, and honest about what they cover.

A summary is a record of type ``thread_summary``: content ``{"text", "topics"}``, and in ``$agent_memory`` of its
metadata its revision, the last message that it covers, and how it was made. It covers what a language model was shown,
no more: a long thread is summarised in several requests, each beginning where the last one ended. Without a model a
plain transcript stands in; it is never stored, so that a model that comes later begins with the messages themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import ModelOutputError, shown
from hitherto.extraction.config import MemoryExtractionImageContext
from hitherto.extraction.extractor import PACKAGE
from hitherto.extraction.shortening import Shortening, lines
from hitherto.extraction.transcript import SUMMARY_CHARACTERS, Line, chunks, estimate
from hitherto.models.base import LLM
from hitherto.models.json_reply import closed_object, parse_json_reply
from hitherto.prompts import load_prompt
from hitherto.records import MessageRecord, Record, RecordStatus, ThreadRecord
from hitherto.search.budget import CHARACTERS_PER_TOKEN
from hitherto.search.render import OWN_METADATA, escape

if TYPE_CHECKING:
    from hitherto.store.base import MemoryStore

KEPT: Final = 50
"""How many summaries of a thread are kept."""

SUMMARY_SCHEMA: Final[dict[str, Any]] = {
    "title": "thread_summary",
    **closed_object(
        {"summary": {"type": "string"}, "topics": {"type": "array", "items": {"type": "string"}}}
    ),
}


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary and what it covers.

    Attributes:
        text: The text.
        topics: What it is about, the most important first.
        covered: The sequence number of the last message that it covers; 0 for none.
    """

    text: str = ""
    topics: tuple[str, ...] = ()
    covered: int = 0


@dataclass(frozen=True, slots=True)
class Summariser:
    """Keeps a thread's summary.

    Attributes:
        store: The store.
        thread: The thread.
        llm: What summarises.
        shortening: How long messages are shortened.
        tokens: The most tokens of one request; <= 0 for no bound.
        image_context: How images take part; as images they are left out.
    """

    store: MemoryStore
    thread: ThreadRecord
    llm: LLM
    shortening: Shortening
    tokens: int
    image_context: MemoryExtractionImageContext = MemoryExtractionImageContext.DISABLED

    def refresh(self) -> StoredSummary:
        """Bring the summary up to the last message, and store it.

        Returns:
            The summary.

        Raises:
            Exception: Whatever the model raises; what was summarised until then is stored.
        """
        current = newest_summary(self.store, self.thread.id)
        messages = self.store.list_thread_messages(self.thread.id, range_start_seq_no=current.covered + 1)
        if not messages:
            return current
        for step in self._steps(current, messages):
            if step.text:
                self._save(step)
            current = step
        return current

    def over(self, messages: Sequence[MessageRecord]) -> StoredSummary:
        """Summarise messages without storing the summary.

        Args:
            messages: The messages, in order.
        """
        current = StoredSummary()
        for step in self._steps(current, messages):
            current = step
        return current

    def _steps(self, current: StoredSummary, messages: Sequence[MessageRecord]) -> Any:
        context = self.image_context
        if context is MemoryExtractionImageContext.IMAGE:
            context = MemoryExtractionImageContext.CAPTION
        shown_lines = lines(messages, llm=self.llm, shortening=self.shortening, image_context=context)
        last = messages[-1].seq_no
        if not shown_lines:
            yield StoredSummary(current.text, current.topics, last)
            return
        runs = chunks(shown_lines, tokens=self._room(current))
        for place, run in enumerate(runs):
            text, topics = self._ask(current, run)
            # The last run also covers the blank messages behind it; a message cut in two counts with its last part.
            whole = place + 1 == len(runs)
            covered = last if whole else _covered(run, runs[place + 1])
            current = StoredSummary(text, topics, max(covered, current.covered))
            yield current

    def _room(self, current: StoredSummary) -> int | None:
        if self.tokens <= 0:
            return None
        fixed = estimate(load_prompt(PACKAGE, "summarize").text) + estimate(current.text) + 100
        return max(200, self.tokens - fixed)

    def _ask(self, current: StoredSummary, run: Sequence[Line]) -> tuple[str, tuple[str, ...]]:
        parts = []
        if current.text:
            parts.append(f"<summary>{escape(current.text)}</summary>")
        if current.topics:
            parts.append(f"<topics>{escape('; '.join(current.topics))}</topics>")
        parts.append("<messages>\n" + "\n".join(line.xml for line in run) + "\n</messages>")
        messages = [
            {"role": "system", "content": load_prompt(PACKAGE, "summarize").text},
            {"role": "user", "content": "\n\n".join(parts)},
        ]
        return read_summary(self.llm.generate(messages, response_json_schema=SUMMARY_SCHEMA).text)

    def _save(self, summary: StoredSummary) -> None:
        prompt = load_prompt(PACKAGE, "summarize")
        own = {
            "revision": 1,
            "summary_last_message_order_seq": summary.covered,
            "generation_parameters": {"strategy": "llm", "prompt": f"{prompt.name}/{prompt.version}"},
        }
        self.store.add(
            [{"text": summary.text, "topics": list(summary.topics)}],
            "thread_summary",
            thread_ids=self.thread.id,
            user_ids=self.thread.user_id,
            agent_ids=self.thread.agent_id,
            metadata={OWN_METADATA: own},
        )
        rows = self.store.list("thread_summary", thread_id=self.thread.id, limit=None)
        for row in rows[:-KEPT]:
            self.store.delete("thread_summary", row.id)


def _covered(run: Sequence[Line], following: Sequence[Line]) -> int:
    last = run[-1].record.seq_no
    return last - 1 if following and following[0].record.seq_no == last else last


def read_summary(text: object) -> tuple[str, tuple[str, ...]]:
    """Read a model's summary.

    Args:
        text: A JSON object with ``summary`` and ``topics``.

    Returns:
        The text on one line, at most 4000 characters; the topics in lower case, each once, in their order.

    Raises:
        ModelOutputError: If there is no summary in it.

    Examples:
        >>> read_summary('{"summary": "Mia moves.", "topics": ["Moving", "moving", ""]}')
        ('Mia moves.', ('moving',))
    """
    value = parse_json_reply(text)
    summary = value.get("summary") if isinstance(value, dict) else None
    if not isinstance(summary, str) or not summary.strip():
        raise ModelOutputError(
            f'the model must answer with {{"summary": ..., "topics": [...]}}, got {shown(text)}'
        )
    given = value.get("topics")
    topics = (
        [topic.strip().lower() for topic in given if isinstance(topic, str)]
        if isinstance(given, list)
        else []
    )
    return " ".join(summary.split())[:SUMMARY_CHARACTERS], tuple(dict.fromkeys(filter(None, topics)))


def newest_summary(store: MemoryStore, thread_id: str) -> StoredSummary:
    """Return the valid summary of a thread that covers most, or an empty one.

    Args:
        store: The store.
        thread_id: The thread.
    """
    rows = store.list("thread_summary", thread_id=thread_id, limit=KEPT)
    found = [summary for row in rows if (summary := _read_row(row)) is not None]
    return max(found, key=lambda summary: summary.covered, default=StoredSummary())


def _read_row(row: Record) -> StoredSummary | None:
    content: Any = row.content
    own = (row.metadata or {}).get(OWN_METADATA)
    if row.status is not RecordStatus.VALID or not isinstance(content, dict) or not isinstance(own, dict):
        return None
    made = own.get("generation_parameters")
    if not isinstance(made, dict) or made.get("strategy") != "llm" or not content.get("text"):
        return None  # a transcript that another program left is no summary
    covered = own.get("summary_last_message_order_seq")
    topics = tuple(topic for topic in content.get("topics") or () if isinstance(topic, str))
    return StoredSummary(str(content["text"]), topics, covered if type(covered) is int else 0)


def forget_covering(store: MemoryStore, thread_id: str, seq_no: int) -> int:
    """Delete the summaries that cover a message, because it was changed or deleted; return how many that were.

    Args:
        store: The store.
        thread_id: The thread.
        seq_no: The message's sequence number.
    """
    count = 0
    for row in store.list("thread_summary", thread_id=thread_id, limit=None):
        own = (row.metadata or {}).get(OWN_METADATA)
        covered = own.get("summary_last_message_order_seq") if isinstance(own, dict) else None
        if type(covered) is not int or covered >= seq_no:
            count += store.delete("thread_summary", row.id)
    return count


class Summary:
    """A summary of a thread.

    Args:
        content: The text.

    Examples:
        >>> str(Summary("Mia moves to Lisbon."))
        'Mia moves to Lisbon.'
    """

    __slots__ = ("_content",)

    def __init__(self, content: str) -> None:
        self._content = content

    @property
    def content(self) -> str:
        """The text."""
        return self._content

    @property
    def formatted_content(self) -> str:
        """The text, as it goes into a prompt."""
        return self._content

    def __str__(self) -> str:
        """Return the text."""
        return self._content

    def __repr__(self) -> str:
        """Return the length; never the text."""
        return f"Summary({len(self._content)} characters)"


def cut_to_budget(text: str, token_budget: int) -> str:
    r"""Return a text that fits a budget, with a mark where it was cut.

    Args:
        text: The text.
        token_budget: The most tokens, at 3.5 characters each; <= 0 for no bound.

    Examples:
        >>> cut_to_budget("x" * 100, 6)
        '(truncated)\nxxxxxxxxx'
    """
    most = int(token_budget * CHARACTERS_PER_TOKEN)
    if token_budget <= 0 or len(text) <= most:
        return text
    return ("(truncated)\n" + text)[:most]
