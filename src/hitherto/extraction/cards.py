"""Context cards: what a model should know before it answers, on one card of well-formed XML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from hitherto.errors import InvalidArgumentError, shown
from hitherto.extraction.transcript import MESSAGE_FORMAT, no_image, plain_text
from hitherto.incoming import read_int
from hitherto.messages import Message, content_text
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MEMORY_TYPES, MessageRecord
from hitherto.search.config import MAX_RESULTS
from hitherto.search.render import escape, escape_as_is, indent
from hitherto.search.result import SearchResult
from hitherto.store.checks import check_flag

DEFAULT_FALLBACK: Final = 5
DEFAULT_RELEVANT: Final = 5
CARD_TYPES: Final = (*sorted(MEMORY_TYPES), "message")


class ContextCard:
    """What a model should know before it answers: topics, a summary, relevant results and maybe the last messages.

    Args:
        summary: The summary.
        topics: What the conversation is about.
        relevant_results: What was found for it.
        recent_messages: The last messages, oldest first; images are left out, and messages of images alone.
        message_format: How a message is written, with ``{timestamp}``, ``{role}`` and ``{content}``.

    Examples:
        >>> print(ContextCard("Mia moves.", topics=["moving"]))
        <context_card>
          <topics>
            <topic>moving</topic>
          </topics>
          <summary>
            Mia moves.
          </summary>
          <relevant_information></relevant_information>
        </context_card>
    """

    __slots__ = ("_content", "_recent_messages", "_relevant_results", "_summary", "_topics")

    def __init__(
        self,
        summary: str,
        topics: Sequence[str] | None = None,
        relevant_results: Sequence[SearchResult] | None = None,
        recent_messages: Sequence[Message] | None = None,
        message_format: str = MESSAGE_FORMAT,
    ) -> None:
        self._summary = str(summary)
        self._topics = tuple(topics or ())
        self._relevant_results = tuple(relevant_results or ())
        self._recent_messages = tuple(recent_messages or ())
        self._content = _render(self, message_format)

    @property
    def summary(self) -> str:
        """The summary."""
        return self._summary

    @property
    def topics(self) -> list[str]:
        """What the conversation is about, as a fresh list."""
        return list(self._topics)

    @property
    def relevant_results(self) -> list[SearchResult]:
        """What was found, as a fresh list."""
        return list(self._relevant_results)

    @property
    def recent_messages(self) -> list[Message]:
        """The last messages, as a fresh list."""
        return list(self._recent_messages)

    @property
    def content(self) -> str:
        """The card as text for a prompt; "" if there is nothing on it."""
        return self._content

    @property
    def formatted_content(self) -> str:
        """The card as text for a prompt."""
        return self._content

    def __str__(self) -> str:
        """Return the card as text for a prompt."""
        return self._content

    def __repr__(self) -> str:
        """Return how much there is on the card; never what."""
        return (
            f"ContextCard({len(self._topics)} topics, {len(self._relevant_results)} results, "
            f"{len(self._recent_messages)} messages)"
        )


def _render(card: ContextCard, message_format: str) -> str:
    topics, results, recent = card.topics, card.relevant_results, card.recent_messages
    summary = escape(card.summary)
    if not (topics or summary or results or recent):
        return ""
    parts = [
        _block("topics", [f"<topic>{escape_as_is(topic)}</topic>" for topic in topics if topic.strip()]),
        _block("summary", [summary] if summary else []),
        _block("relevant_information", [result.formatted_content for result in results]),
    ]
    if recent:
        parts.append(_block("recent_messages", _messages(recent, message_format)))
    return "<context_card>\n" + "\n".join(indent(part) for part in parts) + "\n</context_card>"


def _block(name: str, blocks: Iterable[str]) -> str:
    inner = "\n".join(indent(block) for block in blocks if block)
    return f"<{name}>\n{inner}\n</{name}>" if inner else f"<{name}></{name}>"


def _messages(messages: Sequence[Message], message_format: str) -> list[str]:
    written = []
    for message in messages:
        text = " ".join(content_text(message.content).split())
        if text:
            written.append(
                message_format.format(
                    timestamp=escape(message.timestamp or "-"),
                    role=escape(message.role),
                    content=escape(text),
                )
            )
    return written


@dataclass(frozen=True, slots=True)
class CardRequest:
    """The arguments of a context card, checked.

    Attributes:
        fallback_messages: How many messages stand for a summary where there is no language model.
        results: How many results there are at most.
        recent_messages: How many of the last messages are on the card.
        except_last: How many of the last messages are left out of summary and results.
        at_least: How many results there are of each type, if there are so many.
        metadata_filter: What metadata must match.
        include_invalid: Whether records that no longer hold are among the results.
        token_budget: The most tokens of all results together, NOT_SET for the configuration's.
        soft_token_budget: The result that reaches so many tokens is the last one, likewise.
    """

    fallback_messages: int
    results: int
    recent_messages: int
    except_last: int
    at_least: Mapping[str, int]
    metadata_filter: Any
    include_invalid: bool
    token_budget: Any
    soft_token_budget: Any


def read_card_request(
    *,
    fallback_message_count: int | NotSetType,
    max_relevant_results: int | NotSetType,
    max_recent_messages: int | NotSetType,
    except_last_messages: int | NotSetType,
    min_relevant_results_by_type: Mapping[str, int] | None | NotSetType,
    metadata_filter: dict[str, Any] | None | NotSetType,
    include_invalid_results: bool | NotSetType,
    token_budget: int | None | NotSetType,
    soft_token_budget: int | None | NotSetType,
) -> CardRequest:
    """Check the arguments of a context card; those that are NOT_SET have their defaults.

    Raises:
        InvalidArgumentError: If a value is not allowed.
    """
    at_least = _minimums(min_relevant_results_by_type)
    needed = sum(at_least.values())
    most = max(DEFAULT_RELEVANT, needed)
    if max_relevant_results is not NOT_SET:
        most = read_int(max_relevant_results, "max_relevant_results")
        if most < needed or most < 0:
            raise InvalidArgumentError(
                f"max_relevant_results must be at least {needed}, the sum of min_relevant_results_by_type, got {most}",
                argument="max_relevant_results",
            )
    excepted = (
        0 if except_last_messages is NOT_SET else read_int(except_last_messages, "except_last_messages")
    )
    recent = 0 if max_recent_messages is NOT_SET else read_int(max_recent_messages, "max_recent_messages")
    if excepted < 0 or (excepted and recent not in (0, excepted)):
        raise InvalidArgumentError(
            "except_last_messages must be >= 0, and with max_recent_messages the same or without it; got "
            f"except_last_messages={excepted}, max_recent_messages={recent}",
            argument="except_last_messages",
        )
    fallback = DEFAULT_FALLBACK
    if fallback_message_count is not NOT_SET:
        fallback = read_int(fallback_message_count, "fallback_message_count")
    return CardRequest(
        fallback_messages=max(0, fallback),
        results=min(most, MAX_RESULTS),
        recent_messages=max(0, recent),
        except_last=excepted,
        at_least=at_least,
        metadata_filter=metadata_filter,
        include_invalid=check_flag(include_invalid_results, argument="include_invalid_results", default=True),
        token_budget=token_budget,
        soft_token_budget=soft_token_budget,
    )


def _minimums(value: object) -> dict[str, int]:
    if value is NOT_SET or value is None:
        return {}
    name = "min_relevant_results_by_type"
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{name} must map types to numbers, got {shown(value)}", argument=name)
    for kind, least in value.items():
        if kind not in CARD_TYPES:
            raise InvalidArgumentError(
                f"{name} must have types among {', '.join(CARD_TYPES)}, got {shown(kind)}", argument=name
            )
        if type(least) is not int or least < 1:
            raise InvalidArgumentError(
                f"{name}[{kind!r}] must be an int of at least 1, got {shown(least)}", argument=name
            )
    return dict(value)


Searcher = Callable[[str, Sequence[str], int], list[SearchResult]]
"""Searches for a query among some types, and returns at most so many results."""


def find_relevant(
    query: str, request: CardRequest, hidden: frozenset[str], search: Searcher, *, concurrency: int
) -> list[SearchResult]:
    """Return the results of a card: for each type what it is to have at least, then the nearest of all.

    Args:
        query: What the conversation is about.
        request: The card's arguments.
        hidden: The messages that are left out.
        search: Searches.
        concurrency: How many searches run at once.
    """
    if not request.results:
        return []
    wanted = [
        (tuple(sorted(MEMORY_TYPES)), request.results),
        (("message",), request.results + len(hidden)),
        *(((kind,), least + len(hidden) * (kind == "message")) for kind, least in request.at_least.items()),
    ]
    with ThreadPoolExecutor(min(concurrency, len(wanted)), "hitherto-card") as pool:
        found = list(pool.map(lambda item: search(query, item[0], min(item[1], MAX_RESULTS)), wanted))
    visible = [[result for result in results if result.id not in hidden] for results in found]
    first = [
        result
        for results, least in zip(visible[2:], request.at_least.values(), strict=True)
        for result in results[:least]
    ]
    rest = sorted((*visible[0], *visible[1]), key=lambda result: result.distance)
    chosen: dict[tuple[str, str], SearchResult] = {}
    for result in (*first, *rest):
        chosen.setdefault((result.record.record_type, result.id), result)
    return list(chosen.values())[: request.results]


def has_text(record: MessageRecord) -> bool:
    """Return whether a message says anything in words."""
    return bool(plain_text(record, no_image))
