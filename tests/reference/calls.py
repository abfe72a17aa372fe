"""Running recorded calls: the text of a call becomes a call again, and its outcome is compared."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hitherto.errors import HithertoError
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.messages import Message, TextContent
from hitherto.records import RecordStatus

_ERRORS = {kind.__name__: kind for kind in (KeyError, RuntimeError, TypeError, ValueError)}
_CALL = re.compile(r"(?:(client|thread)\.)?(\w+)\((.*?),?\)?(\{.*\})?\)?", re.DOTALL)


@dataclass(frozen=True)
class Raised:
    """A call ended with an error.

    Attributes:
        error: The error.
    """

    error: Exception


@dataclass(frozen=True)
class Call:
    """A recorded call.

    Attributes:
        owner: "client" or "thread".
        name: The method.
        arguments: Its arguments by position.
        named: Its arguments by name.
    """

    owner: str
    name: str
    arguments: tuple[Any, ...]
    named: dict[str, Any]


def cases(reference_data: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a file of recorded calls."""
    path = reference_data / "vectors" / "threads" / f"{name}.json"
    yield from json.loads(path.read_text(encoding="utf-8"))["cases"]


def read_call(case: dict[str, Any]) -> Call:
    """Return the call of a case."""
    found = _CALL.fullmatch(case["call"])
    assert found, case["call"]
    owner, name, arguments, named = found.groups()
    values = ast.literal_eval(f"({arguments},)") if arguments else ()
    return Call(owner or "client", name, values, restored(case["id"], ast.literal_eval(named or "{}")))


def restored(name: str, named: dict[str, Any]) -> dict[str, Any]:
    """Return named arguments, with what the recording of that name wrote as text made a value again."""
    made = dict(named)
    if "anchor_str" not in name and made.get("ttl_anchor") is not None:
        anchor = made["ttl_anchor"]
        several = isinstance(anchor, list)
        made["ttl_anchor"] = (
            [TimeToLiveAnchor(item) for item in anchor] if several else TimeToLiveAnchor(anchor)
        )
    if not name.endswith(("status_str", "status_bad")) and "status" in made:
        made["status"] = RecordStatus(made["status"])
    if name.endswith("ts_dt"):
        made["timestamp"] = datetime.fromisoformat(made["timestamp"])
    if name.endswith("nonjson"):
        made["metadata"] = {"a": object()}
    return made


def parts(value: Any) -> Any:
    """Return a recorded message with its parts and bytes made again."""
    if isinstance(value, list):
        return [parts(item) for item in value]
    if isinstance(value, str) and (found := re.fullmatch(r"<bytes (\d+)>", value)):
        return b"x" * int(found[1])
    if not isinstance(value, dict):
        return value
    fields = {key: parts(item) for key, item in value.items()}
    kind = fields.pop("__class__", None)
    return {"Message": Message, "TextContent": TextContent}[kind](**fields) if kind else fields


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the error that it ends with."""
    try:
        return call()
    except (HithertoError, TypeError, AttributeError) as error:
        return Raised(error)


def differences(compared: list[tuple[dict[str, Any], Any]]) -> dict[str, str]:
    """Return, for each case whose outcome is not the recorded one, what came: an error's class or "returned"."""
    return {
        case["id"]: type(ours.error).__name__ if isinstance(ours, Raised) else "returned"
        for case, ours in compared
        if not _agrees(case, ours)
    }


def _agrees(case: dict[str, Any], ours: Any) -> bool:
    if "raises" not in case:
        return not isinstance(ours, Raised) and _same(case["returns"], ours)
    if not isinstance(ours, Raised):
        return False
    if case["raises"] == "HarnessStoreError":  # the recording's store refused: which error is ours to choose
        return isinstance(ours.error, HithertoError)
    return isinstance(ours.error, _ERRORS.get(case["raises"], AttributeError))


def _same(recorded: Any, ours: Any) -> bool:
    if recorded == "uuid":
        return isinstance(ours, str) and len(ours) == 36
    if isinstance(recorded, str) and (found := re.fullmatch(r"str\[(\d+)\]", recorded)):
        return isinstance(ours, str) and len(ours) == int(found[1])
    if isinstance(recorded, list) and isinstance(ours, list):
        return len(recorded) == len(ours) and all(map(_same, recorded, ours))
    if isinstance(recorded, dict) and isinstance(ours, dict):
        return recorded.keys() == ours.keys() and all(_same(recorded[key], ours[key]) for key in recorded)
    return bool(recorded == ours)
