"""Events in the form of ``oracleagentmemory.observability.event``."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from hitherto import events
from hitherto.events import REDACTED, OperationKind
from hitherto.lifetime import utc_now


class Event(BaseModel):
    """Something that happened; dumps hide what may be sensitive, unless told otherwise."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid", frozen=True)
    sensitive: ClassVar[frozenset[str]] = frozenset({"metadata"})

    event_id: str
    timestamp: str = Field(default_factory=lambda: utc_now().isoformat())
    component: str
    event_name: str
    metadata: dict[str, Any] | None = None

    def to_observability_dict(self, mask_sensitive_information: bool = True) -> dict[str, Any]:
        """Return the fields; those that may be sensitive as "[REDACTED]" unless told otherwise.

        Args:
            mask_sensitive_information: Whether they are hidden.
        """
        return self.model_dump(mask_sensitive_information=mask_sensitive_information)

    def model_dump(self, *, mask_sensitive_information: bool = True, **kwargs: Any) -> dict[str, Any]:
        """Return the fields; those that may be sensitive as "[REDACTED]" unless told otherwise.

        Args:
            mask_sensitive_information: Whether they are hidden.
            **kwargs: What pydantic's method takes.
        """
        dumped = super().model_dump(**kwargs)
        if mask_sensitive_information:
            for name in self.sensitive & dumped.keys():
                if dumped[name] is not None:
                    dumped[name] = REDACTED
        return dumped

    def model_dump_json(self, *, mask_sensitive_information: bool = True, **kwargs: Any) -> str:
        """Return the fields as JSON; those that may be sensitive as "[REDACTED]" unless told otherwise.

        Args:
            mask_sensitive_information: Whether they are hidden.
            **kwargs: What pydantic's ``model_dump`` takes.
        """
        dumped = self.model_dump(mask_sensitive_information=mask_sensitive_information, **kwargs)
        return json.dumps(dumped, default=str)


class ApiOperationStartedEvent(Event):
    """An operation began."""

    sensitive: ClassVar[frozenset[str]] = frozenset(
        {"metadata", "arguments", "thread_id", "user_id", "agent_id"}
    )

    api_class: str
    concrete_class: str
    method: str
    operation_kind: OperationKind
    arguments: dict[str, Any] | None = None
    argument_summary: dict[str, Any] | None = None


class ApiOperationCompletedEvent(Event):
    """An operation ended."""

    sensitive: ClassVar[frozenset[str]] = frozenset(
        {"metadata", "result", "thread_id", "user_id", "agent_id"}
    )

    started_event_id: str
    api_class: str
    concrete_class: str
    method: str
    operation_kind: OperationKind
    success: bool
    result: dict[str, Any] | None = None
    result_summary: dict[str, Any] | None = None
    error_type: str | None = None


class AgentMemoryStartedEvent(ApiOperationStartedEvent):
    """An operation of a client began."""

    component: Literal["agent_memory"] = "agent_memory"
    api_class: Literal["IAgentMemory"] = "IAgentMemory"


class AgentMemoryCompletedEvent(ApiOperationCompletedEvent):
    """An operation of a client ended."""

    component: Literal["agent_memory"] = "agent_memory"
    api_class: Literal["IAgentMemory"] = "IAgentMemory"


class ThreadStartedEvent(ApiOperationStartedEvent):
    """An operation of a thread began."""

    component: Literal["thread"] = "thread"
    api_class: Literal["IThread"] = "IThread"
    thread_id: str
    user_id: str | None = None
    agent_id: str | None = None


class ThreadCompletedEvent(ApiOperationCompletedEvent):
    """An operation of a thread ended."""

    component: Literal["thread"] = "thread"
    api_class: Literal["IThread"] = "IThread"
    thread_id: str
    user_id: str | None = None
    agent_id: str | None = None


class MemoryStoreStartedEvent(ApiOperationStartedEvent):
    """An operation of a store began."""

    component: Literal["memory_store"] = "memory_store"
    api_class: Literal["IMemoryStore"] = "IMemoryStore"


class MemoryStoreCompletedEvent(ApiOperationCompletedEvent):
    """An operation of a store ended."""

    component: Literal["memory_store"] = "memory_store"
    api_class: Literal["IMemoryStore"] = "IMemoryStore"


class LlmGenerationStartedEvent(ApiOperationStartedEvent):
    """A language model was asked."""

    sensitive: ClassVar[frozenset[str]] = ApiOperationStartedEvent.sensitive | {
        "prompt",
        "response_json_schema",
        "tools",
        "llm_config",
        "llm_generation_config",
    }

    component: Literal["llm"] = "llm"
    event_name: Literal["llm.generation.started"] = "llm.generation.started"
    api_class: Literal["ILlm"] = "ILlm"
    method: Literal["generate"] = "generate"
    operation_kind: OperationKind = OperationKind.CREATE
    model: str = ""
    api_type: str = ""
    prompt: Any = None
    response_json_schema: dict[str, Any] | None = None
    tools: list[Any] | None = None
    llm_config: dict[str, Any] | None = None
    llm_generation_config: dict[str, Any] | None = None


