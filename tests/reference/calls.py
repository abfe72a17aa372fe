"""Running recorded calls: the text of a call becomes a call again, and its outcome is compared."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hitherto.errors import HithertoError
from hitherto.lifetime import TimeToLiveAnchor
from hitherto.records import RecordStatus

_BUILTINS = {kind.__name__: kind for kind in (KeyError, RuntimeError, TypeError, TimeoutError, ValueError)}
_CALL = re.compile(
    r"(?:(?P<owner>client|thread)\.)?(?P<name>\w+)\((?P<arguments>.*)\)(?P<named>\{.*\})?", re.S
)


@dataclass(frozen=True)
class Raised:
    """A call ended with an error."""

    error: Exception

    def __str__(self) -> str:
        """Return the error's class."""
        return type(self.error).__name__


def cases(reference_data: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a file of recorded calls."""
    path = reference_data / "vectors" / "threads" / f"{name}.json"
    yield from json.loads(path.read_text(encoding="utf-8"))["cases"]


def read_call(case: dict[str, Any]) -> tuple[str, str, list[Any], dict[str, Any]]:
    """Return the owner, method, arguments and named arguments of a recorded call."""
    found = _CALL.fullmatch(case["call"])
    assert found, case["call"]
    text = found["arguments"].strip()
    values = (
        list(ast.literal_eval(f"({text},)" if text and not text.endswith(",") else f"({text})"))
        if text
        else []
    )
    named = ast.literal_eval(found["named"]) if found["named"] else {}
    if not found["named"] and values and isinstance(values[-1], dict) and "," not in text.split("{")[0][-1:]:
        named = values.pop() if len(values) > 1 or found["name"].startswith("list") else {}
    return found["owner"] or "client", found["name"], values, restored(case["id"], named)


def restored(name: str, named: dict[str, Any]) -> dict[str, Any]:
    """Return named arguments with what the recording wrote as text made a value again."""
    made = dict(named)
    if "anchor_str" not in name and isinstance(made.get("ttl_anchor"), (str, list)):
        anchor = made["ttl_anchor"]
        made["ttl_anchor"] = (
            TimeToLiveAnchor(anchor)
            if isinstance(anchor, str)
            else [TimeToLiveAnchor(item) for item in anchor]
        )
    if not name.endswith(("status_str", "status_bad")) and isinstance(made.get("status"), str):
        made["status"] = RecordStatus(made["status"])
    if name.endswith("ts_dt"):
        made["timestamp"] = datetime.fromisoformat(made["timestamp"])  # what was refused or kept is no text
    if name.endswith("nonjson"):
        made["metadata"] = {"a": object()}
    return made


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the error that it ends with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (HithertoError, TypeError) as error:
            return Raised(error)


def agrees(case: dict[str, Any], ours: Any) -> bool:
    """Return whether an outcome is the recorded one; a refusal by the recording's store may be any of ours."""
    if "raises" not in case:
        return not isinstance(ours, Raised) and _same(case["returns"], ours)
    if not isinstance(ours, Raised):
        return False
    if case["raises"] == "HarnessStoreError":
        return isinstance(ours.error, HithertoError)
    return isinstance(ours.error, _BUILTINS[case["raises"]])


def _same(recorded: Any, ours: Any) -> bool:
    if recorded == "uuid":
        return isinstance(ours, str) and len(ours) == 36
    if isinstance(recorded, list) and isinstance(ours, list):
        return len(recorded) == len(ours) and all(map(_same, recorded, ours))
    if isinstance(recorded, float) and math.isnan(recorded):
        return isinstance(ours, float) and math.isnan(ours)
    return bool(recorded == ours)
