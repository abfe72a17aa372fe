"""Memories are added, changed, deleted and listed as recorded, except where the recording lost or mixed data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reference.backends import empty_client
from tests.reference.calls import cases, differences, outcome, read_call

from hitherto import AgentMemory
from hitherto.errors import NotFoundError
from hitherto.thread import Thread

pytestmark = pytest.mark.usefixtures("backend")

#: What is refused at the client and at the thread, where the recording's store took it, and why.
STRICTER_ADD = {
    "add/empty": "InvalidArgumentError",  # a memory says something
    "add/blank": "InvalidArgumentError",
    "add/none": "InvalidArgumentError",
    "add/int": "InvalidArgumentError",
    "add/meta_list": "InvalidArgumentError",  # metadata are a JSON object
    "add/meta_nonjson": "InvalidArgumentError",
    "add/uid_empty": "InvalidIdError",  # an id has 1 to 128 characters
    "add/ts_dt": "ArgumentTypeError",  # a timestamp is text
    "add/ttl-1": "InvalidArgumentError",  # a time to live is a number that is not below 0
    "add/ttlbool": "InvalidArgumentError",
    "add/ttlbig": "returned",  # a far end is the end of time
    "add/anchor_str": "InvalidArgumentError",  # an anchor is a TimeToLiveAnchor
    "add/anchor_none": "InvalidArgumentError",
    "add/kw_unknown": "TypeError",  # a mistyped name is no option of the store
}
STRICTER_UPDATE = {
    "update/content_empty": "InvalidArgumentError",
    "update/content_blank": "InvalidArgumentError",
    "update/meta_bad": "InvalidArgumentError",
    "update/ttl-1": "InvalidArgumentError",
    "update/anchor_str": "InvalidArgumentError",
    "update/status_str": "InvalidArgumentError",
}


def of_both(expected: dict[str, str]) -> dict[str, str]:
    """Return what is expected of client and thread alike."""
    return {f"{owner}/{name}": kind for owner in ("client", "thread") for name, kind in expected.items()}


@pytest.fixture
def memory() -> Iterator[AgentMemory]:
    """Return an empty client."""
    with empty_client() as client:
        yield client


def filled(memory: AgentMemory) -> Thread:
    """Store what the recording had stored, and return its thread."""
    thread = memory.create_thread(thread_id="t1", user_id="u1", agent_id="a1")
    thread.add_memory("one", memory_id="m1")
    memory.add_memory("two", memory_type="fact", memory_id="m2", user_id="u2", agent_id="a2", thread_id="t2")
    memory.add_memory("guide", memory_type="guideline", memory_id="g1", user_id="u1")
    memory.add_memory("free", memory_id="m0")
    memory.add_memory("taste", memory_type="preference", memory_id="p1", user_id="u1", metadata={"q": 1})
    thread.add_messages([{"role": "user", "content": "x", "id": "msg1"}])
    return thread


def run(memory: AgentMemory, thread: Thread, case: dict[str, Any]) -> Any:
    """Run a recorded call on the client or the thread."""
    call = read_call(case)
    owner = memory if call.owner == "client" else thread
    return outcome(lambda: getattr(owner, call.name)(*call.arguments, **call.named))


def test_memories_are_added_as_recorded(memory: AgentMemory, reference_data: Path) -> None:
    """Each recorded call of add_memory returns or raises as recorded, but for the named exceptions."""
    thread = memory.create_thread(thread_id="t1", user_id="u1", agent_id="a1")
    compared = [(case, run(memory, thread, case)) for case in cases(reference_data, "A_memories")]
    assert len(compared) > 120
    ids = {"client/add/id_int": "InvalidIdError", "client/add/id_long": "InvalidIdError"}
    assert differences(compared) == of_both(STRICTER_ADD) | ids


@pytest.mark.parametrize("owner", ["client", "thread"])
def test_memories_are_changed_and_deleted_as_recorded(
    memory: AgentMemory, reference_data: Path, owner: str
) -> None:
    """Each recorded update and delete returns or raises as recorded, but for the named exceptions."""
    thread = filled(memory)
    compared = [
        (case, run(memory, thread, case))
        for case in cases(reference_data, "A_memories_update_delete_list")
        if case["id"].startswith((f"{owner}/update", f"{owner}/delete")) and not case["id"].endswith("ttl0")
    ]
    assert len(compared) > 30
    wanted = {f"{owner}/{name}": kind for name, kind in STRICTER_UPDATE.items()}
    assert differences(compared) == wanted


def test_a_memory_that_has_expired_is_not_there(memory: AgentMemory) -> None:
    """After an update to zero days nothing can be changed or deleted any more, where the recording went on."""
    thread = filled(memory)
    assert thread.update_memory("m1", ttl_days=0) == "m1"
    with pytest.raises(NotFoundError):
        thread.update_memory("m1", content="x")
    assert memory.delete_memory("m1") == 0


def test_lists_hold_what_was_recorded(memory: AgentMemory, reference_data: Path) -> None:
    """Filters select what was recorded; the order is by age, and a limit keeps the newest of all types."""
    filled(memory).delete_memory("m1")
    order = ["m2", "g1", "m0", "p1"]
    compared = 0
    for case in cases(reference_data, "A_memories_update_delete_list"):
        if not case["id"].startswith("list/") or "returns" not in case:
            continue
        named = read_call({**case, "call": case["call"].replace("({", "(){").replace("})", "}")}).named
        found = [record.id for record in memory.list_memories(**named)]
        recorded = [name for name, _ in case["returns"]]
        limit = named.get("limit")
        wanted = sorted(recorded, key=order.index) if not limit or limit < 0 else order[-limit:]
        assert found == wanted, case
        compared += 1
    assert compared > 8


def test_scope_of_linked_memories_is_as_recorded(memory: AgentMemory) -> None:
    """A link brings the target's scope where none is given; a thread links only what is its own."""
    thread = filled(memory)
    link = {"memory_id_to_link": "m2", "link_type": "supports"}
    inherited = memory.add_memory("x", memory_id="lx", **link)  # type: ignore[arg-type]  # recorded as texts
    overridden = memory.add_memory("y", memory_id="ly", user_id="u5", **link)  # type: ignore[arg-type]
    owners = {
        record.id: (record.user_id, record.agent_id, record.thread_id) for record in memory.list_memories()
    }
    assert owners[inherited] == ("u2", "a2", "t2")
    assert owners[overridden] == ("u5", "a2", "t2")
    for target in ("m2", "m0"):
        with pytest.raises(NotFoundError):
            thread.add_memory("z", memory_id_to_link=target, link_type="supports")
    with pytest.raises(NotFoundError):
        thread.add_memory("z", thread_id="t2", memory_id_to_link="m1", link_type="supports")
    assert len(memory.list_memories()) == len(owners)
