"""A thread: messages in, messages out, and memories of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hitherto import AgentMemory, ImageContent, ImageMimeType, Message, TextContent
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, NotFoundError
from hitherto.session import check_timeout
from hitherto.thread import Thread


@pytest.fixture
def thread() -> Iterator[Thread]:
    """Return an empty thread."""
    with AgentMemory(":memory:", embedder=None) as memory:
        yield memory.create_thread(thread_id="t", user_id="u", agent_id="a")


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        (None, TypeError),
        ("text", ValueError),
        ({"role": "user", "content": "x"}, ValueError),
        ((item for item in ()), TypeError),
        (["text"], ValueError),
        ([{"content": "x"}], KeyError),
        ([{"role": "user"}], KeyError),
        ([{"role": None, "content": "x"}], TypeError),
        ([{"role": "user", "content": None}], ValueError),
        ([{"role": "user", "content": 5}], TypeError),
        ([{"role": "user", "content": []}], ValueError),
        ([{"role": "user", "content": [TextContent("x")]}], TypeError),
        ([{"role": "user", "content": [{"type": "text"}]}], KeyError),
        ([{"role": "user", "content": [{"type": "video"}]}], ValueError),
        (
            [{"role": "user", "content": [{"type": "image", "bytes": b"x", "mime_type": "image/png"}]}],
            ValueError,
        ),
        ([Message("user", (ImageContent(b"x", ImageMimeType.PNG),))], ValueError),
        ([{"role": "user", "content": "x", "id": 5}], TypeError),
        ([{"role": "user", "content": "x", "timestamp": 5}], TypeError),
        ([{"role": "user", "content": "x", "metadata": "m"}], ValueError),
    ],
)
def test_a_bad_message_is_refused_and_none_is_stored(
    thread: Thread, messages: Any, error: type[Exception]
) -> None:
    """All messages are checked before any is stored; the error says which one and what was wanted."""
    given = [{"role": "user", "content": "fine"}, *messages] if isinstance(messages, list) else messages
    with pytest.raises(error):
        thread.add_messages(given)
    assert thread.get_messages() == []


def test_messages_come_back_as_they_were(thread: Thread) -> None:
    """One text part reads back as text, several stay parts; ids that are "" are made."""
    made = thread.add_messages(
        [
            {"role": "user", "content": "hello", "id": ""},
            {"role": "robot", "content": [{"type": "text", "text": "one"}], "id": "m2"},
            Message("user", (TextContent("a", id="p"), TextContent("b", id="q"))),
        ]
    )
    assert made[1] == "m2"
    found = thread.get_messages()
    assert [message.role for message in found] == ["user", "robot", "user"]
    assert [message.content for message in found[:2]] == ["hello", "one"]
    assert found[2].content == (TextContent("a", id="p"), TextContent("b", id="q"))
    assert thread.add_messages([]) == []


def test_metadata_for_all_or_for_each(thread: Thread) -> None:
    """Given metadata replace the messages' own; a list must fit."""
    own = [{"role": "user", "content": "x", "metadata": {"own": 1}}, {"role": "user", "content": "y"}]
    thread.add_messages(own)
    thread.add_messages(own, metadata={"s": 1})
    thread.add_messages(own, metadata=[{"a": 1}, None])
    kept = [message.metadata for message in thread.get_messages()]
    assert kept == [{"own": 1}, None, {"s": 1}, {"s": 1}, {"a": 1}, None]
    with pytest.raises(InvalidArgumentError, match="metadata"):
        thread.add_messages(own, metadata=[{"a": 1}])


def test_ranges_of_messages_are_as_recorded(thread: Thread, reference_data: Path) -> None:
    """Start and end select as recorded, of 150 stored messages."""
    thread.add_messages([{"role": "user", "content": f"m{number}"} for number in range(150)])
    path = reference_data / "vectors" / "threads" / "B_messages_read_update_delete.json"
    compared = 0
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        prefix = "150 stored; get_messages("
        if not case["call"].startswith(prefix + "{") or "n" not in case.get("returns", {}):
            continue
        arguments = eval(case["call"][len(prefix) : -1], {})  # the recording writes a dict of Python literals
        found = [message.content for message in thread.get_messages(**arguments)]
        shape = {"n": len(found), "first": found[0] if found else None, "last": found[-1] if found else None}
        assert shape == case["returns"], case["call"]
        compared += 1
    assert compared > 20


