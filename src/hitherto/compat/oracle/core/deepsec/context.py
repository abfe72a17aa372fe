"""Whom a connection acts for, in Oracle Deep Data Security."""

from __future__ import annotations

from typing import Any


class OracleMemoryEndUserSecurityContext:
    """Whom a connection acts for; it does nothing here: every search names its user.

    Args:
        security_context: What the driver made.
    """

    def __init__(self, security_context: Any) -> None:
        self._security_context = security_context

    def __enter__(self) -> OracleMemoryEndUserSecurityContext:
        """Return the context."""
        return self

    def __exit__(self, *problem: object) -> None:
        """Do nothing."""


__all__ = ["OracleMemoryEndUserSecurityContext"]
