"""A client's and a thread's verbs on images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from hitherto import stored_images
from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.errors import InvalidArgumentError, shown
from hitherto.extraction.config import ExtractionSettings
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import ImageMimeType
from hitherto.models.base import LLM
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import ImageRecord
from hitherto.session import Session


class ImageVerbs(ClientVerbs):
    """Images of all threads."""

    def add_image(
        self,
        image: bytes,
        description: str | None | NotSetType = NOT_SET,
        mime_type: ImageMimeType | NotSetType = NOT_SET,
        image_id: str | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
    ) -> str:
        """Store an image; its description makes it findable.

        Args:
            image: The encoded image: PNG, JPEG or WebP.
            description: What it shows; left out or None to have the language model say it.
            mime_type: Its format; by default by its first bytes.
            image_id: Its id; by default a new one.
            user_id: Whose it is; one of user, agent and thread must be given.
            agent_id: Which agent's it is.
            thread_id: Which thread's it is.
            metadata: A JSON object.
            timestamp: When it was made.
            ttl_days: Days until it expires; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The image's id.

        Raises:
            ArgumentTypeError: If an argument has the wrong type.
            InvalidArgumentError: If a value is not allowed, or there is neither a description nor a language model.
            ConflictError: If the id is taken.
        """
        _need_scope(user_id, agent_id, thread_id)
        return stored_images.add_image(
            self._session,
            self._session.llm,
            self._session.extraction,
            image,
            description,
            mime_type,
            record_ids=image_id,
            metadata=metadata,
            timestamps=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            user_ids=user_id,
            agent_ids=agent_id,
            thread_ids=thread_id,
        )

    add_image_async = awaitable(add_image, limiter_name="models")

    def list_images(
        self,
        image_id: str | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | None | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        include_bytes: bool | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[ImageRecord]:
        """Return images, oldest first.

        Args:
            image_id: Only this one.
            user_id: Only this user's, None for those without a user; one of user, agent and thread must be given.
            agent_id: Only this agent's, likewise.
            thread_id: Only this thread's, likewise.
            metadata_filter: Only those whose metadata match.
            include_bytes: Whether the bytes come along; only for one image.
            limit: The newest so many; default 10,000, None for all.

        Raises:
            InvalidArgumentError: If a value is not allowed.
        """
        _need_scope(user_id, agent_id, thread_id)
        scope = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        return stored_images.list_images(
            self._session, image_id, include_bytes, metadata_filter, limit, scope
        )

    list_images_async = awaitable(list_images)

    def update_image(
        self,
        image_id: str,
        image: bytes | NotSetType = NOT_SET,
        description: str | None | NotSetType = NOT_SET,
        mime_type: ImageMimeType | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
    ) -> str:
        """Change an image; what is not given stays.

        Args:
            image_id: Its id.
            image: The new encoded image.
            description: The new description; None to have the language model say it anew.
            mime_type: The format of the new image; by default by its first bytes.
            metadata: The new metadata, as a whole; None for none.
            timestamp: The new time.
            ttl_days: The new number of days until it expires; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The image's id.

        Raises:
            InvalidArgumentError: If a value is not allowed, or the image is part of a message and expires with it.
            NotFoundError: If there is no such image.
        """
        record = stored_images.known_image(self._session, image_id, None)
        return stored_images.update_image(
            self._session,
            self._session.llm,
            record,
            image,
            description,
            mime_type,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
        )

    update_image_async = awaitable(update_image, limiter_name="models")

    def delete_image(self, image_id: str) -> int:
        """Delete an image.

        Args:
            image_id: Its id.

        Returns:
            1, or 0 if there is no such image.

        Raises:
            InvalidArgumentError: If it is part of a message.
        """
        return stored_images.delete_image(
            self._session, stored_images.find_image(self._session, image_id, None)
        )

    delete_image_async = awaitable(delete_image)


def _need_scope(*ids: object) -> None:
    if all(value in (NOT_SET, None) for value in ids):
        raise InvalidArgumentError("user_id, agent_id or thread_id must be given", argument="user_id")


class ThreadImageVerbs(ABC):
    """Images of one thread."""

    _session: Session
    _extraction: ExtractionSettings

    @property
    @abstractmethod
    def thread_id(self) -> str:
        """The thread's id."""

    @property
    @abstractmethod
    def user_id(self) -> str | None:
        """The user's id, or None."""

    @property
    @abstractmethod
    def agent_id(self) -> str | None:
        """The agent's id, or None."""

    @property
    @abstractmethod
    def _llm(self) -> LLM | None:
        """What describes images, or None."""

    def add_image(
        self,
        image: bytes,
        description: str | None | NotSetType = NOT_SET,
        mime_type: ImageMimeType | NotSetType = NOT_SET,
        image_id: str | NotSetType = NOT_SET,
        user_id: str | None | NotSetType = NOT_SET,
        agent_id: str | None | NotSetType = NOT_SET,
        thread_id: str | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
    ) -> str:
        """Store an image of this thread; see :meth:`AgentMemory.add_image`.

        Args:
            image: The encoded image: PNG, JPEG or WebP.
            description: What it shows; left out or None to have the language model say it.
            mime_type: Its format; by default by its first bytes.
            image_id: Its id; by default a new one.
            user_id: The thread's user, or left out.
            agent_id: The thread's agent, or left out.
            thread_id: This thread, or left out.
            metadata: A JSON object.
            timestamp: When it was made.
            ttl_days: Days until it expires; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The image's id.

        Raises:
            InvalidArgumentError: If a value is not allowed, or the scope is not the thread's.
            ConflictError: If the id is taken.
        """
        own = {"user_id": self.user_id, "agent_id": self.agent_id, "thread_id": self.thread_id}
        given = {"user_id": user_id, "agent_id": agent_id, "thread_id": thread_id}
        for name, value in given.items():
            if value is not NOT_SET and value != own[name]:
                raise InvalidArgumentError(
                    f"{name} must be the thread's, {shown(own[name])}, or left out; got {shown(value)}",
                    argument=name,
                )
        return stored_images.add_image(
            self._session,
            self._llm,
            self._extraction,
            image,
            description,
            mime_type,
            record_ids=image_id,
            metadata=metadata,
            timestamps=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
            **{f"{name}s": value for name, value in own.items()},
        )

    add_image_async = awaitable(add_image, limiter_name="models")

    def list_images(
        self,
        image_id: str | NotSetType = NOT_SET,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        include_bytes: bool | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[ImageRecord]:
        """Return the images of this thread, oldest first.

        Args:
            image_id: Only this one.
            metadata_filter: Only those whose metadata match.
            include_bytes: Whether the bytes come along; only for one image.
            limit: The newest so many; default 10,000, None for all.

        Raises:
            InvalidArgumentError: If a value is not allowed.
        """
        scope = {"thread_id": self.thread_id}
        return stored_images.list_images(
            self._session, image_id, include_bytes, metadata_filter, limit, scope
        )

    list_images_async = awaitable(list_images)

    def update_image(
        self,
        image_id: str,
        image: bytes | NotSetType = NOT_SET,
        description: str | None | NotSetType = NOT_SET,
        mime_type: ImageMimeType | NotSetType = NOT_SET,
        metadata: dict[str, Any] | None | NotSetType = NOT_SET,
        timestamp: str | None | NotSetType = NOT_SET,
        ttl_days: float | None | NotSetType = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | NotSetType = NOT_SET,
    ) -> str:
        """Change an image of this thread; see :meth:`AgentMemory.update_image`.

        Args:
            image_id: Its id.
            image: The new encoded image.
            description: The new description; None to have the language model say it anew.
            mime_type: The format of the new image; by default by its first bytes.
            metadata: The new metadata, as a whole; None for none.
            timestamp: The new time.
            ttl_days: The new number of days until it expires; None for never.
            ttl_anchor: From when the days count.

        Returns:
            The image's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            NotFoundError: If this thread has no such image.
        """
        record = stored_images.known_image(self._session, image_id, self.thread_id)
        return stored_images.update_image(
            self._session,
            self._llm,
            record,
            image,
            description,
            mime_type,
            metadata=metadata,
            timestamp=timestamp,
            ttl_days=ttl_days,
            ttl_anchor=ttl_anchor,
        )

    update_image_async = awaitable(update_image, limiter_name="models")

    def delete_image(self, image_id: str) -> int:
        """Delete an image of this thread.

        Args:
            image_id: Its id.

        Returns:
            1, or 0 if this thread has no such image.

        Raises:
            InvalidArgumentError: If it is part of a message.
        """
        return stored_images.delete_image(
            self._session, stored_images.find_image(self._session, image_id, self.thread_id)
        )

    delete_image_async = awaitable(delete_image)
