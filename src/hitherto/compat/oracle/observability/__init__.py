"""Names of ``oracleagentmemory.observability``."""

from __future__ import annotations

from hitherto.compat.oracle.observability.event import (
    AgentMemoryCompletedEvent,
    AgentMemoryStartedEvent,
    ApiOperationCompletedEvent,
    ApiOperationStartedEvent,
    EmbedderCompletedEvent,
    EmbedderStartedEvent,
    Event,
    LlmGenerationCompletedEvent,
    LlmGenerationStartedEvent,
    MemoryStoreCompletedEvent,
    MemoryStoreStartedEvent,
    OperationKind,
    ThreadCompletedEvent,
    ThreadStartedEvent,
)
from hitherto.compat.oracle.observability.eventlistener import (
    EventListener,
    GenericEventListener,
    emit_event,
    register_event_listeners,
)

__all__ = [
    "AgentMemoryCompletedEvent",
    "AgentMemoryStartedEvent",
    "ApiOperationCompletedEvent",
    "ApiOperationStartedEvent",
    "EmbedderCompletedEvent",
    "EmbedderStartedEvent",
    "Event",
    "EventListener",
    "GenericEventListener",
    "LlmGenerationCompletedEvent",
    "LlmGenerationStartedEvent",
    "MemoryStoreCompletedEvent",
    "MemoryStoreStartedEvent",
    "OperationKind",
    "ThreadCompletedEvent",
    "ThreadStartedEvent",
    "emit_event",
    "register_event_listeners",
]
