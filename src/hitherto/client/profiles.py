"""A client's verbs on users and agents."""

from __future__ import annotations

from typing import Any, cast

from hitherto.aio import awaitable
from hitherto.client.base import ClientVerbs
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import AgentProfileRecord, UserProfileRecord
from hitherto.scope import check_id


class ProfileVerbs(ClientVerbs):
    """Users and agents."""

    def add_user(
        self, user_id: str, information: str, metadata: dict[str, Any] | None | NotSetType = NOT_SET
    ) -> str:
        """Store what is known of a user; it is found by that user's searches.

        Args:
            user_id: The user's id.
            information: What is known, in words.
            metadata: A JSON object.

        Returns:
            The user's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            ConflictError: If the user is stored already.
        """
        return self.store.add_user(user_id, information, metadata)

    add_user_async = awaitable(add_user, limiter_name="models")

    def add_agent(
        self, agent_id: str, information: str, metadata: dict[str, Any] | None | NotSetType = NOT_SET
    ) -> str:
        """Store what is known of an agent.

        Args:
            agent_id: The agent's id.
            information: What is known, in words.
            metadata: A JSON object.

        Returns:
            The agent's id.

        Raises:
            InvalidArgumentError: If a value is not allowed.
            ConflictError: If the agent is stored already.
        """
        return self.store.add_agent(agent_id, information, metadata)

    add_agent_async = awaitable(add_agent, limiter_name="models")

    def delete_user(self, user_id: str, cascade: bool = True) -> int:
        """Delete a user's profile and, with it, everything that carries the user's id.

        Args:
            user_id: The user's id.
            cascade: Whether threads, messages, memories and images of the user are deleted too.

        Returns:
            How many records were deleted.

        Raises:
            InvalidIdError: If user_id is no legal id.
        """
        return self.store.delete("user_profile", check_id(user_id, argument="user_id"), cascade=cascade)

    delete_user_async = awaitable(delete_user)

    def delete_agent(self, agent_id: str, cascade: bool = True) -> int:
        """Delete an agent's profile and, with it, everything that carries the agent's id.

        Args:
            agent_id: The agent's id.
            cascade: Whether threads, messages, memories and images of the agent are deleted too.

        Returns:
            How many records were deleted.

        Raises:
            InvalidIdError: If agent_id is no legal id.
        """
        return self.store.delete("agent_profile", check_id(agent_id, argument="agent_id"), cascade=cascade)

    delete_agent_async = awaitable(delete_agent)

    def list_users(
        self,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[UserProfileRecord]:
        """Return the profiles of users, oldest first.

        Args:
            metadata_filter: Only those whose metadata match; None for those without.
            limit: The newest so many; default 10,000, None for all.
        """
        found = self.store.list("user_profile", metadata_filter=metadata_filter, limit=limit)
        return cast("list[UserProfileRecord]", found)

    list_users_async = awaitable(list_users)

    def list_agents(
        self,
        metadata_filter: dict[str, Any] | None | NotSetType = NOT_SET,
        limit: int | None | NotSetType = NOT_SET,
    ) -> list[AgentProfileRecord]:
        """Return the profiles of agents, oldest first.

        Args:
            metadata_filter: Only those whose metadata match; None for those without.
            limit: The newest so many; default 10,000, None for all.
        """
        found = self.store.list("agent_profile", metadata_filter=metadata_filter, limit=limit)
        return cast("list[AgentProfileRecord]", found)

    list_agents_async = awaitable(list_agents)
