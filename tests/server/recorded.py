"""Plays recorded requests against the server and compares the answers."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

MISSING = object()


def at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path, or MISSING."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            return MISSING
    return value


def filled(value: Any, captured: dict[str, Any]) -> Any:
    """Put captured values in place of ``{name}``."""
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda found: str(captured.get(found[1], found[0])), value)
    if isinstance(value, list):
        return [filled(item, captured) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, captured) for key, item in value.items()}
    return value


def differences(wanted: Any, got: Any, captured: dict[str, Any], where: str = "$") -> list[str]:
    """Return what is not as the recording wants it."""
    if isinstance(wanted, dict) and any(key.startswith("$") for key in wanted):
        return [] if _matches(wanted, got, captured) else [f"{where}: wanted {wanted}, got {got!r}"]
    if got is MISSING:
        return [f"{where}: missing"]
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [f"{where}: wanted an object, got {got!r}"]
        return [
            text
            for key, item in wanted.items()
            for text in _inside(item, got, key, captured, f"{where}.{key}")
        ]
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return [f"{where}: wanted {len(wanted)} items, got {got!r}"]
        return [
            text
            for place, (one, other) in enumerate(zip(wanted, got, strict=True))
            for text in differences(one, other, captured, f"{where}[{place}]")
        ]
    return [] if wanted == got else [f"{where}: wanted {wanted!r}, got {got!r}"]


def _inside(wanted: Any, got: dict[str, Any], key: str, captured: dict[str, Any], where: str) -> list[str]:
    if isinstance(wanted, dict):
        for name, sign in (("$gt_field", 1), ("$eq_field", 0)):
            if name in wanted:
                mine, other = instant(got[key]), instant(got[wanted[name]])
                fits = mine > other if sign else mine == other
                return [] if fits else [f"{where}: {got[key]} against {got[wanted[name]]}"]
    return differences(wanted, got.get(key, MISSING), captured, where)


def _matches(wanted: dict[str, Any], got: Any, captured: dict[str, Any]) -> bool:
    kinds = {"string": str, "integer": int}
    checks = {
        "$absent": lambda v: (got is MISSING) == v,
        "$any": lambda v: got is not MISSING,
        "$regex": lambda v: isinstance(got, str) and re.search(v, got) is not None,
        "$ref": lambda v: got == captured[v],
        "$eq": lambda v: got == filled(v, captured),
        "$len": lambda v: isinstance(got, list) and len(got) == v,
        "$type": lambda v: isinstance(got, kinds[v]) and not isinstance(got, bool),
        "$gt": lambda v: instant(got) > instant(filled(v, captured)),
        "$one_of": lambda v: any(abs(got - one) < 1e-5 for one in v),
        # The first is what 3.x gives, which is the profile that is served.
        "$approx": lambda v: abs(got - v[0]) <= wanted["tol"],
        "tol": lambda v: True,
    }
    return all(checks[name](value) for name, value in wanted.items())


def instant(text: str) -> datetime:
    """Return the time that a text says."""
    head, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{head}.{fraction[:6].ljust(6, '0')}+00:00")


def request_of(step: dict[str, Any], captured: dict[str, Any]) -> dict[str, Any]:
    """Return a step as the arguments of an HTTP client's request."""
    made: dict[str, Any] = {
        "method": step["method"],
        "url": filled(step["path"], captured),
        "params": step.get("query") or {},
        "headers": dict(step.get("headers") or {}),
    }
    if step.get("raw_body") is not None:
        made["content"] = step["raw_body"].encode()
    elif step.get("body") is not None:
        made["content"] = json.dumps(filled(step["body"], captured)).encode()
    if "content" in made:
        made["headers"].setdefault("Content-Type", "application/json")
    return made
