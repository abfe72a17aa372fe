"""Administration of Oracle Deep Data Security: it exists, and says that it needs an Oracle database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hitherto.compat.oracle.core.deepsec.policies import (
    DeepDataSecurityPolicy,
    GlobalMemoriesDeepDataSecurityPolicy,
    UserOwnRowsDeepDataSecurityPolicy,
)
from hitherto.compat.oracle.refusal import only_on_oracle

_INSTEAD: Final = "every search names its user, and nothing of another user is returned"


class Principal:
    """Whom a policy is granted to."""


@dataclass(frozen=True)
class OciGroupPrincipal(Principal):
    """A group of Oracle Cloud.

    Attributes:
        group_name: Its name.
    """

    group_name: str


@dataclass(frozen=True)
class LocalEndUserPrincipal(Principal):
    """An end user of the database.

    Attributes:
        username: The name.
    """

    username: str


def add_deep_data_security_policies(
    connection: Any, owner_schema: str, memory_store_id: str, policies: list[DeepDataSecurityPolicy]
) -> None:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("add_deep_data_security_policies", _INSTEAD)


def remove_deep_data_security_policies(
    connection: Any, owner_schema: str, memory_store_id: str, policies: list[DeepDataSecurityPolicy]
) -> None:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("remove_deep_data_security_policies", _INSTEAD)


def list_deep_data_security_policies(
    connection: Any, owner_schema: str, memory_store_id: str
) -> list[DeepDataSecurityPolicy]:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("list_deep_data_security_policies", _INSTEAD)


def grant_agent_memory_policies(
    connection: Any,
    memory_store_id: str,
    owner_schema: str,
    principals: list[Principal],
    policies: list[DeepDataSecurityPolicy],
) -> None:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("grant_agent_memory_policies", _INSTEAD)


def revoke_agent_memory_policies(
    connection: Any,
    memory_store_id: str,
    owner_schema: str,
    principals: list[Principal],
    policies: list[DeepDataSecurityPolicy],
) -> None:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("revoke_agent_memory_policies", _INSTEAD)


def list_agent_memory_granted_policies(
    connection: Any, memory_store_id: str, owner_schema: str
) -> list[tuple[Principal, list[DeepDataSecurityPolicy]]]:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("list_agent_memory_granted_policies", _INSTEAD)


def get_end_user_username(connection: Any) -> str | None:
    """Refuse: there are no such policies here.

    Raises:
        InvalidArgumentError: Always.
    """
    only_on_oracle("get_end_user_username", _INSTEAD)


__all__ = [
    "DeepDataSecurityPolicy",
    "GlobalMemoriesDeepDataSecurityPolicy",
    "LocalEndUserPrincipal",
    "OciGroupPrincipal",
    "Principal",
    "UserOwnRowsDeepDataSecurityPolicy",
    "add_deep_data_security_policies",
    "get_end_user_username",
    "grant_agent_memory_policies",
    "list_agent_memory_granted_policies",
    "list_deep_data_security_policies",
    "remove_deep_data_security_policies",
    "revoke_agent_memory_policies",
]
