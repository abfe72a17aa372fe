"""Messages are added, read, changed and deleted as recorded, but for what is named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.reference.backends import empty_client
from tests.reference.calls import cases, differences, outcome, parts, read_call, restored

from hitherto import AgentMemory, ImageContent, ImageMimeType, Message, TextContent
from hitherto.thread import Thread

pytestmark = pytest.mark.usefixtures("backend")

PICTURE = b"x" * 79


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    """Return an empty client."""
    with empty_client() as client:
        yield client


@pytest.fixture
def thread(memory: AgentMemory) -> Thread:
    """Return an empty thread."""
    return memory.create_thread(thread_id="t1", user_id="u1", agent_id="a1")


def given(name: str, text: str) -> object:
    """Return the messages of a recorded call; three of them were recorded as text that is no Python."""
    image = ImageContent(PICTURE, ImageMimeType.PNG, None if name.endswith("nodesc") else "d", id="i-" + name)
    if name == "add/gen":
        return (item for item in ({"role": "user", "content": "x"},))
    if name in {"add/img_obj", "add/img_obj_nodesc"}:
        return [Message("user", (TextContent("a"), image))]
    made = parts(ast.literal_eval(text))
    if name == "add/ts_dt":
        made[0] = restored(name, made[0])
    return made


def test_messages_are_accepted_and_refused_as_recorded(thread: Thread, reference_data: Path) -> None:
    """Each recorded shape of messages is stored or refused as recorded; what is refused stores nothing."""
    compared = []
    for case in cases(reference_data, "B_messages_add"):
        if not case["id"].startswith("add/"):
            continue
        before = len(thread.get_messages(end=None))
        messages = given(case["id"], case["call"].removeprefix("add_messages(")[:-1])
        compared.append((case, outcome(lambda messages=messages: thread.add_messages(messages))))
        after = len(thread.get_messages(end=None))
        assert after - before == (len(case["returns"]) if "returns" in case else 0), case["id"]
    assert len(compared) > 70
    assert differences(compared) == {}


def test_stored_messages_are_the_recorded_rows(thread: Thread, reference_data: Path) -> None:
    """Role, text, time and metadata of what is stored are those recorded; a message without a time keeps none."""
    compared = 0
    for case in cases(reference_data, "B_messages_add"):
        if not case["id"].startswith("add/") or not case.get("returns") or "img" in case["id"]:
            continue
        ids = thread.add_messages(given(case["id"], case["call"].removeprefix("add_messages(")[:-1]))  # type: ignore[arg-type]  # recorded
        for name, row in zip(ids, case["rows"][-len(ids) :], strict=True):
            message = thread.get_message(name)
            texts = (
                row["content"]
                if isinstance(row["content"], str)
                else [part["text"] for part in row["content"]]
            )
            ours = (
                message.content
                if isinstance(message.content, str)
                else [part.text for part in message.content]
            )  # type: ignore[union-attr]  # texts only
            assert ours == (texts[0] if isinstance(texts, list) and len(texts) == 1 else texts), case["id"]
            assert (message.role, message.metadata) == (row["role"], row["meta"]), case["id"]
            if row["ts"] != "<now>":
                assert message.timestamp == row["ts"], case["id"]
            compared += 1
    assert compared > 30


def test_options_of_messages_are_as_recorded(thread: Thread, reference_data: Path) -> None:
    """Shared and listed options are accepted and refused as recorded, but for the named exceptions."""
    two = [
        {"role": "user", "content": "x", "metadata": {"own": 1}},
        {"role": "assistant", "content": "y", "timestamp": "2024-05-01T10:00:00"},
    ]
    compared = []
    for case in cases(reference_data, "B_messages_add"):
        if case["id"].startswith("opt/"):
            named = restored(case["id"], ast.literal_eval(case["call"].split("; ")[-1][:-1]))
            compared.append((case, outcome(lambda named=named: len(thread.add_messages(two, **named)))))
    assert len(compared) > 15
    assert differences(compared) == {
        "opt/ttlneg": "InvalidArgumentError",  # a time to live is not below 0
        "opt/anchor_str": "InvalidArgumentError",  # an anchor is a TimeToLiveAnchor
        "opt/kw": "TypeError",  # a mistyped name is no option of the store
    }


def test_single_messages_are_read_changed_and_deleted_as_recorded(
    memory: AgentMemory, thread: Thread, reference_data: Path
) -> None:
    """Each recorded call on one message returns or raises as recorded; foreign messages are not there."""
    thread.add_messages(
        [
            {"role": ("user", "assistant")[place % 2], "content": f"m{place}", "id": f"i{place}"}
            for place in range(150)
        ]
    )
    memory.create_thread(thread_id="t2").add_messages([{"role": "user", "content": "other", "id": "o1"}])
    compared = []
    for case in cases(reference_data, "B_messages_read_update_delete"):
        if not case["id"].startswith(("get_message/", "update_message/", "delete_message/")):
            continue
        call = read_call(case)
        named = {key: parts(value) for key, value in call.named.items()}
        ours = outcome(lambda call=call, named=named: getattr(thread, call.name)(*call.arguments, **named))
        compared.append((case, [ours.role, ours.content] if isinstance(ours, Message) else ours))
    assert len(compared) > 35
    assert differences(compared) == {"update_message/meta_bad": "InvalidArgumentError"}
    assert [message.id for message in thread.get_messages(start=0, end=2)] == ["i1", "i2"]


@pytest.mark.parametrize("name", ["user_id", "agent_id", "thread_id", "metadata"])
def test_the_handle_is_not_assigned_to(thread: Thread, name: str) -> None:
    """What a thread is cannot be changed by assignment, as recorded."""
    with pytest.raises(AttributeError):
        setattr(thread, name, "other")
