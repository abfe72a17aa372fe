"""Request bodies, read into what is written; all of a body is checked before anything is."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hitherto.errors import shown
from hitherto.server.problems import Problem, illegal

MOST_DEPTH: Final = 100
"""How deep objects and arrays may be nested; a deeper document cannot be read back by all clients."""

MOST_DIGITS: Final = 309
"""How many digits a whole number may have: more than any that clients can read as a floating-point number."""

_TOKENS: Final[tuple[tuple[type, str], ...]] = (
    (bool, "VALUE_BOOLEAN"),
    (str, "VALUE_STRING"),
    (int, "VALUE_NUMBER"),
    (float, "VALUE_NUMBER"),
    (list, "START_ARRAY"),
    (dict, "START_OBJECT"),
)
_NOTHING: Final = (
    "At least one of the following parameters must be non-empty: input, prompt_template, response, origin, "
    "additional_info"
)


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to create; what is None is not stored."""

    name: str | None = None
    application_type: str | None = None
    additional_info: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to create; what is None is not stored."""

    input: str | None = None
    prompt_template: str | None = None
    response: str | None = None
    origin: str | None = None
    additional_info: dict[str, str] | None = None
    parent_message_id: str | None = None
    trace_number: int | None = None


def parse_json(raw: bytes, *, kind: str = "json_parse_exception") -> Any:
    """Read a body; strictly: no key twice, no NaN, no number without end, nothing that is no Unicode text.

    Args:
        raw: The body.
        kind: The type of the error.

    Raises:
        Problem: If it is no JSON; ``json_e_o_f_exception`` where it ends too early.

    Examples:
        >>> parse_json(b'{"a": 1}')
        {'a': 1}
    """
    try:
        text = raw.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=_whole_number,
            parse_float=_number,
        )
    except UnicodeDecodeError as error:
        raise Problem(400, kind, f"the body is not UTF-8: byte {error.start} {error.reason}") from None
    except json.JSONDecodeError as error:
        ended = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        if ended and kind == "json_parse_exception":
            kind = "json_e_o_f_exception"
        raise Problem(
            400, kind, f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise Problem(400, kind, f"the body is nested deeper than {MOST_DEPTH}") from None
    except ValueError as error:
        raise Problem(400, kind, f"the body is not JSON: {error}") from None
    _check(value, kind)
    return value


def read_new_memory(raw: bytes) -> NewMemory:
    """Read the body of a memory to create; anything but an object gives an unnamed memory.

    Args:
        raw: The body, maybe empty.

    Raises:
        Problem: If it is no JSON, or a field has the wrong type.

    Examples:
        >>> read_new_memory(b'{"name": "trip", "color": "red"}').name
        'trip'
    """
    body = parse_json(raw, kind="parse_exception") if raw.strip() else None
    if not isinstance(body, dict):
        return NewMemory()
    for name, wanted in (("name", str), ("application_type", str), ("additional_info", dict)):
        value = body.get(name)
        if value is not None and not isinstance(value, wanted):
            kind = "a string" if wanted is str else "an object"
            raise Problem(400, "parse_exception", f"{name} must be {kind}, got {shown(value)}")
    return NewMemory(
        _said(body.get("name")), _said(body.get("application_type")), body.get("additional_info") or None
    )


def read_new_message(raw: bytes) -> NewMessage:
    """Read the body of a message to create.

    Args:
        raw: The body.

    Raises:
        Problem: If it is absent, no JSON, no object, says nothing, or a field has the wrong type.

    Examples:
        >>> read_new_message(b'{"input": 42, "response": " "}')
        NewMessage(input='42', prompt_template=None, response=None, origin=None, additional_info=None, \
parent_message_id=None, trace_number=None)
    """
    if not raw.strip():
        raise Problem(400, "parse_exception", "request body is required")
    body = _object(parse_json(raw))
    texts = {
        name: _said(_scalar(body.get(name), name))
        for name in ("input", "prompt_template", "response", "origin")
    }
    information = _strings(body.get("additional_info"))
    parent = body.get("parent_message_id")
    if parent is not None and not isinstance(parent, str):
        raise illegal(f"parent_message_id must be a string, got {shown(parent)}")
    number = _whole(body.get("trace_number"))
    if not information and not any(texts.values()):
        raise illegal(_NOTHING)
    if parent is None or number is None:
        parent = number = None
    return NewMessage(**texts, additional_info=information, parent_message_id=parent, trace_number=number)


def read_update(raw: bytes, *, what: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """Read the body of an update; only the keys that can be changed are returned.

    Args:
        raw: The body.
        what: "conversation" or "interaction", for the message.
        texts: The keys that are texts.

    Raises:
        Problem: If it is absent, no JSON, no object, or a field has the wrong type.

    Examples:
        >>> read_update(b'{"name": "b", "color": 1}', what="conversation", texts=("name",))
        {'name': 'b'}
    """
    if not raw.strip():
        raise Problem(400, "parse_exception", f"Failed to update {what}: Request body is empty")
    body = _object(parse_json(raw))
    found = {name: body[name] for name in (*texts, "additional_info") if name in body}
    for name, value in found.items():
        wanted = str if name in texts else dict
        if not isinstance(value, wanted):
            kind = "a string" if wanted is str else "an object"
            raise Problem(400, "mapper_parsing_exception", f"{name} must be {kind}, got {shown(value)}")
    return found


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a partial document: objects recursively, anything else replaces.

    Args:
        old: The document.
        new: What is put over it.

    Examples:
        >>> merged({"a": {"x": 1, "y": [1]}}, {"a": {"y": [2]}, "b": None})
        {'a': {'x': 1, 'y': [2]}, 'b': None}
    """
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[key] = merged(before, value) if both else value  # type: ignore[arg-type]  # mappings, if both are
    return result


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"Duplicate field {twice!r}")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _whole_number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number has {len(text)} digits, more than {MOST_DIGITS}")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{shown(text)} is too large for a number")
    return value