def test_messages_are_changed_and_deleted(thread: Thread) -> None:
    """An update changes what is given; what is not of the thread is not there."""
    (name,) = thread.add_messages([Message("user", "old", metadata={"k": 1})])
    assert thread.update_message(name, "new") == name
    assert (thread.get_message(name).content, thread.get_message(name).metadata) == ("new", {"k": 1})
    assert [item.content for item in thread.search("new")] == ["new"]
    bad: Any = None
    with pytest.raises(InvalidArgumentError):
        thread.update_message(name, bad)
    with pytest.raises(NotFoundError):
        thread.get_message("absent")
    with pytest.raises(InvalidArgumentError, match="included_image_ids"):
        thread.get_message(name, included_image_ids=bad or "x")  # type: ignore[arg-type]  # what is refused
    assert thread.delete_message(name) == 1
    assert thread.delete_message(name) == 0


def test_memories_of_a_thread(thread: Thread) -> None:
    """A memory is filed under the thread and its user and agent, unless told otherwise."""
    name = thread.add_memory("likes tea", memory_type="preference")
    (result,) = thread.search("tea")
    record: Any = result.record
    assert (record.id, record.user_id, record.agent_id, record.thread_id) == (name, "u", "a", "t")
    assert thread.update_memory(name, "likes coffee") == name
    assert thread.delete_memory(name) == 1
    with pytest.raises(NotFoundError):
        thread.update_memory(name, "x")


def test_a_thread_searches_its_user_and_agent_and_ranks_itself_first(thread: Thread) -> None:
    """Equal records of the thread come before those of the user's other threads; strangers' never come."""
    store = thread._session.store
    for place, owner in (("elsewhere", "u"), ("stranger", "v")):
        store.add(["likes tea"], "fact", record_ids=place, user_ids=owner, agent_ids="a", thread_ids="t2")
    own = thread.add_memory("likes tea", memory_type="fact", memory_id="zz")
    assert [result.id for result in thread.search("tea")] == [own, "elsewhere"]
    assert [result.id for result in thread.search("tea", exact_thread_match=True)] == [own]


def test_links_stay_within_the_thread(thread: Thread) -> None:
    """A thread links its own memories only, also where the memory itself goes elsewhere; nothing is stored then."""
    for name in ("a", "b"):
        thread.add_memory(name, memory_id=name)
    thread.add_memory("c", memory_id="c", thread_id="t2")
    link = thread.link_records("a", "memory", "b", "memory", "supports")
    with pytest.raises(NotFoundError):
        thread.link_records("a", "memory", "c", "memory", "supports")
    with pytest.raises(NotFoundError):
        thread.add_memory("d", memory_id="d", thread_id="t2", memory_id_to_link="a", link_type="supports")
    assert thread._session.store.get("memory", "d") is None
    assert thread.update_record_link(link, metadata={}) == 1
    assert thread.delete_record_link(relation_id=link) == 1


@pytest.mark.parametrize("timeout", [0, -1])
def test_waiting_needs_a_positive_timeout(thread: Thread, timeout: int) -> None:
    """A timeout of nothing is refused; None waits without bound."""
    with pytest.raises(InvalidArgumentError, match="timeout"):
        thread.wait_for_memory_extraction(timeout)
    thread.wait_for_memory_extraction(None)


def test_numbers_of_messages_have_no_upper_bound() -> None:
    """A number beyond what a database counts means all messages."""
    with AgentMemory(":memory:", embedder=None) as memory:
        thread = memory.create_thread(user_id="mia")
        thread.add_messages([{"role": "user", "content": "We moved to Lisbon."}])
        card = thread.get_context_card(fallback_message_count=10**30, max_recent_messages=10**30)
        assert card.content.count("We moved to Lisbon.") >= 2


@pytest.mark.parametrize("seconds", [float("inf"), 1e308, 10**400, float("nan")])
def test_a_wait_beyond_what_a_clock_counts_is_the_longest(seconds: float) -> None:
    """Threads fail on a timeout that is too large or no number; it is bounded before."""
    assert check_timeout(seconds) == threading.TIMEOUT_MAX


def test_one_extraction_is_named_in_a_list() -> None:
    """A text instead of several ids is refused, and not read letter by letter."""
    with AgentMemory(":memory:", embedder=None) as memory:
        for change in (memory.retry_extractions, memory.cancel_extractions):
            with pytest.raises(ArgumentTypeError, match="extraction_ids must be several ids"):
                change(extraction_ids="018f")
