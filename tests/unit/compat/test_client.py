"""The client with the original's arguments: what maps, what does nothing, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from hitherto import ArgumentTypeError, InvalidArgumentError
from hitherto.compat.oracle.cli import main
from hitherto.compat.oracle.core import (
    OracleAgentMemory,
    OracleDBMemoryStore,
    SchemaPolicy,
    SearchIndexSyncMode,
)
from hitherto.compat.oracle.core.llms.llm import Llm
from hitherto.compat.oracle.observability import (
    AgentMemoryStartedEvent,
    EmbedderStartedEvent,
    Event,
    EventListener,
    GenericEventListener,
    LlmGenerationStartedEvent,
    ThreadStartedEvent,
    emit_event,
    register_event_listeners,
)
from hitherto.testing.provider import ScriptedProvider, chat_reply
from hitherto.testing.scripted import HashEmbedder


class Connection:
    """Looks like a connection of the package oracledb."""


Connection.__module__ = "oracledb.connection"


@pytest.mark.parametrize("given", ["path", "url", "engine"])
def test_what_hitherto_opens_is_a_connection(given: str, tmp_path: Path) -> None:
    """A path, a URL and an engine lead to the same file."""
    path = tmp_path / "memory.db"
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    connection: Any = {"path": path, "url": f"sqlite:///{path}", "engine": engine}[given]
    with OracleAgentMemory(connection=connection, embedder=None) as memory:
        memory.create_thread(thread_id="t1", user_id="mia")
    with OracleAgentMemory(connection=path, embedder=None) as again:
        assert again.get_thread("t1").user_id == "mia"


def test_an_oracle_connection_is_refused() -> None:
    """The error names the adapter."""
    with pytest.raises(InvalidArgumentError, match=r"needs an Oracle database.*as_oracle_store\(store\)"):
        OracleAgentMemory(connection=Connection())


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        (Connection(), r"needs an Oracle database.*pool=\"memory\.db\""),
        (
            "postgresql://db.example.org/memory",
            "pool must be a file here, got a URL that starts with 'postgresql'",
        ),
        (3, "pool must be a path, a URL or an SQLAlchemy engine, got 3"),
    ],
)
def test_a_store_of_ones_own_is_a_file(pool: Any, said: str) -> None:
    """What is no file is refused by name, and a URL without what may be secret in it."""
    with pytest.raises((InvalidArgumentError, ArgumentTypeError), match=said):
        OracleDBMemoryStore(None, pool, SchemaPolicy.CREATE_IF_NECESSARY)


def test_the_dimension_of_a_store_is_its_embedders(tmp_path: Path) -> None:
    """Another one is refused before there is a file."""
    path = tmp_path / "memory.db"
    with pytest.raises(InvalidArgumentError, match=r"vector_dim must be the embedder's \(16\), got 8"):
        OracleDBMemoryStore(HashEmbedder(16), path, SchemaPolicy.CREATE_IF_NECESSARY, vector_dim=8)
    assert not path.exists()


def test_another_connection_is_refused() -> None:
    """The error names the argument and what came."""
    with pytest.raises(
        ArgumentTypeError, match="connection must be a path, a URL or an SQLAlchemy engine, got 3"
    ):
        OracleAgentMemory(connection=3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory_store_id", "s1"),
        ("table_name_prefix", "P_"),
        ("schema_owner", "HR"),
        ("search_index_sync", next(iter(SearchIndexSyncMode))),
    ],
)
def test_options_of_a_database_say_that_they_do_nothing(name: str, value: object) -> None:
    """A warning names the option; a wrong type is an error all the same."""
    options: dict[str, Any] = {name: value}
    with pytest.warns(UserWarning, match=f"{name} does nothing here"):
        OracleAgentMemory(connection=":memory:", embedder=None, **options).close()
    with pytest.raises(ArgumentTypeError, match=f"{name} must be a"):
        OracleAgentMemory(connection=":memory:", embedder=None, **{name: 3})  # type: ignore[arg-type]


def test_options_of_a_store_are_refused_beside_a_store() -> None:
    """What is configured on the store cannot be given with it."""
    with OracleAgentMemory(connection=":memory:", embedder=None) as memory:
        for name, value in (("schema_owner", "HR"), ("schema_policy", "create_if_necessary")):
            options: dict[str, Any] = {name: value}
            with pytest.raises(InvalidArgumentError, match=f"{name} must be configured on the store itself"):
                OracleAgentMemory(store=memory.store, **options)


def test_neither_store_nor_connection_is_refused() -> None:
    """One of them must be given."""
    with pytest.raises(InvalidArgumentError):
        OracleAgentMemory()


def test_the_command_says_that_there_is_nothing_to_set_up(capsys: pytest.CaptureFixture[str]) -> None:
    """``oam install-plsql`` succeeds."""
    assert main(["install-plsql"]) == 0
    assert "needs no set-up" in capsys.readouterr().out


def test_listeners_get_events_of_the_originals_form() -> None:
    """Classes, names and masked dumps are the original's; a filter by class holds."""
    seen: list[Event] = []
    threads: list[ThreadStartedEvent] = []

    class Everything(EventListener):
        def on_event(self, event: Event) -> None:
            seen.append(event)

    with (
        OracleAgentMemory(connection=":memory:", embedder=None) as memory,
        register_event_listeners([Everything(), GenericEventListener(ThreadStartedEvent, threads.append)]),
    ):
        thread = memory.create_thread(thread_id="t1", user_id="mia")
        thread.add_messages([{"role": "user", "content": "my secret"}])
    assert isinstance(seen[0], AgentMemoryStartedEvent)
    assert [event.method for event in threads] == ["add_messages"]
    masked = threads[0].model_dump()
    assert (masked["thread_id"], masked["arguments"]) == ("[REDACTED]", "[REDACTED]")
    assert "my secret" not in threads[0].model_dump_json()
    assert threads[0].to_observability_dict(mask_sensitive_information=False)["thread_id"] == "t1"


def test_models_tell_what_they_are_asked() -> None:
    """A language model's event has the prompt, masked in dumps."""
    seen: list[LlmGenerationStartedEvent] = []
    with ScriptedProvider([chat_reply("hello")]) as provider:
        llm = Llm("openai/tiny", api_base=provider.url, api_key="k")
        with register_event_listeners([GenericEventListener(LlmGenerationStartedEvent, seen.append)]):
            assert llm.generate("my secret").text == "hello"
    [event] = seen
    assert (event.event_name, event.method, event.prompt) == (
        "llm.generation.started",
        "generate",
        "my secret",
    )
    assert "my secret" not in event.model_dump_json()


def test_a_programs_own_events_reach_the_listeners() -> None:
    """emit_event hands an event to those that want its class."""
    seen: list[EmbedderStartedEvent] = []
    event = EmbedderStartedEvent(event_id="1", concrete_class="Mine", model="m", input="text", input_count=1)
    with register_event_listeners([GenericEventListener(EmbedderStartedEvent, seen.append)]):
        emit_event(event)
    assert seen == [event]
    with (
        pytest.raises(ArgumentTypeError, match="takes a list of EventListener"),
        register_event_listeners([3]),
    ):  # type: ignore[list-item]
        pass