def _check(value: Any, kind: str) -> None:
    """Refuse what cannot be stored and given back: too deep, or text with half of a surrogate pair."""
    level = [value]
    for _ in range(MOST_DEPTH):
        for item in level:
            if isinstance(item, str):
                _check_text(item, kind)
            elif isinstance(item, dict):
                for key in item:
                    _check_text(key, kind)
        level = [child for item in level for child in _children(item)]
        if not level:
            return
    raise Problem(400, kind, f"the body is nested deeper than {MOST_DEPTH}")


def _children(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return item if isinstance(item, list) else []


def _check_text(text: str, kind: str) -> None:
    if "\0" in text:
        raise Problem(400, kind, "the body has a text with the character U+0000, which cannot be stored")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Problem(400, kind, "the body has a text with half of a surrogate pair") from None


def _object(body: Any) -> dict[str, Any]:
    if isinstance(body, dict):
        return body
    token = next((name for kind, name in _TOKENS if isinstance(body, kind)), "VALUE_NULL")
    raise Problem(
        400,
        "parsing_exception",
        f"Failed to parse object: expecting token of type [START_OBJECT] but found [{token}]",
        more={"line": 1, "col": 1},
    )


def _scalar(value: Any, name: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return json.dumps(value)
    raise illegal(f"{name} must be a string, a number or a boolean, got {shown(value)}")


def _strings(value: Any) -> dict[str, str] | None:
    if not isinstance(value, dict):
        if value is None or isinstance(value, str):
            return None
        raise illegal(f"additional_info must be an object, got {shown(value)}")
    texts = {key: _scalar(item, f"additional_info.{key}") for key, item in value.items()}
    return {key: text for key, text in texts.items() if text is not None} or None


def _whole(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, str):
        raise illegal("Integer value passed as String")
    if isinstance(value, float):
        if not value.is_integer():
            raise illegal(f"{value} cannot be converted to Integer without data loss")
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise illegal(f"trace_number must be an integer, got {shown(value)}")
    if not -(2**31) <= value < 2**31:
        raise illegal(f"trace_number must be an integer of 32 bits, got {value}")
    return value


def _said(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None
