"""Thread: one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from hitherto.aio import awaitable
from hitherto.client.images import ThreadImageVerbs
from hitherto.client.thread_learning import ThreadLearningVerbs
from hitherto.client.thread_memories import ThreadMemoryVerbs
from hitherto.errors import InvalidArgumentError, NotFoundError, shown
from hitherto.events import observed
from hitherto.extraction.config import ExtractionSettings
from hitherto.extraction.intake import Intake
from hitherto.extraction.provenance import delete_derived
from hitherto.extraction.summaries import forget_covering
from hitherto.incoming import MessageInput, MetadataInput, read_content, read_int, read_messages
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageContent, Message, MessageContent, TextContent, content_text
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import MessageRecord, ThreadRecord
from hitherto.scope import SearchScope, resolve_for_thread
from hitherto.search import pipeline
from hitherto.search.config import MemorySearchConfig, checked_config
from hitherto.search.result import SearchResult
from hitherto.session import DEFAULT_TIMEOUT_S, Session, read_scope
from hitherto.store.batches import PendingRecordBatch
from hitherto.store.checks import check_flag, named_as
from hitherto.thread_settings import ThreadSettings

_NAMES: Final = {"record_ids": "id", "roles": "role", "contents": "content", "timestamps": "timestamp"}
"""What the fields of a message are called where records of any type are added."""

DEFAULT_WINDOW = 100
"""How many messages are returned where no range is asked for."""


@observed("thread")
class Thread(ThreadMemoryVerbs, ThreadImageVerbs, ThreadLearningVerbs):
    """One conversation: its messages, and the memories that belong to it.

    Threads are made by :meth:`AgentMemory.create_thread` and :meth:`AgentMemory.get_thread`. Python threads may
    share one.

    Examples:
        >>> from hitherto import AgentMemory
        >>> with AgentMemory(":memory:", embedder=None) as memory:
        ...     thread = memory.create_thread(user_id="mia")
        ...     _ = thread.add_messages([{"role": "user", "content": "Otto hates the tram bell"}])
        ...     [result.content for result in thread.search("tram")]
        ['Otto hates the tram bell']
    """

    def __init__(
        self,
        session: Session,
        record: ThreadRecord,
        settings: ThreadSettings,
        search_config: MemorySearchConfig,
        extraction: ExtractionSettings,
        llm: LLM | None,
    ) -> None:
        """Make a handle; programs call :meth:`AgentMemory.create_thread` instead."""
        self._session = session
        self._record = record
        self._settings = settings
        self._search_config = search_config
        self._extraction = extraction
        self._model = llm
        session.use_model(record.id, llm)

    @property
    def _llm(self) -> LLM | None:
        return self._model

    @property
    def thread_id(self) -> str:
        """The thread's id."""
        return self._record.id

    @property
    def user_id(self) -> str | None:
        """The user's id, or None."""
        return self._record.user_id

    @property
    def agent_id(self) -> str | None:
        """The agent's id, or None."""
        return self._record.agent_id

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The thread's metadata, as they were when the handle was made."""
        return self._record.metadata

    @property
    def max_message_token_length(self) -> int:
        """From how many tokens on a message is shortened in prompts; <= 0 for never."""
        return self._settings.max_message_token_length

    @property
    def message_shortening_input_token_limit(self) -> int:
        """How many tokens of a long message are read to shorten it; <= 0 for all."""
        return self._settings.message_shortening_input_token_limit

    def add_messages(
        self,
        messages: Sequence[MessageInput],
        metadata: MetadataInput = NOT_SET,
        ttl_days: float | None | list[float | None] | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | list[TimeToLiveAnchor] | NotSetType = NOT_SET,
    ) -> list[str]:
        """Store messages, in order, all or none; then extract memories from them, if that is configured.

        The messages are stored before any model is called, and together with the note that they are still to be
        extracted: neither a failing model nor a crash loses either.

        Args:
            messages: :class:`Message` objects, or mappings with ``role``, ``content`` and maybe ``id``,
                ``timestamp`` and ``metadata``. Content is a text, or a list of parts.
            metadata: One object for all messages, or a list with one for each; replaces the messages' own.
            ttl_days: Days until they expire, for all or for each; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The messages' ids.

        Raises:
            ArgumentTypeError: If an argument or field has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If a mapping lacks a key.
            ConflictError: If an id is taken; AlreadyStoredError if by the very same message.
            TimeoutError: If the queue was full and the configuration says so; the messages are stored.
            Exception: Whatever the language model raises, with INLINE extraction; the messages are stored, and the
                extraction is kept as failed.
        """
        store = self._session.store
        incoming = read_messages(messages, metadata, may_describe=self._describes)
        if not incoming.ids:
            return []
        batch = PendingRecordBatch(
            contents=incoming.contents,
            record_type="message",
            record_ids=list(incoming.ids),
            thread_ids=self.thread_id,
            user_ids=self.user_id,
            agent_ids=self.agent_id,
            roles=list(incoming.roles),
            timestamps=list(incoming.timestamps),
            metadata=incoming.metadata,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
        )
        intake = self._intake()
        if intake is None:
            with named_as(_NAMES):
                return store.add_batches([batch])
        intake.look_for_room()
        with named_as(_NAMES):
            ids = store.add_batches([batch], also=lambda table: intake.note_added(table, incoming.ids))
        intake.settle()
        return ids

    add_messages_async = awaitable(add_messages, limiter_name="models")

    def get_messages(
        self,
        *,
        start: int | None | NotSetType = NOT_SET,
        end: int | None | NotSetType = NOT_SET,
        include_image_bytes: bool | NotSetType = NOT_SET,
    ) -> list[Message]:
        """Return messages, oldest first; without a range the last 100.

        Args:
            start: The first one's place among the thread's messages, from 0; negative counts from the end. Given
                alone, 100 messages from there on.
            end: The place behind the last one; None or -1 for the end.
            include_image_bytes: Whether image parts come with their bytes; default False.

        Raises:
            InvalidArgumentError: If start or end is no number.
        """
        store = self._session.store
        with_bytes = check_flag(include_image_bytes, argument="include_image_bytes", default=False)
        if start is NOT_SET and end is NOT_SET:
            records = store.list_thread_messages(
                self.thread_id, last_n=DEFAULT_WINDOW, include_bytes=with_bytes
            )
            return [_message(record) for record in records]
        first = 0 if start is NOT_SET or start is None else read_int(start, "start")
        if end is NOT_SET:
            last: int | None = first + DEFAULT_WINDOW
        else:
            last = None if end is None else read_int(end, "end")
        records = store.list_thread_messages(self.thread_id, include_bytes=with_bytes)
        return [_message(record) for record in records[first : None if last == -1 else last]]

    get_messages_async = awaitable(get_messages)

    def get_message(
        self, message_id: str, *, included_image_ids: list[str] | None | NotSetType = NOT_SET
    ) -> Message:
        """Return one message of this thread.

        Args:
            message_id: Its id.
            included_image_ids: The image parts that come with their bytes; None or nothing for none.

        Raises:
            InvalidArgumentError: If included_image_ids is no list.
            NotFoundError: If this thread has no such message.
        """
        if not (
            included_image_ids is NOT_SET
            or included_image_ids is None
            or isinstance(included_image_ids, list)
        ):
            raise InvalidArgumentError(
                f"included_image_ids must be a list or None, got {shown(included_image_ids)}",
                argument="included_image_ids",
            )
        wanted = set(included_image_ids) if isinstance(included_image_ids, list) else set()
        return _message(self._known_message(message_id, include_bytes=bool(wanted)), images=wanted)

    get_message_async = awaitable(get_message)

    def update_message(
        self,
        message_id: str,
        content: str | list[dict[str, Any]] | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
    ) -> str:
        """Change a message; what is not given stays, its expiry too.

        If it says something else now, memories are extracted from it again, and summaries that cover it are made anew.

        Args:
            message_id: Its id.
            content: The new content, a text or a list of parts.
            metadata: The new metadata, as a whole; None for none.
            ttl_days: The new number of days until it expires; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The message's id.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If this thread has no such message.
        """
        changes: dict[str, Any] = {"metadata": metadata, "ttl_days": ttl_days, "ttl_anchor": ttl_anchor}
        if content is not NOT_SET:
            changes["content"] = read_content(content, may_describe=self._describes)
        record = self._known_message(message_id)
        given = {name: value for name, value in changes.items() if value is not NOT_SET}
        if not given:
            return record.id
        intake = self._intake() if "content" in given and _says_else(given["content"], record) else None
        if intake is not None and intake.settings.extract_memories:
            intake.look_for_room()
            given["also"] = lambda table: intake.note_changed(table, record.id)
        if not self._session.store.update("message", record.id, **given):
            raise self._no_message(message_id)
        if "content" in given:
            forget_covering(self._session.store, self.thread_id, record.seq_no)
        if intake is not None:
            intake.settle()
        return record.id

    update_message_async = awaitable(update_message, limiter_name="models")

    def delete_message(self, message_id: str, cascade: bool = False) -> int:
        """Delete a message and its images; summaries that cover it are made anew when they are next asked for.

        Args:
            message_id: Its id.
            cascade: Whether memories that were extracted from it, and from no other message, go with it.

        Returns:
            1, or 0 if this thread has no such message.

        Raises:
            TimeoutError: If extraction from this thread is still not done after 300 seconds.
        """
        cascade = check_flag(cascade, argument="cascade")
        record = self._find_message(message_id)
        if record is None:
            return 0
        self._session.wait([self.thread_id], DEFAULT_TIMEOUT_S)
        store = self._session.store
        deleted = store.delete("message", record.id)
        forget_covering(store, self.thread_id, record.seq_no)
        if cascade:
            delete_derived(store, self.thread_id, record.id)
        return deleted

    delete_message_async = awaitable(delete_message)

    def search(
        self,
        query: str,
        *,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        exact_user_match: bool | NotSetType = NOT_SET,
        exact_agent_match: bool | NotSetType = NOT_SET,
        exact_thread_match: bool | NotSetType = NOT_SET,
        max_results: int | None | NotSetType = NOT_SET,
        token_budget: int | None | NotSetType = NOT_SET,
        soft_token_budget: int | None | NotSetType = NOT_SET,
        record_types: Iterable[str] | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        num_hops: int | NotSetType = NOT_SET,
        max_linked_results: int | NotSetType = NOT_SET,
        include_invalid_results: bool | NotSetType = NOT_SET,
        scope: SearchScope | None | NotSetType = NOT_SET,
        search_config: MemorySearchConfig | NotSetType = NOT_SET,
        explain: bool = False,
    ) -> list[SearchResult]:
        """Search what the thread's user and agent have, in all their threads; this thread ranks first among equals.

        Args:
            query: What to look for.
            user_id: Another user, or None for records without one; by default the thread's, exact.
            agent_id: The same for the agent.
            thread_id: The same for the thread; by default this one, not exact.
            exact_user_match: Whether the user's id filters; default True.
            exact_agent_match: Whether the agent's id filters; default True.
            exact_thread_match: Whether the thread's id filters; default False.
            max_results: The most results, 1 to 1000; default 10.
            token_budget: The most tokens of all results together.
            soft_token_budget: The result that reaches so many tokens is the last one.
            record_types: Only these types.
            metadata_filter: Only records whose metadata match.
            num_hops: How far links are followed from each memory found, 0 to 5.
            max_linked_results: The most linked records for each; default 100.
            include_invalid_results: Whether invalid records qualify; default True.
            scope: The ids and flags in one value, instead of the keywords.
            search_config: How the search goes on after retrieval; by default the thread's configuration.
            explain: Whether each result says why it is there.

        Returns:
            The results, best first.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed.
        """
        asked = read_scope(
            scope,
            user_id=user_id,
            agent_id=agent_id,
            thread_id=thread_id,
            exact_user_match=exact_user_match,
            exact_agent_match=exact_agent_match,
            exact_thread_match=exact_thread_match,
        )
        return pipeline.search(
            self._session.store,
            query,
            resolve_for_thread(asked, user_id=self.user_id, agent_id=self.agent_id, thread_id=self.thread_id),
            self._search_config if search_config is NOT_SET else checked_config(search_config),
            max_results=max_results,
            token_budget=token_budget,
            soft_token_budget=soft_token_budget,
            record_types=record_types,
            metadata_filter=metadata_filter,
            num_hops=num_hops,
            max_linked_results=max_linked_results,
            include_invalid_results=include_invalid_results,
            explain=explain,
        )

    search_async = awaitable(search, limiter_name="models")

    @property
    def _describes(self) -> bool:
        return self._model is not None and bool(self._extraction.extract_memories)

    def _intake(self) -> Intake | None:
        learns = self._extraction.extract_memories or self._extraction.summarises
        if not learns or self._model is None:
            return None
        return Intake(self._record, self._extraction, self._session.queue)

    def _as_message(self, record: MessageRecord) -> Message:
        return _message(record)

    def _find_message(self, message_id: object, *, include_bytes: bool = False) -> MessageRecord | None:
        store = self._session.store
        if not isinstance(message_id, str) or not message_id:
            return None
        record = store.get("message", message_id, include_bytes=include_bytes)
        if not isinstance(record, MessageRecord) or record.thread_id != self.thread_id:
            return None
        return record

    def _known_message(self, message_id: object, *, include_bytes: bool = False) -> MessageRecord:
        record = self._find_message(message_id, include_bytes=include_bytes)
        if record is None:
            raise self._no_message(message_id)
        return record

    def _no_message(self, message_id: object) -> NotFoundError:
        return NotFoundError(f"there is no message {shown(message_id)} in thread {shown(self.thread_id)}")


def _message(record: MessageRecord, *, images: set[str] | None = None) -> Message:
    content: Any = record.content
    if isinstance(content, tuple):
        if len(content) == 1 and isinstance(content[0], TextContent):
            content = content[0].text
        elif images is not None:
            content = tuple(_shown_part(part, images) for part in content)
    return Message(record.role or "", content, record.timestamp, record.metadata, record.id)


def _shown_part(part: MessageContent, images: set[str]) -> MessageContent:
    if isinstance(part, ImageContent) and part.id not in images:
        return ImageContent(None, part.mime_type, part.description, id=part.id, timestamp=part.timestamp)
    return part


def _says_else(content: object, record: MessageRecord) -> bool:
    text = content_text(content)
    return bool(text.strip()) and text != content_text(record.content)
