"""The verbs of a store that change and delete records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hitherto.aio import awaitable
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import ImageRecord, MessageRecord, RecordStatus
from hitherto.scope import check_id
from hitherto.store.checks import check_callable, check_flag, check_record_type, named_as
from hitherto.store.drafts import embed_drafts
from hitherto.store.jobs import JobStep
from hitherto.store.primitives import StorePrimitives
from hitherto.store.updates import UpdateRequest, plan_update, with_image

_NAMES: Final = {"index_texts": "index_text", "embeddings": "embedding"}
"""What is called so where many records are added, and otherwise where one is changed."""


class ChangeVerbs(StorePrimitives):
    """Changing and deleting records."""

    def update(
        self,
        record_type: str,
        record_id: str,
        *,
        content: Any = NOT_SET,
        index_text: Any = NOT_SET,
        embedding: Any = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
        status: RecordStatus | NotSetType = NOT_SET,
        text: Any = NOT_SET,
        also: JobStep | None = None,
    ) -> int:
        """Change a record; what is omitted stays. Its texts are embedded again only if they changed.

        Args:
            record_type: Its type.
            record_id: Its id.
            content: New content; for an image its bytes.
            index_text: New texts to index, or None for the content; for an image its description.
            embedding: Their vectors.
            metadata: New metadata, as a whole.
            timestamp: New time of its own.
            ttl_days: New days to live.
            ttl_anchor: From when they count.
            status: New status; a memory that a link makes invalid stays so.
            text: Another name of content.
            also: What is done with the store's jobs in the same transaction, if there is such a record.

        Returns:
            1, or 0 if there is no such record, or if a summary's revision is not the one given.

        Raises:
            ArgumentTypeError: If a value has the wrong type.
            InvalidArgumentError: If a value is not allowed.
        """
        check_record_type(record_type)
        check_callable(also, argument="also")
        now = self._now()
        current = self._get(
            record_type, check_id(record_id, argument="record_id"), now=now, include_bytes=False
        )
        if current is None:
            return 0
        request = UpdateRequest(
            text if content is NOT_SET else content,
            index_text,
            embedding,
            metadata,
            timestamp,
            ttl_days,
            ttl_anchor,
            status,
        )
        with named_as({**_NAMES, "contents": "text" if content is NOT_SET else "content"}):
            plan = plan_update(
                current,
                request,
                created_at=lambda: self._created_at(record_type, record_id, now=now) or now,
                retention=self._memory_retention_config,
                max_input_tokens=self._max_input_tokens(),
            )
            drafts = ([] if plan.draft is None else [plan.draft]) + (plan.images or [])
            made = embed_drafts(drafts, self._embedder)
        changes = plan.changes
        if plan.draft is not None:
            changes = replace(changes, chunks=made[0].chunks)
        if plan.images is not None:
            changes = replace(changes, images=tuple(made[1:]))
        changed = (
            self._update(changes, now=now) if also is None else self._update_also(changes, also, now=now)
        )
        if changed and isinstance(current, ImageRecord) and current.message_id is not None:
            self._refresh_message(current.message_id, record_id)
        return changed

    update_async = awaitable(update, limiter_name="models")

    def _refresh_message(self, message_id: str, image_id: str) -> None:
        now = self._now()
        message = self._get("message", message_id, now=now, include_bytes=False)
        image = self._get("image", image_id, now=now, include_bytes=False)
        if isinstance(message, MessageRecord) and isinstance(image, ImageRecord):
            content = with_image(message, image)
            if content is not NOT_SET:
                self.update("message", message_id, content=content)

    def delete(self, record_type: str, record_id: str, cascade: bool = False) -> int:
        """Delete a record with its index entries and links; a thread with all its content.

        Args:
            record_type: Its type.
            record_id: Its id.
            cascade: For a user or agent: also everything that carries the id, and their threads' content.

        Returns:
            1, or 0 if there is no such record; a cascade works even then.
        """
        check_record_type(record_type)
        check_id(record_id, argument="record_id")
        cascade = check_flag(cascade, argument="cascade") or record_type == "thread"
        return self._delete(record_type, record_id, cascade=cascade, now=self._now())

    delete_async = awaitable(delete)

    def delete_thread(self, thread_id: str) -> int:
        """Delete a thread with its messages, memories, summaries, images and their links.

        Args:
            thread_id: The thread.

        Returns:
            1, or 0 if there is no such thread.
        """
        check_id(thread_id, argument="thread_id")
        self._memory_jobs.drop(thread_id=thread_id)
        return self.delete("thread", thread_id, cascade=True)

    delete_thread_async = awaitable(delete_thread)

    def erase_user(self, user_id: str) -> int:
        """Erase a user: everything that carries the id, and the content of their threads, without a trace.

        Slower than :meth:`delete`, as it also empties the database's log.

        Args:
            user_id: The user.

        Returns:
            How many records were erased.
        """
        check_id(user_id, argument="user_id")
        self._memory_jobs.drop(user_id=user_id)
        return self._erase_user(user_id)

    erase_user_async = awaitable(erase_user)

    def purge_expired(self) -> int:
        """Delete what has expired, which no verb shows any more; return how many records that were."""
        return self._purge_expired(now=self._now())

    purge_expired_async = awaitable(purge_expired)
