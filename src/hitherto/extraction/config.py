"""What a thread learns from its messages, and when: what a client or a thread may configure, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.incoming import read_int
from hitherto.notset import NOT_SET, NotSetType


class MemoryExtractionMode(TextEnum):
    """Whether adding messages waits for the memories in them: INLINE waits, BACKGROUND does not."""

    INLINE = "INLINE"
    BACKGROUND = "BACKGROUND"


class MemoryLinkExtractionMode(TextEnum):
    """When links to earlier memories are found: never, in the request that extracts, or in one after it."""

    DISABLED = "DISABLED"
    DURING_EXTRACTION = "DURING_EXTRACTION"
    POST_EXTRACTION = "POST_EXTRACTION"


class MemoryExtractionImageContext(TextEnum):
    """How images take part: not at all, as images, or as their descriptions."""

    DISABLED = "disabled"
    IMAGE = "image"
    CAPTION = "caption"
    MEMORY = "memory"


class BackgroundExtractionQueueFullBehavior(TextEnum):
    """What adding messages does when too much waits: leave it undone, wait and leave it undone, or wait and raise.

    What is left undone is stored as failed, and can be run again.
    """

    DROP = "DROP"
    WAIT_THEN_DROP = "WAIT_THEN_DROP"
    WAIT_THEN_RAISE = "WAIT_THEN_RAISE"


@dataclass(frozen=True)
class MemoryExtractionConfig:
    """What is extracted from messages, and when. What is left out falls back to the client's, then to the default.

    Attributes:
        memory_extraction_window: How many messages a request sees, those to extract from and those before them; -1,
            the default, for those to extract from alone.
        context_summary_update_frequency: After how many messages the summary is refreshed; default after each call.
        memory_extraction_frequency: With a window, after how many messages memories are extracted; without one, after
            how many calls; -1, the default, for each call. Whatever is skipped comes along with the next.
        memory_extraction_token_limit: How many tokens a request has at most; more messages make more requests. Default
            100,000; < 1 for no bound.
        extract_memories: Whether memories are extracted; by default if there is a language model.
        enable_context_summary: Whether a summary is kept; by default if memories are extracted.
        memory_extraction_custom_instructions: What the language model is told beside the built-in instructions.
        memory_link_extraction_custom_instructions: The same for links.
        memory_extraction_image_context: How images take part; DISABLED by default.
        memory_extraction_inherit_message_metadata: Whether a memory gets the metadata of the messages that it came
            from, or which keys of it; True by default. Where messages differ in a key, it is left out.
        extraction_mode: BACKGROUND by default.
        memory_link_extraction_mode: POST_EXTRACTION by default.
        memory_link_extraction_token_limit: How many tokens all requests for links of one extraction have at most.
        background_extraction_queue_full_behavior: DROP by default.
        background_extraction_queue_put_timeout_seconds: How long the others wait; default 300 seconds.

    Raises:
        ArgumentTypeError: If a value has the wrong type.
        InvalidArgumentError: If a value is not allowed.

    Examples:
        >>> MemoryExtractionConfig(extraction_mode=MemoryExtractionMode.INLINE).memory_extraction_window
        NOT_SET
    """

    memory_extraction_window: int | NotSetType = NOT_SET
    context_summary_update_frequency: int | NotSetType = NOT_SET
    memory_extraction_frequency: int | NotSetType = NOT_SET
    memory_extraction_token_limit: int | NotSetType = NOT_SET
    extract_memories: bool | NotSetType = NOT_SET
    enable_context_summary: bool | NotSetType = NOT_SET
    memory_extraction_custom_instructions: str | None | NotSetType = NOT_SET
    memory_link_extraction_custom_instructions: str | None | NotSetType = NOT_SET
    memory_extraction_image_context: MemoryExtractionImageContext | NotSetType = NOT_SET
    memory_extraction_inherit_message_metadata: bool | Sequence[str] | NotSetType = NOT_SET
    extraction_mode: MemoryExtractionMode | NotSetType = NOT_SET
    memory_link_extraction_mode: MemoryLinkExtractionMode | NotSetType = NOT_SET
    memory_link_extraction_token_limit: int | NotSetType = NOT_SET
    background_extraction_queue_full_behavior: BackgroundExtractionQueueFullBehavior | NotSetType = NOT_SET
    background_extraction_queue_put_timeout_seconds: float | NotSetType = NOT_SET

    def __post_init__(self) -> None:
        """Check what was given."""
        read_values({item.name: getattr(self, item.name) for item in fields(self)})


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """What holds for a thread: every field of :class:`MemoryExtractionConfig`, with nothing left out.

    Attributes:
        memory_extraction_window: See there, as for all others.
        context_summary_update_frequency: Default -1.
        memory_extraction_frequency: Default -1.
        memory_extraction_token_limit: Default 100,000.
        extract_memories: None to extract if there is a language model.
        enable_context_summary: None to follow extract_memories.
        memory_extraction_custom_instructions: Default None.
        memory_link_extraction_custom_instructions: Default None.
        memory_extraction_image_context: Default DISABLED.
        memory_extraction_inherit_message_metadata: Default True; keys as a tuple.
        extraction_mode: Default BACKGROUND.
        memory_link_extraction_mode: Default POST_EXTRACTION.
        memory_link_extraction_token_limit: Default 100,000.
        background_extraction_queue_full_behavior: Default DROP.
        background_extraction_queue_put_timeout_seconds: Default 300.
    """

    memory_extraction_window: int = -1
    context_summary_update_frequency: int = -1
    memory_extraction_frequency: int = -1
    memory_extraction_token_limit: int = 100_000
    extract_memories: bool | None = None
    enable_context_summary: bool | None = None
    memory_extraction_custom_instructions: str | None = None
    memory_link_extraction_custom_instructions: str | None = None
    memory_extraction_image_context: MemoryExtractionImageContext = MemoryExtractionImageContext.DISABLED
    memory_extraction_inherit_message_metadata: bool | tuple[str, ...] = True
    extraction_mode: MemoryExtractionMode = MemoryExtractionMode.BACKGROUND
    memory_link_extraction_mode: MemoryLinkExtractionMode = MemoryLinkExtractionMode.POST_EXTRACTION
    memory_link_extraction_token_limit: int = 100_000
    background_extraction_queue_full_behavior: BackgroundExtractionQueueFullBehavior = (
        BackgroundExtractionQueueFullBehavior.DROP
    )
    background_extraction_queue_put_timeout_seconds: float = 300.0

    def resolved(self, *, has_llm: bool) -> ExtractionSettings:
        """Return settings in which extraction is on or off: on by default, where there is a language model."""
        if self.extract_memories is not None or not has_llm:
            return self
        return replace(self, extract_memories=True)

    @property
    def summarises(self) -> bool:
        """Whether a summary is kept."""
        if self.enable_context_summary is None:
            return bool(self.extract_memories)
        return self.enable_context_summary

    @property
    def in_background(self) -> bool:
        """Whether adding messages does not wait for their memories."""
        return self.extraction_mode is MemoryExtractionMode.BACKGROUND

    def with_given(self, given: Mapping[str, Any]) -> ExtractionSettings:
        """Return settings with what was given put in place.

        Args:
            given: Values by name; those that are NOT_SET count as not given.

        Raises:
            ArgumentTypeError: If a value has the wrong type.
            InvalidArgumentError: If a value is not allowed.
        """
        return replace(self, **read_values(given))

    def to_payload(self) -> dict[str, Any]:
        """Return the settings as a JSON object to be stored."""
        payload = {
            name: value.value if isinstance(value, TextEnum) else value
            for name, value in asdict(self).items()
        }
        if self.extract_memories is not None:
            payload["enable_context_summary"] = self.summarises
        if not math.isfinite(self.background_extraction_queue_put_timeout_seconds):
            payload["background_extraction_queue_put_timeout_seconds"] = None  # JSON has no infinity
        if isinstance(self.memory_extraction_inherit_message_metadata, tuple):
            payload["memory_extraction_inherit_message_metadata"] = list(
                self.memory_extraction_inherit_message_metadata
            )
        return payload


def config_values(config: MemoryExtractionConfig) -> dict[str, Any]:
    """Return what a configuration gives, by name.

    Args:
        config: The configuration.

    Raises:
        ArgumentTypeError: If it is none.
    """
    if not isinstance(config, MemoryExtractionConfig):
        raise ArgumentTypeError(
            f"memory_extraction_config must be a MemoryExtractionConfig, got {shown(config)}",
            argument="memory_extraction_config",
        )
    values = {item.name: getattr(config, item.name) for item in fields(config)}
    return {name: value for name, value in values.items() if value is not NOT_SET}


def settings_from_payload(payload: object, base: ExtractionSettings) -> ExtractionSettings:
    """Return the settings that were stored with a thread; what is missing is the base's.

    Args:
        payload: What :meth:`ExtractionSettings.to_payload` returned, or anything else for nothing stored.
        base: The settings of the client.
    """
    if not isinstance(payload, Mapping):
        return base
    stored = {item.name: payload[item.name] for item in fields(base) if item.name in payload}
    known = {name: value for name, value in stored.items() if value is not None or name in _INSTRUCTIONS}
    timeout = "background_extraction_queue_put_timeout_seconds"
    if timeout in stored and stored[timeout] is None:
        known[timeout] = math.inf
    for name, kind in _ENUMS.items():
        if isinstance(known.get(name), str):
            known[name] = kind(known[name])
    return base.with_given(known)


_ENUMS: Final[Mapping[str, type[TextEnum]]] = {
    "memory_extraction_image_context": MemoryExtractionImageContext,
    "extraction_mode": MemoryExtractionMode,
    "memory_link_extraction_mode": MemoryLinkExtractionMode,
    "background_extraction_queue_full_behavior": BackgroundExtractionQueueFullBehavior,
}
_WHOLE: Final = frozenset(
    {
        "memory_extraction_window",
        "context_summary_update_frequency",
        "memory_extraction_frequency",
        "memory_extraction_token_limit",
        "memory_link_extraction_token_limit",
    }
)
_INSTRUCTIONS: Final = frozenset(
    {"memory_extraction_custom_instructions", "memory_link_extraction_custom_instructions"}
)
OPTION_NAMES: Final = frozenset(item.name for item in fields(MemoryExtractionConfig))
"""The names of all options."""


def read_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check options and return them in their stored form, without those that are NOT_SET.

    Args:
        given: Values by name.

    Raises:
        ArgumentTypeError: If a value has the wrong type.
        InvalidArgumentError: If a value is not allowed.

    Examples:
        >>> read_values({"memory_extraction_window": "3", "memory_extraction_inherit_message_metadata": []})
        {'memory_extraction_window': 3, 'memory_extraction_inherit_message_metadata': False}
    """
    return {name: _value(name, value) for name, value in given.items() if value is not NOT_SET}


