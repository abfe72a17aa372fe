"""Reading JSON out of what a language model answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hitherto.characters import storable
from hitherto.errors import ModelOutputError, shown

_DECODER: Final = json.JSONDecoder()


def parse_json_reply(text: object) -> Any:
    r"""Return the JSON object or array in a model's reply.

    Models put JSON into code fences and words around it, though they were asked not to. What is cut off is an error:
    half an answer may say the opposite of the whole. NUL and lone surrogates, which no store takes, become U+FFFD: one
    slip in a text does not cost the others.

    Args:
        text: The reply.

    Raises:
        ModelOutputError: If there is no JSON object or array in it, or it is cut off.

    Examples:
        >>> parse_json_reply('Here you are:\n```json\n{"a": [1]}\n```')
        {'a': [1]}
        >>> parse_json_reply('{"a": [1')
        Traceback (most recent call last):
        ...
        hitherto.errors.ModelOutputError: the model must answer with JSON, got '{"a": [1'
    """
    if isinstance(text, str):
        place = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
        while place >= 0:
            try:
                return _with_storable_texts(_DECODER.raw_decode(text, place)[0])
            except ValueError:
                # A bracket in the words before the JSON; what is inside broken JSON is not looked at.
                if text[:place].strip().startswith(("{", "[")) or text[place] == "{":
                    break
                place = text.find("{", place + 1)
            except RecursionError:
                break
    raise ModelOutputError(f"the model must answer with JSON, got {shown(text)}")


def _with_storable_texts(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_with_storable_texts(item) for item in value]
    if isinstance(value, dict):
        return {_with_storable_texts(key): _with_storable_texts(item) for key, item in value.items()}
    return value


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has all of some properties and no others, as strict providers want it.

    Args:
        properties: The schema of each property.

    Examples:
        >>> closed_object({"text": {"type": "string"}})["required"]
        ['text']
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
