"""Events: who hears of what, and what they keep to themselves."""

from __future__ import annotations

import dataclasses
import json
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from hitherto import (
    AgentMemory,
    CompletedEvent,
    Event,
    EventListener,
    LoggingListener,
    OpenTelemetryListener,
    StartedEvent,
    register_event_listeners,
)
from hitherto.testing.scripted import TaskLLM


class Keeper(EventListener):
    """Keeps events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        """Keep an event."""
        self.events.append(event)

    def names(self, component: str) -> list[str]:
        """Return the names of a component's events."""
        return [event.event_name for event in self.events if event.component == component]


class Starts(Keeper):
    """Keeps beginnings alone."""

    subscribed_events = (StartedEvent,)


class Broken(EventListener):
    """Fails."""

    def on_event(self, event: Event) -> None:
        """Fail."""
        raise RuntimeError("broken")


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    """Return a client with a model."""
    with AgentMemory(":memory:", embedder=None, llm=TaskLLM()) as client:
        yield client


def test_operations_tell_of_beginning_and_end(memory: AgentMemory) -> None:
    """Client, thread and store each tell, nested, and start and end share an id."""
    keeper, starts = Keeper(), Starts()
    with register_event_listeners([keeper]):
        with register_event_listeners([starts]):
            memory.add_memory("secret pizza", user_id="u1", memory_id="m1", autonomous_linking=False)
        thread = memory.create_thread(user_id="u1", thread_id="t1")
        thread.search("secret")
    memory.delete_memory("m1")
    assert keeper.names("agent_memory") == [
        "agent_memory.add_memory.started",
        "agent_memory.add_memory.completed",
        "agent_memory.create_thread.started",
        "agent_memory.create_thread.completed",
    ]
    assert keeper.names("thread") == ["thread.search.started", "thread.search.completed"]
    assert "memory_store.add.completed" in keeper.names("memory_store")
    first, last = (
        keeper.events[0],
        next(event for event in keeper.events if event.event_name == "agent_memory.add_memory.completed"),
    )
    assert isinstance(last, CompletedEvent)
    assert last.started_event_id == first.event_id
    assert first.event_id.rpartition(".")[0] == last.event_id.rpartition(".")[0]
    assert all(isinstance(event, StartedEvent) for event in starts.events)
    assert len(starts.events) < len(keeper.events)


def test_errors_are_told_by_their_class(memory: AgentMemory) -> None:
    """A call that raises ends as failed, and raises all the same; a wrong call does too."""
    keeper = Keeper()
    with register_event_listeners([keeper]):
        with pytest.raises(KeyError):
            memory.get_thread("nobody")
        with pytest.raises(TypeError):
            memory.add_memory(nonsense=1)  # type: ignore[call-arg]
    ends = [event for event in keeper.events if isinstance(event, CompletedEvent) and not event.success]
    assert [event.error_type for event in ends if event.component == "agent_memory"] == [
        "NotFoundError",
        "TypeError",
    ]


def test_events_show_no_content_unless_asked(memory: AgentMemory) -> None:
    """Ids, texts and metadata are in neither repr nor dump; on request they are in the dump."""
    keeper = Keeper()
    with register_event_listeners([keeper]):
        thread = memory.create_thread(user_id="user-1", thread_id="thread-1", metadata={"k": "mark"})
        thread.add_memory("secret pizza", memory_id="mem-1", autonomous_linking=False)
    secrets = ("secret pizza", "user-1", "thread-1", "mem-1", "mark")
    for event in keeper.events:
        text = f"{event!r} {json.dumps(event.to_dict(), default=str)}"
        assert not [secret for secret in secrets if secret in text]
    started = next(event for event in keeper.events if event.event_name == "thread.add_memory.started")
    open_dump = started.to_dict(show_content=True)
    assert open_dump["arguments"]["content"] == "secret pizza"
    assert open_dump["scope"]["user_id"] == "user-1"
    assert started.to_dict()["argument_summary"]["content"] == {"length": 12}
    with pytest.raises(dataclasses.FrozenInstanceError):
        started.component = "x"  # type: ignore[misc]


