"""Threads and profiles are made, read, changed, listed and deleted as recorded, but for what is named here."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reference.backends import empty_client
from tests.reference.calls import Raised, cases, differences, outcome, read_call

from hitherto import AgentMemory
from hitherto.errors import InvalidIdError
from hitherto.records import Record
from hitherto.thread import Thread

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    """Return an empty client."""
    with empty_client() as client:
        yield client


def described(value: Any, wanted: Any) -> Any:
    """Return a thread's or record's fields in the form in which the recording has them."""
    if isinstance(value, Thread):
        fields = {
            "thread_id": value.thread_id,
            "user_id": value.user_id,
            "agent_id": value.agent_id,
            "metadata": value.metadata,
            "mmtl": value.max_message_token_length,
            "msitl": value.message_shortening_input_token_limit,
        }
        return {name: fields[name] for name in wanted} if isinstance(wanted, dict) else fields
    if isinstance(value, list) and all(isinstance(item, Record) for item in value):
        pairs = wanted and isinstance(wanted[0], list)
        return [[item.id, type(item).__name__] if pairs else item.id for item in value]
    return value


def literal(name: str, text: str) -> Any:
    """Return an argument of create_thread, which was recorded as the text of its value."""
    if name == "create/meta_nonjson":
        return {"a": object()}
    if name == "create/meta_nan":
        return {"a": float("nan")}
    try:
        return ast.literal_eval(text) if text.strip() and not name.endswith("_str") else text
    except (SyntaxError, ValueError):
        return text


def created(memory: AgentMemory, case: dict[str, Any]) -> Any:
    """Run a recorded call of create_thread."""
    text = case["call"].removeprefix("create_thread(")[:-1]
    name, _, value = text.partition("=")
    named = {name: literal(case["id"], ast.literal_eval(value))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return described(outcome(lambda: memory.create_thread(**named)), case.get("returns"))


def test_threads_are_created_as_recorded(memory: AgentMemory, reference_data: Path) -> None:
    """Each recorded argument of create_thread is accepted or refused as recorded, but for the named exceptions."""
    compared = [
        (case, created(memory, case))
        for case in cases(reference_data, "A_client_lifecycle")
        if case["call"].startswith("create_thread(")
        and case["call"].count("=") == 1
        and not case["id"].startswith(("create/long", "create/meta_big"))  # cut in the recording
    ]
    assert len(compared) > 30
    assert differences(compared) == {
        "create/int_tid": "InvalidIdError",  # ids are text
        "create/int_uid": "InvalidIdError",
        "create/meta_nonjson": "InvalidArgumentError",  # metadata are a JSON object
        "create/meta_intkey": "InvalidArgumentError",
        "create/meta_nan": "InvalidArgumentError",
        "create/kwargs_unknown": "ArgumentTypeError",  # a mistyped name is no option
        "create/llm_bad": "ArgumentTypeError",  # what cannot generate is no model
        "create/search_config_bad": "ArgumentTypeError",  # an error of ours, not of an attribute
    }


def test_ids_have_at_most_128_characters(memory: AgentMemory) -> None:
    """A longer id is refused, where the recording left that to its store."""
    assert memory.create_thread(thread_id="a" * 128, user_id="u" * 128).user_id == "u" * 128
    for name in ("thread_id", "user_id", "agent_id"):
        with pytest.raises(InvalidIdError, match=name):
            memory.create_thread(**{name: "a" * 129})


def test_generated_ids_are_texts_of_their_own(memory: AgentMemory) -> None:
    """A thread gets three different ids where none are given, as recorded."""
    thread = memory.create_thread()
    ids = {thread.thread_id, thread.user_id, thread.agent_id}
    assert len(ids) == 3
    assert all(isinstance(name, str) and len(name) == 36 for name in ids)


def test_threads_are_read_changed_listed_and_deleted_as_recorded(
    memory: AgentMemory, reference_data: Path
) -> None:
    """Each recorded call on stored threads returns or raises as recorded, but for the named exceptions."""
    memory.create_thread(thread_id="t1", user_id="u1", agent_id="a1", metadata={"k": 1})
    compared = []
    for case in cases(reference_data, "A_threads_crud"):
        if case["id"].startswith(("resolve/", "after_delete/")) or "MEC(" in case["call"]:
            continue
        call = read_call(case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            ours = outcome(lambda call=call: getattr(memory, call.name)(*call.arguments, **call.named))
        compared.append((case, described(ours, case.get("returns"))))
    assert len(compared) > 30
    assert differences(compared) == {
        "list/lim0": "InvalidArgumentError",  # a store's limit is positive
        "list/lim-1": "InvalidArgumentError",
        "list/limbool": "InvalidArgumentError",
        "list/int_user": "InvalidIdError",  # an id has 1 to 128 characters
        "list/empty_user": "InvalidIdError",
    }


def test_handles_stay_usable_after_their_thread_was_deleted(memory: AgentMemory) -> None:
    """As recorded, a handle goes on working."""
    thread = memory.create_thread(thread_id="t1", user_id="u1")
    memory.delete_thread("t1")
    assert len(thread.add_messages([{"role": "user", "content": "x"}])) == 1
    assert len(thread.get_messages()) == 1


@pytest.mark.parametrize("kind", ["user", "agent"])
def test_profiles_are_kept_as_recorded(memory: AgentMemory, reference_data: Path, kind: str) -> None:
    """Each recorded call on profiles returns or raises as recorded, but for the named exceptions."""
    compared = []
    for case in cases(reference_data, "A_profiles"):
        if not case["id"].startswith((f"{kind}/add", f"{kind}/delete")):
            continue
        call = read_call(case)
        compared.append(
            (case, outcome(lambda call=call: getattr(memory, call.name)(*call.arguments, **call.named)))
        )
    assert len(compared) > 15
    assert differences(compared) == {
        f"{kind}/add/meta_bad": "InvalidArgumentError",  # metadata are a JSON object
        f"{kind}/add/int_info": "ArgumentTypeError",  # what is known is text
        f"{kind}/add/empty_id": "InvalidIdError",  # an id has 1 to 128 characters
        f"{kind}/delete/empty": "InvalidIdError",
    }


def test_waiting_and_closing_are_as_recorded(reference_data: Path) -> None:
    """Timeouts are accepted and refused as recorded, by client, thread and close."""
    compared = []
    for case in cases(reference_data, "A_close_wait"):
        verb, _, text = case["id"].partition("/")
        owner, _, value = text.rpartition("_")
        if verb not in {"wait", "close"} or case["call"].endswith(("()", "again")):
            continue
        timeout = float("nan") if value == "nan" else ast.literal_eval(value)
        with empty_client() as memory:
            thread = memory.create_thread()
            methods = {
                "client": memory.wait_for_memory_extraction,
                "thread": thread.wait_for_memory_extraction,
                "": memory.close,
            }
            compared.append((case, outcome(lambda call=methods[owner], timeout=timeout: call(timeout))))
    assert len(compared) > 20
    assert differences(compared) == {}


def test_everything_is_refused_after_closing(reference_data: Path) -> None:
    """Where the recording went on or timed out after close, the client is as closed as everywhere else."""
    with empty_client() as memory:
        thread = memory.create_thread(thread_id="t")
    calls = {
        "create_thread": memory.create_thread,
        "get_thread": lambda: memory.get_thread("t"),
        "add_memory": lambda: memory.add_memory("q"),
        "add_messages": lambda: thread.add_messages([{"role": "user", "content": "x"}]),
        "list": memory.list_memories,
        "delete_thread": lambda: memory.delete_thread("t"),
        "wait": memory.wait_for_memory_extraction,
        "delete_memory": lambda: memory.delete_memory("q"),
        "add_user": lambda: memory.add_user("u", "x"),
        "delete_user": lambda: memory.delete_user("u"),
    }
    recorded = {case["id"].removeprefix("after_close/") for case in cases(reference_data, "A_close_wait")}
    assert calls.keys() <= recorded
    for name, call in calls.items():
        ours = outcome(call)
        assert isinstance(ours, Raised), name
        assert isinstance(ours.error, RuntimeError), name