class LlmGenerationCompletedEvent(ApiOperationCompletedEvent):
    """A language model answered, or failed."""

    sensitive: ClassVar[frozenset[str]] = ApiOperationCompletedEvent.sensitive | {
        "content",
        "tool_calls",
        "llm_config",
    }

    component: Literal["llm"] = "llm"
    event_name: Literal["llm.generation.completed"] = "llm.generation.completed"
    api_class: Literal["ILlm"] = "ILlm"
    method: Literal["generate"] = "generate"
    operation_kind: OperationKind = OperationKind.CREATE
    model: str = ""
    api_type: str = ""
    content: str | None = None
    completion_id: str | None = None
    tool_calls: list[Any] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    total_tokens: int | None = None
    llm_config: dict[str, Any] | None = None


class EmbedderStartedEvent(ApiOperationStartedEvent):
    """An embedder was asked."""

    sensitive: ClassVar[frozenset[str]] = ApiOperationStartedEvent.sensitive | {"input"}

    component: Literal["embedder"] = "embedder"
    event_name: Literal["embedder.started"] = "embedder.started"
    api_class: Literal["IEmbedder"] = "IEmbedder"
    method: Literal["embed"] = "embed"
    operation_kind: OperationKind = OperationKind.CREATE
    model: str = ""
    input: str | list[str] | None = None
    input_count: int = 0
    text_lengths: list[int] | None = None
    is_query: bool = False


class EmbedderCompletedEvent(ApiOperationCompletedEvent):
    """An embedder answered, or failed."""

    sensitive: ClassVar[frozenset[str]] = ApiOperationCompletedEvent.sensitive | {"embedding_vector"}

    component: Literal["embedder"] = "embedder"
    event_name: Literal["embedder.completed"] = "embedder.completed"
    api_class: Literal["IEmbedder"] = "IEmbedder"
    method: Literal["embed"] = "embed"
    operation_kind: OperationKind = OperationKind.CREATE
    model: str = ""
    input_count: int = 0
    is_query: bool = False
    vector_count: int | None = None
    embedding_dimension: int | None = None
    embedding_vector: list[float] | list[list[float]] | None = None


_STARTED: dict[str, type[ApiOperationStartedEvent]] = {
    "agent_memory": AgentMemoryStartedEvent,
    "thread": ThreadStartedEvent,
    "memory_store": MemoryStoreStartedEvent,
    "llm": LlmGenerationStartedEvent,
    "embedder": EmbedderStartedEvent,
}
_COMPLETED: dict[str, type[ApiOperationCompletedEvent]] = {
    "agent_memory": AgentMemoryCompletedEvent,
    "thread": ThreadCompletedEvent,
    "memory_store": MemoryStoreCompletedEvent,
    "llm": LlmGenerationCompletedEvent,
    "embedder": EmbedderCompletedEvent,
}


def _asked(event: events.StartedEvent) -> dict[str, Any]:
    arguments = event.arguments
    if event.component == "llm":
        return {name: arguments.get(name) for name in ("prompt", "response_json_schema")}
    if event.component == "embedder":
        texts = list(arguments.get("texts", ()))
        return {
            "input": texts,
            "input_count": len(texts),
            "text_lengths": [len(text) for text in texts],
            "is_query": bool(arguments.get("is_query", False)),
        }
    return {}


def converted(event: events.Event) -> Event | None:
    """Return an event of hitherto in the other package's form, or None where that has no such event.

    Args:
        event: The event.
    """
    common: dict[str, Any] = {
        "event_id": event.event_id,
        "timestamp": event.timestamp,
        "concrete_class": event.concrete_class,
    }
    if event.component not in ("llm", "embedder"):
        # Models have one operation each, and its names are the defaults.
        common.update(event_name=event.event_name, method=event.method, operation_kind=event.operation_kind)
    if event.component == "thread":
        common.update(event.scope)
    if isinstance(event, events.StartedEvent) and event.component in _STARTED:
        common.update(_asked(event))
        return _STARTED[event.component](
            arguments=dict(event.arguments), argument_summary=dict(event.argument_summary), **common
        )
    if isinstance(event, events.CompletedEvent) and event.component in _COMPLETED:
        return _COMPLETED[event.component](
            started_event_id=event.started_event_id,
            success=event.success,
            result_summary=dict(event.result_summary),
            error_type=event.error_type,
            **common,
        )
    return None


__all__ = [
    "AgentMemoryCompletedEvent",
    "AgentMemoryStartedEvent",
    "ApiOperationCompletedEvent",
    "ApiOperationStartedEvent",
    "EmbedderCompletedEvent",
    "EmbedderStartedEvent",
    "Event",
    "LlmGenerationCompletedEvent",
    "LlmGenerationStartedEvent",
    "MemoryStoreCompletedEvent",
    "MemoryStoreStartedEvent",
    "OperationKind",
    "ThreadCompletedEvent",
    "ThreadStartedEvent",
]
