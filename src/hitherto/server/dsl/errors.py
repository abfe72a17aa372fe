"""The one error of the query language, with what the error envelope of the HTTP API needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hitherto.errors import HithertoError

ILLEGAL_ARGUMENT: Final = "illegal_argument_exception"
PARSING: Final = "parsing_exception"
X_CONTENT: Final = "x_content_parse_exception"


class DslError(HithertoError, ValueError):
    """A search request is refused.

    Attributes:
        status: The HTTP status.
        type: The type of the error, as a client sees it first.
        reason: What is wrong, naming the clause, the parameter or the value.
        root_cause_type: The type of what caused it; the same as *type*, unless it arose while searching.
        root_cause_reason: The reason of what caused it.
        metadata: More keys of the error, such as ``line`` and ``col``.
        caused_by: The error underneath, or None.

    Examples:
        >>> DslError("unknown query [foo]", type="parsing_exception", metadata={"line": 1}).error()["line"]
        1
    """

    def __init__(
        self,
        reason: str,
        *,
        type: str = ILLEGAL_ARGUMENT,
        status: int = 400,
        metadata: Mapping[str, Any] | None = None,
        caused_by: Mapping[str, Any] | None = None,
        root_cause: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.type = type
        self.reason = reason
        self.root_cause_type, self.root_cause_reason = root_cause or (type, reason)
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.caused_by = dict(caused_by) if caused_by else None

    def error(self) -> dict[str, Any]:
        """Return the value of ``error`` in the envelope.

        Returns:
            A JSON object; the metadata stand beside type and reason.
        """
        root: dict[str, Any] = {"type": self.root_cause_type, "reason": self.root_cause_reason}
        if self.root_cause_type == self.type:
            root |= self.metadata
        error: dict[str, Any] = {
            "root_cause": [root],
            "type": self.type,
            "reason": self.reason,
        } | self.metadata
        if self.caused_by is not None:
            error["caused_by"] = self.caused_by
        return error

    def envelope(self) -> dict[str, Any]:
        """Return the whole body of the answer.

        Returns:
            A JSON object with ``error`` and ``status``.
        """
        return {"error": self.error(), "status": self.status}


class ShardError(DslError):
    """A request that reads well cannot be carried out on the index: a wrong date, a field that cannot be sorted.

    Examples:
        >>> ShardError("No mapping found for [x] in order to sort on").reason
        'all shards failed'
    """

    def __init__(self, reason: str, *, type: str = ILLEGAL_ARGUMENT) -> None:
        super().__init__(
            "all shards failed",
            type="search_phase_execution_exception",
            root_cause=(type, reason),
            metadata={"phase": "query", "grouped": True},
            caused_by={"type": type, "reason": reason},
        )

    def __str__(self) -> str:
        return self.root_cause_reason


def locate(body: object, raw: bytes | None, key: str) -> dict[str, int]:
    r"""Return where a key first stands in the request.

    Args:
        body: The parsed body; it is written again if the bytes are not at hand.
        raw: The bytes of the body, or None.
        key: The key.

    Returns:
        Line and column from 1, as metadata of an error.

    Examples:
        >>> locate({}, b'{"query":\n {"foo": 1}}', "foo")
        {'line': 2, 'col': 3}
    """
    text = raw.decode("utf-8", "replace") if raw is not None else json.dumps(body, default=str, skipkeys=True)
    at = max(text.find(json.dumps(key)), text.find(json.dumps(key, ensure_ascii=False)), 0)
    return {"line": text.count("\n", 0, at) + 1, "col": at - text.rfind("\n", 0, at)}
