"""Arguments of a wrong type: each parameter of each public verb and constructor refuses them, by its own name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hitherto import (
    AgentMemory,
    HttpReranker,
    ImageInputLimitConfig,
    LocalCrossEncoder,
    LocalEmbedder,
    MemoryExtractionConfig,
    MemoryRetentionConfig,
    Message,
    OpenAICompatibleLLM,
    PruningMemorySearchConfig,
    SearchResultFormatConfig,
    SearchScope,
    SQLiteStore,
    TopKMemorySearchConfig,
)
from hitherto.errors import ArgumentTypeError, ConflictError, InvalidArgumentError, NotFoundError
from hitherto.server.app import create_app
from hitherto.store.settings import SearchSettings
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder, ScriptedLLM
from hitherto.thread import Thread

PNG = b"\x89PNG\r\n\x1a\n..."
LINK = {
    "source_record_id": "m2",
    "source_record_type": "fact",
    "target_record_id": "m1",
    "target_record_type": "fact",
    "relation_type": "knows",
}
LINKED = {"content": "three", "memory_id_to_link": "m1", "link_type": "supports"}

IN_BOTH: dict[str, dict[str, Any]] = {
    "add_image": {"image": PNG, "description": "a cat", "user_id": "u"},
    "add_memory": LINKED,
    "delete_image": {"image_id": "i"},
    "delete_memory": {"memory_id": "m1"},
    "delete_record_link": {"relation_id": "l"},
    "link_records": LINK,
    "list_images": {"user_id": "u"},
    "search": {"query": "hello", "user_id": "u"},
    "update_image": {"image_id": "i"},
    "update_memory": {"memory_id": "m1"},
    "update_record_link": {"relation_id": "l", "metadata": {}},
    "wait_for_memory_extraction": {},
}
OF_CLIENT: dict[str, dict[str, Any]] = {
    **IN_BOTH,
    "add_agent": {"agent_id": "a2", "information": "x"},
    "add_user": {"user_id": "u2", "information": "x"},
    "cancel_extractions": {},
    "close": {},
    "create_thread": {},
    "delete_agent": {"agent_id": "a"},
    "delete_thread": {"thread_id": "t"},
    "delete_user": {"user_id": "u"},
    "get_thread": {"thread_id": "t"},
    "list_agents": {},
    "list_extractions": {},
    "list_memories": {},
    "list_messages": {},
    "list_threads": {"user_id": "u"},
    "list_users": {},
    "retry_extractions": {},
    "update_thread": {"thread_id": "t"},
}
OF_THREAD: dict[str, dict[str, Any]] = {
    **IN_BOTH,
    "add_messages": {"messages": [{"role": "user", "content": "hello"}]},
    "delete_message": {"message_id": "msg"},
    "get_context_card": {},
    "get_message": {"message_id": "msg"},
    "get_messages": {},
    "get_summary": {},
    "list_images": {},
    "update_message": {"message_id": "msg"},
}
RECORD = {"record_type": "fact", "record_id": "m1"}
OF_STORE: dict[str, dict[str, Any]] = {
    "add": {"contents": ["x"], "record_type": "fact"},
    "add_agent": {"agent_id": "a2", "information": "x"},
    "add_batches": {"batches": []},
    "add_relations": {f"{name}s": value for name, value in LINK.items()},
    "add_user": {"user_id": "u2", "information": "x"},
    "close": {},
    "create_thread_record": {"thread_id": "t2"},
    "delete": RECORD,
    "delete_relations": {"relation_ids": "l"},
    "delete_thread": {"thread_id": "t"},
    "erase_user": {"user_id": "u"},
    "get": RECORD,
    "get_relation": {"relation_id": "l"},
    "get_thread_record": {"thread_id": "t"},
    "list": {"record_type": "fact"},
    "list_memories": {},
    "list_relations": {},
    "list_thread_messages": {"thread_id": "t"},
    "purge_expired": {},
    "record_expiration": RECORD,
    "reembed": {},
    "search": {"query": "hello"},
    "search_hits": {"query": "hello"},
    "statistics": {},
    "update": RECORD,
    "update_relations": {"relation_ids": "l", "metadata": {}},
    "update_thread_record": {"thread_id": "t"},
}
TABLES: dict[str, dict[str, dict[str, Any]]] = {
    "client": OF_CLIENT,
    "thread": OF_THREAD,
    "store": OF_STORE,
}
"""Arguments with which each verb could be called."""
STEPS = {"add_write_step", "change_within", "consult", "read_jobs", "transact", "transact_jobs"}
"""Verbs that run a function of the program's."""
NAMES_NOTHING = {
    ("client", verb, argument)
    for verb, argument in (
        ("get_thread", "thread_id"),
        ("update_thread", "thread_id"),
        ("delete_thread", "thread_id"),
    )
} | {
    (owner, verb, argument)
    for owner in ("client", "thread")
    for verb, argument in (
        ("add_memory", "memory_id_to_link"),
        ("delete_image", "image_id"),
        ("delete_memory", "memory_id"),
        ("delete_message", "message_id"),
        ("get_message", "message_id"),
        ("link_records", "source_record_id"),
        ("link_records", "target_record_id"),
        ("update_image", "image_id"),
        ("update_memory", "memory_id"),
        ("update_message", "message_id"),
    )
}
"""As recorded: what is no id is the id of nothing."""
TAKEN = {
    # As recorded, a client without a language model has nothing to wait for and does not look.
    ("client", "wait_for_memory_extraction", "timeout")
}