def test_a_broken_listener_breaks_nothing(memory: AgentMemory, caplog: pytest.LogCaptureFixture) -> None:
    """The operation goes on, the others are told, and the log says who failed."""
    keeper = Keeper()
    with register_event_listeners([Broken(), keeper]):
        assert memory.delete_memory("m1") == 0
    assert len(keeper.names("agent_memory")) == 2
    assert any("Broken failed" in line for line in caplog.messages)


@pytest.mark.parametrize("wrong", [None, 5, [5], [None], [Keeper]])
def test_only_listeners_are_registered(wrong: Any) -> None:
    """Anything else is a TypeError."""
    with pytest.raises(TypeError, match="listeners"), register_event_listeners(wrong):
        pass


def test_background_work_is_heard_where_it_began(memory: AgentMemory) -> None:
    """Extraction tells those who listened when the messages came; a thread of its own hears nothing."""
    keeper = Keeper()
    with register_event_listeners([keeper]):
        thread = memory.create_thread(user_id="u")
        thread.add_messages([{"role": "user", "content": "hello"}])
        thread.wait_for_memory_extraction(10)
        other = threading.Thread(target=memory.delete_memory, args=("m1",))
        other.start()
        other.join()
    assert "memory_store.search.started" in keeper.names("memory_store")
    assert "agent_memory.delete_memory.started" not in keeper.names("agent_memory")


def test_logs_are_lines_of_json(memory: AgentMemory, caplog: pytest.LogCaptureFixture) -> None:
    """Each operation that ends is one line with its duration; a failed one is a warning; nothing secret is in them."""
    with caplog.at_level(logging.INFO, "hitherto.operations"), register_event_listeners([LoggingListener()]):
        memory.add_memory("secret pizza", user_id="user-1", autonomous_linking=False)
        with pytest.raises(KeyError):
            memory.get_thread("nobody")
    records = [record for record in caplog.records if record.name == "hitherto.operations"]
    lines = [json.loads(record.message) for record in records]
    added = next(line for line in lines if line["event_name"] == "agent_memory.add_memory.completed")
    assert added["success"] is True
    assert added["seconds"] > 0
    assert any(record.levelno == logging.WARNING for record in records)
    assert "secret" not in caplog.text
    assert "user-1" not in caplog.text


def test_opentelemetry_gets_spans_and_metrics(memory: AgentMemory) -> None:
    """Spans nest as the calls do, errors are marked, operations counted and timed; nothing secret is in them."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    listener = OpenTelemetryListener(
        tracer_provider=tracers, meter_provider=MeterProvider(metric_readers=[reader])
    )
    with register_event_listeners([listener]):
        memory.add_memory("secret pizza", user_id="user-1", autonomous_linking=False)
        with pytest.raises(KeyError):
            memory.get_thread("nobody")
    spans = {span.name: span for span in exporter.get_finished_spans()}
    outer, inner = spans["agent_memory.add_memory"], spans["memory_store.add"]
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    assert spans["agent_memory.get_thread"].attributes["error.type"] == "NotFoundError"
    metrics = reader.get_metrics_data()
    assert metrics is not None
    found = {
        metric.name: metric for scope in metrics.resource_metrics[0].scope_metrics for metric in scope.metrics
    }
    assert set(found) == {"hitherto.operations", "hitherto.operation.duration"}
    assert "secret" not in str([span.to_json() for span in spans.values()])
    assert "user-1" not in str(metrics)


def test_nobody_listening_costs_next_to_nothing(memory: AgentMemory) -> None:
    """Without listeners a call takes no longer than the plain one, but for a small part."""
    plain = AgentMemory.delete_memory.__wrapped__  # type: ignore[attr-defined]

    def seconds(call: Any) -> float:
        best = 1e9
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(50):
                call(memory, "m1")
            best = min(best, time.perf_counter() - start)
        return best

    assert seconds(AgentMemory.delete_memory) < 2 * seconds(plain)
