"""What lists and searches have in common: the bounds of a page, and where a search body stands."""

from __future__ import annotations

from typing import Final

from hitherto.server.calls import Call
from hitherto.server.problems import Problem, illegal

SOURCE: Final = ("source", "source_content_type")
_NOT_POSITIVE: Final = {
    "memories": "Can't list 0 or negative conversations",
    "interactions": "The number of interactions to retrieve must be positive",
    "traces": "The number of traces to retrieve must be positive",
}


def read_page(call: Call, what: str) -> tuple[int, int]:
    """Return how many results are left out, and how many are returned at most.

    Args:
        call: The request.
        what: "memories", "interactions" or "traces", for messages.

    Raises:
        Problem: If either is no number, or not allowed.
    """
    most, skip = call.whole("max_results", 10), call.whole("next_token", 0)
    wrong = [_NOT_POSITIVE[what]] if most <= 0 else []
    if skip < 0 and what != "memories":
        wrong.append("The starting position must be nonnegative")
    if wrong:
        told = "".join(f"{place}: {text};" for place, text in enumerate(wrong, 1))
        raise Problem(400, "action_request_validation_exception", f"Validation Failed: {told}")
    if skip < 0:
        raise illegal(f"[from] parameter cannot be negative but was [{skip}]")
    return skip, most


def search_body(call: Call) -> bytes:
    """Return the body of a search, from the body or the parameter *source*.

    Args:
        call: The request.

    Raises:
        Problem: If there is none, or *source* is not said to be JSON.
    """
    if call.raw.strip():
        return call.raw
    source = call.params.get("source")
    if not source:
        raise Problem(400, "parse_exception", "request body or source parameter is required")
    kind = call.params.get("source_content_type")
    if kind is None:
        raise Problem(
            400, "illegal_state_exception", "source and source_content_type parameters are required"
        )
    if kind.partition(";")[0].strip().lower() != "application/json":
        raise illegal(f"source_content_type must be [application/json], got [{kind}]")
    return source.encode("utf-8", "surrogatepass")
