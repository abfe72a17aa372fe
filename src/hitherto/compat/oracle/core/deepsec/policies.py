"""Kinds of policies of Oracle Deep Data Security."""

from __future__ import annotations


class DeepDataSecurityPolicy:
    """What a principal may see."""


class UserOwnRowsDeepDataSecurityPolicy(DeepDataSecurityPolicy):
    """Each user sees his own rows."""


class GlobalMemoriesDeepDataSecurityPolicy(DeepDataSecurityPolicy):
    """Everybody sees memories without a user."""


__all__ = [
    "DeepDataSecurityPolicy",
    "GlobalMemoriesDeepDataSecurityPolicy",
    "UserOwnRowsDeepDataSecurityPolicy",
]
