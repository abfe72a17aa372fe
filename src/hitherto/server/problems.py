"""What is answered when something is wrong: status, type and reason, in OpenSearch's envelope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hitherto.errors import (
    ArgumentTypeError,
    BusyError,
    ClosedError,
    ConflictError,
    HithertoError,
    InvalidArgumentError,
    ModelError,
    NotFoundError,
)
from hitherto.server.dsl.errors import DslError
from hitherto.server.index.documents import MEMORY_INDEX, MESSAGE_INDEX


class Problem(Exception):
    """A request that is answered with an error.

    Args:
        status: The HTTP status.
        kind: The error's type, as OpenSearch calls it.
        reason: What is wrong, for people.
        root: Type and reason of the root cause, where that is another one.
        more: Further keys beside type and reason.
        headers: Further headers of the answer.
    """

    def __init__(
        self,
        status: int,
        kind: str,
        reason: str,
        *,
        root: tuple[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.reason = reason
        self.root = root
        self.more = dict(more or {})
        self.headers = headers

    def to_dict(self) -> dict[str, Any]:
        """Return the answer's body.

        Examples:
            >>> Problem(404, "resource_not_found_exception", "Memory [m] not found").to_dict()["status"]
            404
        """
        this = {"type": self.kind, "reason": self.reason, **self.more}
        cause = {"type": self.root[0], "reason": self.root[1]} if self.root else this
        causes = {key: value for key, value in cause.items() if key != "caused_by"}
        return {"error": {"root_cause": [causes], **this}, "status": self.status}


ILLEGAL: Final = "illegal_argument_exception"
_NOT_FOUND: Final = "resource_not_found_exception"
_NO_INDEX: Final = "index_not_found_exception"


def illegal(reason: str) -> Problem:
    """Return a 400 for a value that is not allowed."""
    return Problem(400, ILLEGAL, reason)


def memory_not_found(memory_id: str) -> Problem:
    """Return a 404 for a memory."""
    return Problem(404, _NOT_FOUND, f"Memory [{memory_id}] not found")


def message_not_found(message_id: str, *, updating: bool = False) -> Problem:
    """Return a 404 for a message; when it is to be updated, OpenSearch says it in lower case."""
    return Problem(404, _NOT_FOUND, f"{'message' if updating else 'Message'} [{message_id}] not found")


def no_access(caller: str | None, what: str, identifier: str) -> Problem:
    """Return a 401 for what is another user's; *what* is "memory" or "message"."""
    return Problem(401, "status_exception", f"User [{caller}] does not have access to {what} {identifier}")


def no_memory_index(doing: str | None = None) -> Problem:
    """Return a 404 for when no memory was ever written; *doing* is what was wanted."""
    return _no_index(MEMORY_INDEX, doing and f"{doing} since the memory index does not exist")


def no_message_index(doing: str | None = None, *, called: str = "messages") -> Problem:
    """Return a 404 for when no message was ever written."""
    return _no_index(MESSAGE_INDEX, doing and f"{doing} since the {called} index does not exist")


def _no_index(index: str, why: str | None) -> Problem:
    more = {"index": index, "index_uuid": "_na_"}
    if why is None:
        more = {"resource.type": "index_or_alias", "resource.id": index, **more}
    tail = f" and cannot {why}" if why else ""
    return Problem(404, _NO_INDEX, f"no such index [{index}]{tail}", more=more)


def window_too_large(end: int) -> Problem:
    """Return a 400 for a page behind the first 10,000."""
    return shard_failure(
        ILLEGAL,
        f"Result window is too large, from + size must be less than or equal to: [10000] but was [{end}]. See the "
        "search_after parameter for a more efficient way to request large data sets.",
    )


def shard_failure(kind: str, reason: str) -> Problem:
    """Return a 400 for what OpenSearch notices only while it searches."""
    return Problem(
        400,
        "search_phase_execution_exception",
        "all shards failed",
        root=(kind, reason),
        more={"phase": "query", "grouped": True},
    )


def conflict(index: str, identifier: str) -> Problem:
    """Return a 409 for a document that others kept changing."""
    return Problem(
        409,
        "version_conflict_engine_exception",
        f"[{identifier}]: version conflict, the document was changed meanwhile",
        more={"index": index},
    )


def too_many_connections() -> Problem:
    """Return a 503 for a request on one connection too many; clients of OpenSearch try again."""
    return Problem(
        503,
        "rejected_execution_exception",
        "too many connections are open; try again",
        headers={"Connection": "close"},
    )


_STATUSES: Final[tuple[tuple[type[HithertoError], int, str], ...]] = (
    (NotFoundError, 404, _NOT_FOUND),
    (ConflictError, 409, "version_conflict_engine_exception"),
    (InvalidArgumentError, 400, ILLEGAL),
    (ArgumentTypeError, 400, ILLEGAL),
    (BusyError, 503, "process_cluster_event_timeout_exception"),
    (ClosedError, 503, "node_closed_exception"),
    (ModelError, 502, "remote_transport_exception"),
)


def problem_of(error: HithertoError) -> Problem:
    """Return how an error of the store or of the query language is answered.

    Args:
        error: The error; what is not foreseen becomes a 500 that says nothing of the inside.

    Examples:
        >>> problem_of(BusyError("the file is locked")).status
        503
    """
    if isinstance(error, DslError):
        return Problem(
            error.status,
            error.type,
            error.reason,
            root=(error.root_cause_type, error.root_cause_reason)
            if error.root_cause_type != error.type
            else None,
            more={**error.metadata, **({"caused_by": error.caused_by} if error.caused_by else {})},
        )
    for kind, status, name in _STATUSES:
        if isinstance(error, kind):
            return Problem(status, name, str(error.args[0]) if error.args else str(error))
    return Problem(500, "exception", "the store failed; the server's log says more")