def wrong_values(parameter: inspect.Parameter) -> Iterator[Any]:
    """Yield values of types that a parameter does not take."""
    annotation = str(parameter.annotation)
    yield object()
    if "bool" in annotation:
        yield "no"
    if "str" in annotation and "int" not in annotation:
        yield 5


@contextmanager
def opened(owner: str) -> Iterator[Any]:
    """Yield a filled client, a thread of it, or its store; what is refused must have changed nothing."""
    store = SQLiteStore(embedder=HashEmbedder()) if owner == "store" else ReferenceStore()
    with store, AgentMemory(store=store) as memory:
        thread = memory.create_thread(thread_id="t", user_id="u", agent_id="a")
        memory.add_user("u", "x")
        memory.add_agent("a", "x")
        thread.add_messages([{"role": "user", "content": "hello", "id": "msg"}])
        for name in ("m1", "m2"):
            thread.add_memory(name, memory_id=name, memory_type="fact")
        thread.add_image(PNG, "a cat", image_id="i")
        memory.link_records(**{**LINK, "relation_type": "supports"}, relation_id="l")
        before = stored(store)
        yield {"client": memory, "thread": thread, "store": store}[owner]
        assert stored(store) == before


def stored(store: Any) -> list[Any]:
    """Return what is in a store."""
    kinds = ("thread", "message", "fact", "memory", "image", "user_profile", "agent_profile")
    return [store.list(kind) for kind in kinds] + [store.list_relations()]


def check_refusal(call: Callable[[], object], name: str) -> None:
    """Assert that a call is refused for one of its arguments."""
    with pytest.raises((ArgumentTypeError, InvalidArgumentError)) as caught:
        call()
    assert caught.value.argument == name, str(caught.value)
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize(
    ("owner", "verb"), [(owner, verb) for owner, table in TABLES.items() for verb in table]
)
def test_each_argument_of_a_verb_is_refused_by_its_own_name(owner: str, verb: str) -> None:
    """A value of a wrong type is an error that names the argument as the caller does, and changes nothing."""
    with opened(owner) as target:
        method = getattr(target, verb)
        parameters = inspect.signature(method).parameters.values()
        base = TABLES[owner][verb]
        positional = [base["thread_id"]] if verb in {"get_thread", "update_thread"} else []
        for parameter in parameters:
            place = (owner, verb, parameter.name)
            if parameter.kind is parameter.VAR_KEYWORD or place in TAKEN:
                continue
            for value in wrong_values(parameter):
                given = {**base, parameter.name: value}
                if verb in {"delete_record_link", "get_relation"} and parameter.name != "relation_id":
                    given = {**LINK, parameter.name: value}
                if verb == "update" and parameter.name in {"content", "text"}:
                    given = {**RECORD, parameter.name: value}
                args = [given.pop("thread_id")] if positional else []
                if place in NAMES_NOTHING:
                    assert names_nothing(lambda args=args, given=given: method(*args, **given)), place
                elif verb in {"delete_record_link", "get_relation"} and "record_id" in parameter.name:
                    with pytest.raises((NotFoundError, ArgumentTypeError)):
                        method(**given)
                else:
                    check_refusal(lambda args=args, given=given: method(*args, **given), parameter.name)


def names_nothing(call: Callable[[], Any]) -> bool:
    """Return whether a call found nothing."""
    try:
        return bool(call() == 0)
    except NotFoundError:
        return True


@pytest.mark.parametrize("kind", [AgentMemory, Thread, SQLiteStore], ids=lambda kind: kind.__name__)
def test_every_verb_is_tried(kind: type) -> None:
    """A new verb is looked at too."""
    table = {AgentMemory: OF_CLIENT, Thread: OF_THREAD, SQLiteStore: OF_STORE}[kind]
    verbs = {
        name
        for name in dir(kind)
        if not name.startswith("_") and not name.endswith("_async") and callable(getattr(kind, name))
    }
    # for_user() is PostgreSQL's.
    assert verbs - STEPS - {"for_user"} == set(table)