def _value(name: str, value: Any) -> Any:
    if name in _WHOLE:
        return read_int(value, name)
    if name in _ENUMS:
        return _member(name, value)
    if name in _INSTRUCTIONS:
        return _instructions(name, value)
    if name == "memory_extraction_inherit_message_metadata":
        return _inherited(name, value)
    if name == "background_extraction_queue_put_timeout_seconds":
        return _seconds(name, value)
    return bool(value)


def _member(name: str, value: Any) -> TextEnum:
    kind = _ENUMS[name]
    if name == "memory_extraction_image_context" and type(value) is str:
        try:
            value = kind(value)
        except ValueError:
            raise InvalidArgumentError(
                f"{name} must be one of {', '.join(item.value for item in kind)}, got {shown(value)}",
                argument=name,
            ) from None
    if not isinstance(value, kind):
        raise ArgumentTypeError(f"{name} must be a {kind.__name__}, got {shown(value)}", argument=name)
    if value is MemoryExtractionImageContext.MEMORY:
        raise InvalidArgumentError(
            f"{name} must be DISABLED, IMAGE or CAPTION: images are not extracted from by themselves",
            argument=name,
        )
    return value


def _instructions(name: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgumentError(
            f"{name} must be a text that is not blank, got {shown(value)}", argument=name
        )
    return value


def _inherited(name: str, value: Any) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    if not isinstance(value, (list, tuple)) or not all(isinstance(key, str) and key for key in value):
        raise InvalidArgumentError(
            f"{name} must be True, False or a list of keys, got {shown(value)}", argument=name
        )
    return tuple(value) or False


def _seconds(name: str, value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"{name} must be a number of seconds, got {shown(value)}", argument=name
        ) from None
    if math.isnan(seconds):
        return math.inf
    if seconds <= 0:
        raise InvalidArgumentError(f"{name} must be above 0, got {seconds}", argument=name)
    return seconds
