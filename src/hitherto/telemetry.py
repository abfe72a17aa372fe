"""Listeners that hand events on: to structured logs, and to OpenTelemetry."""

from __future__ import annotations

import json
import logging
import time
from typing import Any, ClassVar, Final

from hitherto._optional import require
from hitherto.events import CompletedEvent, Event, EventListener, StartedEvent

_NAME: Final = "hitherto"


class LoggingListener(EventListener):
    """Writes one line of JSON for each operation that ends, without ids, texts and metadata.

    Args:
        logger: The logger's name.
        level: At which level operations that succeed are logged; those that fail are warnings.

    Examples:
        >>> from hitherto import AgentMemory, register_event_listeners
        >>> with AgentMemory(":memory:", embedder=None) as memory:
        ...     with register_event_listeners([LoggingListener()]):
        ...         memory.delete_memory("m1")
        0
    """

    subscribed_events: ClassVar[tuple[type[Event], ...]] = (Event,)

    def __init__(self, logger: str = "hitherto.operations", *, level: int = logging.INFO) -> None:
        self._log = logging.getLogger(logger)
        self._level = level
        self._begun: dict[str, float] = {}

    def on_event(self, event: Event) -> None:
        """Take note of an event.

        Args:
            event: The event.
        """
        if isinstance(event, StartedEvent):
            self._begun[event.event_id] = time.perf_counter()
        elif isinstance(event, CompletedEvent):
            begun = self._begun.pop(event.started_event_id, None)
            line = event.to_dict()
            if begun is not None:
                line["seconds"] = round(time.perf_counter() - begun, 6)
            level = self._level if event.success else logging.WARNING
            self._log.log(level, json.dumps(line, default=str), extra={"hitherto": line})


class OpenTelemetryListener(EventListener):
    """Makes a span of each operation, and counts and times them. Ids, texts and metadata stay out of both.

    Args:
        tracer_provider: Where spans go; by default OpenTelemetry's global one.
        meter_provider: Where metrics go; by default OpenTelemetry's global one.

    Raises:
        MissingExtraError: If OpenTelemetry is not installed.
    """

    def __init__(self, *, tracer_provider: Any = None, meter_provider: Any = None) -> None:
        self._trace: Any = require("opentelemetry.trace", extra="otel")
        self._context: Any = require("opentelemetry.context", extra="otel")
        metrics: Any = require("opentelemetry.metrics", extra="otel")
        self._tracer = self._trace.get_tracer(_NAME, tracer_provider=tracer_provider)
        meter = metrics.get_meter(_NAME, meter_provider=meter_provider)
        self._count = meter.create_counter("hitherto.operations", description="Operations that ended.")
        self._duration = meter.create_histogram(
            "hitherto.operation.duration", unit="s", description="How long operations took."
        )
        self._open: dict[str, tuple[Any, Any, float]] = {}

    def on_event(self, event: Event) -> None:
        """Take note of an event.

        Args:
            event: The event.
        """
        if isinstance(event, StartedEvent):
            span = self._tracer.start_span(f"{event.component}.{event.method}")
            span.set_attribute("hitherto.component", event.component)
            span.set_attribute("hitherto.operation", event.operation_kind.value)
            token = self._context.attach(self._trace.set_span_in_context(span))
            self._open[event.event_id] = (span, token, time.perf_counter())
        elif isinstance(event, CompletedEvent) and event.started_event_id in self._open:
            span, token, begun = self._open.pop(event.started_event_id)
            self._context.detach(token)
            if not event.success:
                span.set_attribute("error.type", event.error_type or "unknown")
                span.set_status(self._trace.Status(self._trace.StatusCode.ERROR))
            span.end()
            labels = {
                "component": event.component,
                "method": event.method,
                "outcome": "ok" if event.success else "error",
            }
            self._count.add(1, labels)
            self._duration.record(time.perf_counter() - begun, labels)