@pytest.mark.parametrize(
    ("make", "base"),
    [
        (SQLiteStore, {}),
        (ReferenceStore, {}),
        (AgentMemory, {}),
        (SearchSettings, {}),
        (TopKMemorySearchConfig, {}),
        (PruningMemorySearchConfig, {"pruner": ScriptedLLM([])}),
        (MemoryExtractionConfig, {}),
        (ImageInputLimitConfig, {}),
        (SearchResultFormatConfig, {}),
        (create_app, {}),
        (LocalEmbedder, {}),
        (LocalCrossEncoder, {}),
        (OpenAICompatibleLLM, {"model": "m", "api_base": "http://127.0.0.1:1"}),
        (HttpReranker, {"model": "m", "api_base": "http://127.0.0.1:1"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_argument_of_a_constructor_is_refused_by_its_own_name(
    make: Callable[..., object], base: dict[str, Any]
) -> None:
    """A value of a wrong type is an error that names the argument, when the object is made."""
    options = ReferenceStore.__mro__[1] if make is ReferenceStore else make
    with AgentMemory(store=SQLiteStore()) as memory:
        if make is create_app:
            base = {"memory": memory}
        for parameter in inspect.signature(options).parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            # As recorded, whatever is true counts as True here.
            if make is MemoryExtractionConfig and parameter.annotation == "bool | NotSetType":
                continue
            own = dict(base)
            if make is AgentMemory and parameter.name not in {"path", "store"}:
                own["store"] = memory.store
            for value in wrong_values(parameter):
                check_refusal(
                    lambda own=own, name=parameter.name, value=value: make(**{**own, name: value}),
                    parameter.name,
                )


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda t: t.search("x", scope=SearchScope(user_id=5)), "user_id"),
        (lambda t: t.search("x", scope=SearchScope(exact_user_match="no")), "exact_user_match"),
        (lambda t: t.add_messages([Message("user", "x", timestamp=5)]), "timestamp"),
        (lambda t: t.add_messages([Message("user", "x", id=5)]), "id"),
        (
            lambda t: ReferenceStore(memory_retention_config=MemoryRetentionConfig(default_ttl_days="x")),
            "default_ttl_days",
        ),
    ],
)
def test_values_that_are_mere_containers_are_checked_where_they_are_used(
    call: Callable[[Any], object], name: str
) -> None:
    """A field of a wrong type in a scope, a message or a retention is named by whoever takes the value."""
    with opened("thread") as thread, pytest.raises((ArgumentTypeError, InvalidArgumentError)) as caught:
        call(thread)
    assert caught.value.argument == name


@pytest.mark.parametrize(
    ("owner", "call", "name"),
    [
        ("thread", lambda t: t.add_messages([{"role": "u", "content": "x", "id": "x" * 129}]), "id"),
        ("thread", lambda t: t.add_messages([{"role": "u", "content": "x", "id": "d"}] * 2), "id"),
        ("thread", lambda t: t.add_messages([{"role": "u", "content": "a\0"}]), "content"),
        ("thread", lambda t: t.add_messages([{"role": "\0", "content": "a"}]), "role"),
        ("thread", lambda t: t.update_message("msg", "a\0"), "content"),
        ("thread", lambda t: t.add_memory("a\0"), "content"),
        ("thread", lambda t: t.update_memory("m1", "a\0"), "content"),
        ("thread", lambda t: t.add_image(PNG, "a\0"), "description"),
        ("thread", lambda t: t.update_image("i", description="a\0"), "description"),
        ("client", lambda m: m.add_memory(**LINKED, link_timestamp="a\0"), "link_timestamp"),
        ("client", lambda m: m.add_memory(**LINKED, link_metadata={"a": object()}), "link_metadata"),
        ("client", lambda m: m.link_records(**{**LINK, "target_record_id": "m2"}), "target_record_id"),
        ("client", lambda m: m.add_user("u2", "a\0"), "information"),
        ("store", lambda s: s.update("fact", "m1", text="a\0"), "text"),
        ("store", lambda s: s.update("fact", "m1", embedding=[1.0]), "embedding"),
    ],
)
def test_an_error_names_what_the_caller_gave(owner: str, call: Callable[[Any], object], name: str) -> None:
    """The names by which verbs hand arguments on to the store are nowhere in an error, and nothing is stored."""
    with opened(owner) as target:
        check_refusal(lambda: call(target), name)


def test_a_conflict_is_no_refusal_of_an_argument() -> None:
    """Errors of other kinds pass unchanged."""
    with opened("client") as memory, pytest.raises(ConflictError, match="m1"):
        memory.add_memory("x", memory_id="m1", memory_type="fact")
