"""Prompts in the form of OpenAI's chat API, which most providers take."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, ModelOutputError, shown
from hitherto.images import ImageLimits, check_for_model
from hitherto.messages import ImageContent, Message, TextContent


def chat_messages(prompt: Any, *, limits: ImageLimits) -> list[dict[str, Any]]:
    """Return a prompt as chat messages.

    Args:
        prompt: A text, or a sequence of :class:`Message` or ``{"role": ..., "content": ...}``.
        limits: How large images may be.

    Raises:
        ArgumentTypeError: If it is neither.
        InvalidArgumentError: If an image is too large, broken, or without its bytes.

    Examples:
        >>> chat_messages("hello", limits=ImageLimits())
        [{'role': 'user', 'content': 'hello'}]
    """
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    if isinstance(prompt, Mapping) or not isinstance(prompt, Sequence):
        raise ArgumentTypeError(
            f"prompt must be a str or a sequence of messages, got {shown(prompt)}", argument="prompt"
        )
    images = [
        part
        for item in prompt
        if isinstance(item, Message) and not isinstance(item.content, str)
        for part in item.content
        if isinstance(part, ImageContent)
    ]
    if any(image.bytes is None for image in images):
        raise InvalidArgumentError("an image in a prompt must have its bytes", argument="prompt")
    if images:
        check_for_model([(image.bytes or b"", image.mime_type) for image in images], limits)
    return [_message(item) for item in prompt]


def _message(item: object) -> dict[str, Any]:
    if isinstance(item, Message):
        content: Any = item.content
        return {
            "role": item.role,
            "content": content if isinstance(content, str) else [_part(part) for part in content],
        }
    if not isinstance(item, Mapping) or not isinstance(item.get("role"), str) or "content" not in item:
        raise ArgumentTypeError(
            f"prompt must hold messages with role and content, got {shown(item)}", argument="prompt"
        )
    return dict(item)


def _part(part: object) -> dict[str, Any]:
    if isinstance(part, TextContent):
        return {"type": "text", "text": part.text}
    assert isinstance(part, ImageContent)  # noqa: S101  there are two kinds of parts
    data = base64.b64encode(part.bytes or b"").decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime_type.value};base64,{data}"}}


def response_format(schema: dict[str, Any]) -> dict[str, Any]:
    """Return how a provider is asked for JSON of a schema.

    Args:
        schema: The JSON schema.

    Raises:
        ArgumentTypeError: If it is no dict.

    Examples:
        >>> response_format({"title": "card", "type": "object"})["json_schema"]["name"]
        'card'
    """
    if not isinstance(schema, dict):
        raise ArgumentTypeError(
            f"response_json_schema must be a dict or None, got {shown(schema)}",
            argument="response_json_schema",
        )
    name = schema.get("title")
    named = name if isinstance(name, str) and name else "response"
    return {"type": "json_schema", "json_schema": {"name": named, "strict": True, "schema": schema}}


def answer_text(answer: object) -> str:
    """Return the text of a chat completion.

    Args:
        answer: The completion, as decoded JSON.

    Raises:
        ModelOutputError: If it has none.

    Examples:
        >>> answer_text({"choices": [{"message": {"content": "hello"}}]})
        'hello'
    """
    choices = answer.get("choices") if isinstance(answer, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, str):
        raise ModelOutputError(
            f"the provider must answer with choices[0].message.content, got {shown(answer)}"
        )
    return content
