"""A thread learns: what is stored, linked, kept on failure, run again, and never twice."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import emptied

from hitherto import (
    AgentMemory,
    BackgroundExtractionQueueFullBehavior,
    ConflictError,
    JobState,
    MemoryExtractionConfig,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
    MemoryStore,
    ModelError,
    ModelOutputError,
    NotFoundError,
    RecordStatus,
    Thread,
)
from hitherto.extraction.provenance import source_messages
from hitherto.testing.reference import ReferenceStore
from hitherto.testing.scripted import HashEmbedder, TaskLLM

INLINE = MemoryExtractionMode.INLINE


backend: ContextVar[str] = ContextVar("backend", default="sqlite")
to_close: list[tuple[AgentMemory, MemoryStore]] = []


@pytest.fixture(autouse=True, params=["sqlite", "postgres"])
def _backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run every test on both backends, where it does not name a file."""
    token = backend.set(request.param)
    yield
    backend.reset(token)
    while to_close:
        client, store = to_close.pop()
        client.close()
        store.close()


def fact(text: str, **fields: Any) -> dict[str, Any]:
    """Return an item as a model writes it."""
    return {"text": text, "record_type": "fact", **fields}


def items(*found: dict[str, Any]) -> dict[str, Any]:
    """Return a model's answer."""
    return {"memories": list(found)}


def client(model: TaskLLM | None, path: str | Path = ":memory:", **config: Any) -> AgentMemory:
    """Return a client; extraction is waited for, and there is no summary, unless the configuration says so."""
    settings = {"extraction_mode": INLINE, "enable_context_summary": False, **config}
    extraction = MemoryExtractionConfig(**settings)
    if path == ":memory:" and backend.get() == "postgres":
        store = emptied()
        opened = AgentMemory(store=store, llm=model, memory_extraction_config=extraction)
        to_close.append((opened, store))
        return opened
    return AgentMemory(path, embedder=None, llm=model, memory_extraction_config=extraction)


def say(thread: Thread, *texts: str, **fields: Any) -> list[str]:
    """Add messages of a user."""
    return thread.add_messages([{"role": "user", "content": text, **fields} for text in texts])


def contents(memory: AgentMemory, user_id: str = "u") -> list[str | None]:
    """Return what a user's memories say."""
    return [record.content for record in memory.list_memories(user_id)]


def test_memories_know_their_messages() -> None:
    """Each extracted memory lists the messages of its request, and the thread's scope is its own."""
    with client(TaskLLM(extract=items(fact("Mia sails", timestamp="yesterday")))) as memory:
        thread = memory.create_thread(user_id="u", agent_id="a")
        ids = say(thread, "I went sailing", "It was fun", timestamp="2024-05-02T10:00:00Z")
        (record,) = memory.list_memories("u")
        assert source_messages(record) == tuple(ids)
        assert (record.user_id, record.agent_id, record.thread_id) == ("u", "a", thread.thread_id)
        assert record.timestamp == "2024-05-01"


def test_deleting_a_message_takes_along_what_came_from_it_alone() -> None:
    """With cascade a memory goes with its only message; one with further messages stays and forgets this one."""
    answers = iter([items(fact("only one")), items(fact("of both"))])
    with client(TaskLLM(extract=lambda _: next(answers))) as memory:
        thread = memory.create_thread(user_id="u")
        (alone,) = say(thread, "first")
        first, second = say(thread, "second", "third")
        assert thread.delete_message(alone) == 1
        assert contents(memory) == ["only one", "of both"]
        assert thread.delete_message(first, cascade=True) == 1
        kept = {record.content: source_messages(record) for record in memory.list_memories("u")}
        assert kept["of both"] == (second,)
        assert thread.delete_message(second, cascade=True) == 1
        assert contents(memory) == ["only one"]
        assert thread.delete_message(second, cascade=True) == 0


def test_a_failing_model_loses_nothing_and_is_seen_as_failed() -> None:
    """The error reaches the caller; the message is stored, and the extraction can be run again."""
    answers: list[Any] = [ModelError("the provider is down"), items(fact("Mia sails"))]
    with client(TaskLLM(extract=lambda _: answers.pop(0))) as memory:
        thread = memory.create_thread(user_id="u")
        with pytest.raises(ModelError, match="down"):
            say(thread, "I sail")
        assert [message.content for message in thread.get_messages()] == ["I sail"]
        (failed,) = memory.list_extractions()
        assert (failed.state, failed.attempts) == (JobState.FAILED, 1)
        assert failed.error == "ModelError: the provider is down"
        assert failed.message_ids == tuple(message.id for message in thread.get_messages())
        assert memory.retry_extractions() == 1
        memory.wait_for_memory_extraction(10)
        assert contents(memory) == ["Mia sails"]
        assert memory.list_extractions() == []


@pytest.mark.parametrize(
    "answer", ["sorry", "", "null", "[]", '{"memories": [', '{"memories": [5, {"text": 1}]}']
)
def test_nonsense_is_a_failure_not_nothing_found(answer: str) -> None:
    """An answer that cannot be read is kept as failed; an empty list is a success with nothing in it."""
    with client(TaskLLM(extract=answer)) as memory:
        thread = memory.create_thread(user_id="u")
        with pytest.raises(ModelOutputError):
            say(thread, "I sail")
        assert [item.state for item in memory.list_extractions()] == [JobState.FAILED]
        assert len(thread.get_messages()) == 1
    with client(TaskLLM()) as memory:
        say(memory.create_thread(user_id="u"), "hm")
        assert memory.list_extractions() == []


def test_errors_that_are_kept_do_not_hold_what_the_model_said() -> None:
    """A stored error names the problem, not the text: it may be shown to somebody else."""
    with client(TaskLLM(extract="the secret is 1234")) as memory:
        with pytest.raises(ModelOutputError):
            say(memory.create_thread(user_id="u"), "I sail")
        assert "1234" not in str(memory.list_extractions()[0].error)


def test_different_metadata_never_lose_memories() -> None:
    """Where messages differ in a key it is left out; the memories are stored."""
    with client(TaskLLM(extract=items(fact("Mia sails")))) as memory:
        thread = memory.create_thread(user_id="u")
        thread.add_messages(
            [
                {"role": "user", "content": "a", "metadata": {"app": "web", "n": 1}},
                {"role": "user", "content": "b", "metadata": {"app": "web", "n": 2}},
            ]
        )
        (record,) = memory.list_memories("u", metadata_filter={"app": "web"})
        assert "n" not in (record.metadata or {})


def test_memories_live_no_longer_than_their_messages() -> None:
    """The first of the messages to expire takes the memory along."""
    with client(TaskLLM(extract=items(fact("Mia sails")))) as memory:
        thread = memory.create_thread(user_id="u")
        thread.add_messages([{"role": "user", "content": text} for text in "ab"], ttl_days=[3, 30])
        (record,) = memory.list_memories("u")
        messages = [
            memory.store.record_expiration("message", message.id or "") for message in thread.get_messages()
        ]
        assert memory.store.record_expiration("fact", record.id) == min(filter(None, messages))


def test_context_cards_are_not_extracted_again() -> None:
    """What memory put into the conversation is not shown to the model, and a card alone asks nothing."""
    model = TaskLLM()
    with client(model) as memory:
        thread = memory.create_thread(user_id="u")
        memory.add_memory("Mia sails", user_id="u")
        card = thread.get_context_card().content or "<context_card><topics></topics></context_card>"
        say(thread, card)
        assert model.tasks == []
        say(thread, f"{card}\nGood morning")
        (text,) = model.asked("extract")
        assert "Good morning" in text
        assert "context_card" not in text


def test_repeats_are_stored_once() -> None:
    """The same words in one answer, or remembered already, make no second memory; the sources are noted."""
    with client(TaskLLM(extract=items(fact("Mia sails."), fact("mia sails")))) as memory:
        thread = memory.create_thread(user_id="u")
        (first,) = say(thread, "I sail")
        (second,) = say(thread, "I told you: I sail")
        (record,) = memory.list_memories("u")
        assert source_messages(record) == (first, second)


def test_a_failing_link_call_keeps_the_memories() -> None:
    """Links are looked for after extraction; if that fails, the memories are stored without them."""
    memory = client(
        TaskLLM(extract=items(fact("Mia lives in Lisbon")), link=ModelError("down")),
        memory_link_extraction_mode=MemoryLinkExtractionMode.POST_EXTRACTION,
    )
    with memory:
        thread = memory.create_thread(user_id="u", agent_id="a")
        memory.add_memory("Mia lives in Porto", memory_type="fact", user_id="u", agent_id="a")
        say(thread, "I moved to Lisbon")
        assert sorted(map(str, contents(memory))) == ["Mia lives in Lisbon", "Mia lives in Porto"]
        assert memory.list_extractions() == []


def linking(kind: str, merged: str | None = None) -> Any:
    """Return what answers a request for links: every new memory is linked to its first candidate."""

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        text = messages[-1]["content"]
        resolutions = {}
        for part in text.split("</new_memory>")[:-1]:
            source = part.split('<new_memory id="')[1].split('"')[0]
            target = part.split('<candidate id="')[1].split('"')[0]
            links = [
                {"target_memory_id": target, "link_type": kind},
                {"target_memory_id": target, "link_type": kind},
                {"target_memory_id": "nobody", "link_type": kind},
                {"target_memory_id": target, "link_type": "loves"},
                "nonsense",
            ]
            resolutions[source] = {"updated_source_memory_text": merged, "links": links}
        return {"source_resolutions": resolutions}

    return answer


@pytest.mark.parametrize("kind", ["supersedes", "refines", "duplicates", "supports", "contradicts"])
def test_links_follow_the_model_and_lifecycle_follows_links(kind: str) -> None:
    """A valid link is stored once, nonsense is dropped, and what is replaced no longer holds."""
    model = TaskLLM(
        extract=items(fact("Mia lives in Lisbon")), link=linking(kind, "Mia lives in Lisbon, not Porto")
    )
    with client(model, memory_link_extraction_mode=MemoryLinkExtractionMode.POST_EXTRACTION) as memory:
        thread = memory.create_thread(user_id="u", agent_id="a")
        old = memory.add_memory("Mia lives in Porto", memory_type="fact", user_id="u", agent_id="a")
        say(thread, "I moved to Lisbon")
        old_record = memory.store.get("fact", old)
        assert old_record is not None
        replaced = kind in ("supersedes", "refines", "duplicates")
        assert (old_record.status is RecordStatus.INVALID) == replaced
        (new,) = [record for record in memory.list_memories("u") if record.id != old]
        assert new.content == ("Mia lives in Lisbon, not Porto" if replaced else "Mia lives in Lisbon")
        (relation,) = memory.store.list_relations()
        assert (relation.source_record_id, relation.target_record_id, relation.relation_type) == (
            new.id,
            old,
            kind,
        )


def test_links_may_be_found_during_extraction() -> None:
    """Known memories are numbered, and an item names its target by number; a wrong number costs the link alone."""

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        assert "1. [fact, -] Mia lives in Porto" in messages[-1]["content"]
        links = [
            {"target_candidate_index": 1, "link_type": "supersedes"},
            {"target_candidate_index": 9, "link_type": "supersedes"},
            {"target_candidate_index": 0, "link_type": "supersedes"},
        ]
        return items(fact("Mia lives in Lisbon", links=links))

    model = TaskLLM(extract=answer)
    with client(model, memory_link_extraction_mode=MemoryLinkExtractionMode.DURING_EXTRACTION) as memory:
        thread = memory.create_thread(user_id="u", agent_id="a")
        old = memory.add_memory("Mia lives in Porto", memory_type="fact", user_id="u", agent_id="a")
        say(thread, "Mia lives somewhere else now")
        assert [relation.target_record_id for relation in memory.store.list_relations()] == [old]
        assert model.tasks == ["extract"]


def test_long_input_is_extracted_in_chunks_and_nothing_is_dropped() -> None:
    """Under a token limit several requests together show every word, also of one message that is too long."""
    model = TaskLLM(extract=items(fact("x")))
    words = [f"word{number}" for number in range(2500)]
    with client(model, memory_extraction_token_limit=2000) as memory:
        thread = memory.create_thread(user_id="u")
        say(thread, " ".join(words[:1000]), *(" ".join(words[n : n + 100]) for n in range(1000, 2500, 100)))
        texts = model.asked("extract")
        assert len(texts) > 3
        shown = "".join(texts)
        assert sum(word in shown for word in words) > 2490  # a cut may fall into a word
    with (
        pytest.raises(ValueError, match="memory_extraction_token_limit"),
        client(TaskLLM(), memory_extraction_token_limit=50) as memory,
    ):
        memory.create_thread(user_id="u")


def test_long_messages_are_shortened_by_the_model_and_stay_as_they_are() -> None:
    """The prompt has the short text, an empty answer falls back to the head, the stored text never changes."""
    for answer, wanted in (("in short", "in short"), ("", "word0 word1")):
        model = TaskLLM(write=answer)
        with client(model) as memory:
            thread = memory.create_thread(
                user_id="u", max_message_token_length=20, message_shortening_input_token_limit=30
            )
            text = " ".join(f"word{number}" for number in range(100))
            say(thread, text)
            assert wanted in model.asked("extract")[0]
            assert "[...]" in model.asked("write")[0]
            assert thread.get_messages()[0].content == text


def test_instructions_reach_the_model() -> None:
    """Custom instructions stand behind the built-in ones, those for links with the links."""
    model = TaskLLM(extract=items(fact("Mia sails")))
    config = {
        "memory_extraction_custom_instructions": "Only boats.",
        "memory_link_extraction_custom_instructions": "Only harbours.",
        "memory_link_extraction_mode": MemoryLinkExtractionMode.POST_EXTRACTION,
    }
    with client(model, **config) as memory:
        thread = memory.create_thread(user_id="u", agent_id="a")
        memory.add_memory("Mia sails often", memory_type="fact", user_id="u", agent_id="a")
        say(thread, "I sail")
    systems = {task: str(messages[0]["content"]) for task, messages in model.calls}
    assert systems["extract"].endswith("Only boats.")
    assert systems["link"].endswith("Only harbours.")
    assert "Only harbours." not in systems["extract"]


def test_a_changed_message_is_extracted_again() -> None:
    """New words make one more extraction; the same words, or metadata alone, none."""
    model = TaskLLM()
    with client(model) as memory:
        thread = memory.create_thread(user_id="u")
        (message,) = say(thread, "I sail")
        thread.update_message(message, content="I sail", metadata={"a": 1})
        assert len(model.calls) == 1
        thread.update_message(message, content="I row")
        assert "I row" in model.asked("extract")[1]
        with pytest.raises(NotFoundError):
            thread.update_message("nobody", content="I row")


def test_summaries_cover_what_was_shown_in_several_requests() -> None:
    """A long thread is summarised step by step, each request beginning with the summary before it."""
    numbers = iter(range(100))
    model = TaskLLM(summarise=lambda _: {"summary": f"S{next(numbers)}", "topics": ["b", "a", "b"]})
    with client(model, extract_memories=False, enable_context_summary=True) as memory:
        thread = memory.create_thread(user_id="u", context_card_token_limit=900)
        say(thread, *(f"sentence number {number} about sailing in the bay" for number in range(60)))
        texts = model.asked("summarise")
        assert len(texts) > 2
        assert all(f"number {number} " in "".join(texts) for number in range(60))
        assert all(f"<summary>S{place}</summary>" in text for place, text in enumerate(texts[1:]))
        before = len(texts)
        assert str(thread.get_summary()) == f"S{before - 1}"
        assert len(model.asked("summarise")) == before
        assert thread.get_context_card().topics == ["b", "a"]


def test_a_changed_or_deleted_message_is_summarised_anew() -> None:
    """Summaries that cover it are forgotten, so that nothing of it is left in them."""
    model = TaskLLM(
        summarise=lambda messages: {"summary": str(messages[-1]["content"].count("secret")), "topics": []}
    )
    with client(model, extract_memories=False, enable_context_summary=True) as memory:
        thread = memory.create_thread(user_id="u")
        first, second = say(thread, "the secret is 1", "good morning")
        assert str(thread.get_summary()) == "1"
        thread.update_message(first, content="nothing to see")
        assert str(thread.get_summary()) == "0"
        thread.delete_message(second)
        assert str(thread.get_summary()) == "0"


def test_a_failing_summary_leaves_the_memories() -> None:
    """The memories of an extraction are stored though the summary after it fails."""
    model = TaskLLM(extract=items(fact("Mia sails")), summarise=ModelError("down"))
    with client(model, enable_context_summary=True) as memory:
        thread = memory.create_thread(user_id="u")
        say(thread, "I sail")
        assert contents(memory) == ["Mia sails"]
        assert str(thread.get_summary()) == "user (-): I sail"


def background(model: TaskLLM | None, path: str | Path = ":memory:", **config: Any) -> AgentMemory:
    """Return a client that extracts in the background."""
    return client(model, path, **{"extraction_mode": MemoryExtractionMode.BACKGROUND, **config})


def test_background_extraction_does_not_hold_up_the_caller() -> None:
    """Adding returns at once, waiting waits, and a timeout is an error."""
    with background(TaskLLM(extract=items(fact("Mia sails")), delay_s=0.4)) as memory:
        thread = memory.create_thread(user_id="u")
        start = time.monotonic()
        say(thread, "I sail")
        assert time.monotonic() - start < 0.3
        assert contents(memory) == []
        assert [item.state for item in memory.list_extractions()] in ([JobState.WAITING], [JobState.RUNNING])
        with pytest.raises(TimeoutError):
            thread.wait_for_memory_extraction(0.05)
        with pytest.raises(TimeoutError):
            memory.wait_for_memory_extraction(0.05)
        thread.wait_for_memory_extraction(10)
        assert contents(memory) == ["Mia sails"]
        memory.wait_for_memory_extraction(0.001)


def test_one_thread_is_extracted_in_order_and_several_side_by_side() -> None:
    """Requests of one thread never overlap; four threads run at once, and no more."""
    lock, running, most = threading.Lock(), [0], [0]
    order: list[str] = []

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            order.append(str(messages[-1]["content"]))
        time.sleep(0.05)
        with lock:
            running[0] -= 1
        return items()

    with background(TaskLLM(extract=answer)) as memory:
        one = memory.create_thread(user_id="u")
        for number in range(6):
            say(one, f"x{number}")
        memory.wait_for_memory_extraction(20)
        assert most[0] == 1
        assert [text.split("<content>")[1][:2] for text in order] == [f"x{number}" for number in range(6)]
        threads = [memory.create_thread(user_id="u") for _ in range(8)]
        for thread in threads:
            say(thread, "hello")
        memory.wait_for_memory_extraction(20)
        assert 2 <= most[0] <= 4


@pytest.mark.parametrize("behaviour", list(BackgroundExtractionQueueFullBehavior))
def test_a_full_queue_keeps_what_it_cannot_take(behaviour: BackgroundExtractionQueueFullBehavior) -> None:
    """Beyond 16 waiting extractions of a thread the messages are stored, and the extraction is kept as failed."""
    gate = threading.Event()

    def answer(_: list[dict[str, Any]]) -> dict[str, Any]:
        gate.wait(20)
        return items()

    memory = background(
        TaskLLM(extract=answer),
        background_extraction_queue_full_behavior=behaviour,
        background_extraction_queue_put_timeout_seconds=0.05,
    )
    with memory:
        thread = memory.create_thread(user_id="u")
        refused = 0
        for number in range(20):
            try:
                say(thread, f"x{number}")
            except TimeoutError:
                refused += 1
            if number == 0:
                while memory.list_extractions(states=[JobState.WAITING]):
                    time.sleep(0.01)
        assert len(thread.get_messages()) == 20
        raises = behaviour is BackgroundExtractionQueueFullBehavior.WAIT_THEN_RAISE
        assert refused == (3 if raises else 0)
        failed = memory.list_extractions(states=["failed"])
        assert [item.error for item in failed] == ["the queue was full"] * 3
        gate.set()
        memory.wait_for_memory_extraction(20)
        assert memory.retry_extractions(thread_id=thread.thread_id) == 3
        memory.wait_for_memory_extraction(20)
        assert memory.list_extractions() == []


def test_background_failures_are_logged_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody waits for them, so the log tells, and the extraction stays as failed."""
    with background(TaskLLM(extract=ModelError("down"))) as memory:
        say(memory.create_thread(user_id="u"), "I sail")
        memory.wait_for_memory_extraction(10)
        assert [item.state for item in memory.list_extractions()] == [JobState.FAILED]
    assert any("extraction failed" in line for line in caplog.messages)


def test_what_is_cancelled_stores_nothing_any_more() -> None:
    """An extraction that runs while it is cancelled ends without a trace, and may be retried by its id."""
    gate = threading.Event()

    def answer(_: list[dict[str, Any]]) -> dict[str, Any]:
        gate.wait(20)
        return items(fact("Mia sails"))

    with background(TaskLLM(extract=answer)) as memory:
        thread = memory.create_thread(user_id="u")
        say(thread, "I sail")
        while not memory.list_extractions(states=["running"]):
            time.sleep(0.01)
        (job,) = memory.list_extractions()
        assert memory.cancel_extractions([job.id]) == 1
        gate.set()
        time.sleep(0.1)
        assert contents(memory) == []
        assert [item.state for item in memory.list_extractions()] == [JobState.CANCELLED]
        assert memory.retry_extractions() == 0
        assert memory.retry_extractions([job.id]) == 1
        memory.wait_for_memory_extraction(10)
        assert contents(memory) == ["Mia sails"]
        with pytest.raises(ValueError, match="states"):
            memory.list_extractions(states=["nonsense"])


def test_a_deleted_thread_learns_nothing_any_more() -> None:
    """What runs for it finds its job gone and stores nothing; an erased user leaves no job."""
    gate = threading.Event()

    def answer(_: list[dict[str, Any]]) -> dict[str, Any]:
        gate.wait(20)
        return items(fact("Mia sails"))

    with background(TaskLLM(extract=answer)) as memory:
        thread = memory.create_thread(user_id="u", thread_id="t")
        say(thread, "I sail")
        while not memory.list_extractions(states=["running"]):
            time.sleep(0.01)
        assert memory.delete_thread("t") == 1
        assert memory.list_extractions() == []
        gate.set()
        time.sleep(0.1)
        assert contents(memory) == []
        assert memory.list_extractions() == []


CRASH = """
    import os, sys, threading
    from hitherto import AgentMemory, MemoryExtractionConfig
    from hitherto.testing.scripted import TaskLLM

    begun = threading.Event()

    def answer(messages):
        begun.set()
        threading.Event().wait(60)

    config = MemoryExtractionConfig(
        enable_context_summary=False, memory_extraction_frequency=2, memory_extraction_window=4
    )
    model = TaskLLM(extract=answer)
    memory = AgentMemory(sys.argv[1], embedder=None, llm=model, memory_extraction_config=config)
    thread = memory.create_thread(user_id="u", thread_id="t")
    thread.add_messages([{"role": "user", "content": text} for text in ("a", "b", "c")])
    begun.wait(60)
    os._exit(9)
"""


def test_extraction_survives_a_crash_and_is_done_once(tmp_path: Path) -> None:
    """A process dies amid a request; the next one goes on with it at once, and what gathered is still there."""
    path = tmp_path / "memory.db"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(CRASH), str(path)], timeout=120, check=False
    )
    assert ended.returncode == 9
    with background(None, path) as memory:
        assert [item.state.value for item in memory.list_extractions()] == ["running", "gathering"]
    model = TaskLLM(extract=lambda messages: items(fact(str(messages[-1]["content"].count("<message>")))))
    with background(model, path) as memory:
        memory.wait_for_memory_extraction(20)
        assert contents(memory) == ["2"]
        assert [item.state.value for item in memory.list_extractions()] == ["gathering"]
        say(memory.get_thread("t"), "d")
        memory.wait_for_memory_extraction(20)
        assert len(model.calls) == 2


def test_closing_waits_for_what_runs(tmp_path: Path) -> None:
    """A client that is closed finishes first; with a short timeout the rest runs when the store is opened again."""
    path = tmp_path / "memory.db"
    with background(TaskLLM(extract=items(fact("Mia sails")), delay_s=0.2), path) as memory:
        say(memory.create_thread(user_id="u"), "I sail")
    with background(TaskLLM(extract=items(fact("Mia rows")), delay_s=0.5), path) as memory:
        assert contents(memory) == ["Mia sails"]
        thread = memory.create_thread(user_id="u", thread_id="t")
        say(thread, "I row")
        memory.close(timeout=0.01)
    with background(None, path) as memory:
        assert [item.state for item in memory.list_extractions()] == [JobState.WAITING]
    with background(TaskLLM(extract=items(fact("Mia rows"))), path) as memory:
        memory.wait_for_memory_extraction(10)
        assert sorted(map(str, contents(memory))) == ["Mia rows", "Mia sails"]


def test_closing_waits_for_who_is_claiming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that is closed while a thread claims a job leaves it waiting, not running."""
    from hitherto.store import jobs

    begun, claim = threading.Event(), jobs.claim

    def slowly(*args: Any, **options: Any) -> Any:
        begun.set()
        time.sleep(0.3)
        return claim(*args, **options)

    monkeypatch.setattr(jobs, "claim", slowly)
    path = tmp_path / "memory.db"
    with background(TaskLLM(extract=items(fact("Mia rows")), delay_s=5), path) as memory:
        say(memory.create_thread(user_id="u"), "I row")
        assert begun.wait(20)
        memory.close(timeout=0.01)
    with background(None, path) as memory:
        assert [item.state for item in memory.list_extractions()] == [JobState.WAITING]


def test_a_job_that_was_taken_over_stores_nothing() -> None:
    """Who lost the lease finds out when storing; nothing is stored twice."""
    from hitherto.lifetime import utc_now
    from hitherto.store import jobs

    with client(TaskLLM()) as memory:
        now = utc_now()
        job = jobs.Job("extract", "t", "u", {"message_ids": []}, now, now)
        store = memory.store
        store.transact_jobs(lambda table: table.put(job))
        mine = store.transact_jobs(lambda table: jobs.claim(table, owner="me:1", now=now))
        assert mine is not None
        assert store.transact_jobs(lambda table: jobs.claim(table, owner="you:2", now=now)) is None
        later = now + 2 * jobs.LEASE
        theirs = store.transact_jobs(lambda table: jobs.claim(table, owner="you:2", now=later))
        assert theirs is not None
        assert theirs.attempts == 2
        with pytest.raises(ConflictError, match="taken over"):
            store.transact_jobs(lambda table: jobs.finish(table, mine))
        store.transact_jobs(lambda table: jobs.finish(table, theirs))
        assert memory.list_extractions() == []


def test_a_store_without_a_queue_of_its_own_works_too() -> None:
    """Jobs of such a store are kept in memory, with the same rules."""
    with AgentMemory(store=ReferenceStore(), llm=TaskLLM(extract=items(fact("Mia sails")))) as memory:
        thread = memory.create_thread(user_id="u")
        say(thread, "I sail")
        thread.wait_for_memory_extraction(10)
        assert contents(memory) == ["Mia sails"]
        memory.store.erase_user("u")
        assert memory.list_extractions() == []


def test_the_event_loop_is_never_blocked() -> None:
    """While a model takes its time, the loop goes on ticking; the twins do what the methods do."""

    async def run() -> tuple[int, list[Any]]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        async with client(TaskLLM(extract=items(fact("Mia sails")), delay_s=0.3)) as memory:
            thread = await memory.create_thread_async(user_id="u")
            await thread.add_messages_async([{"role": "user", "content": "I sail"}])
            summary = await thread.get_summary_async()
            card = await thread.get_context_card_async()
            await thread.wait_for_memory_extraction_async(5)
            found = await memory.list_memories_async("u")
        ticking.cancel()
        return ticks, [found[0].content, bool(str(summary)), bool(card.content)]

    ticks, outcome = asyncio.run(run())
    assert ticks > 10
    assert outcome == ["Mia sails", True, True]


def test_cancelling_the_caller_loses_nothing() -> None:
    """A cancelled add has stored its message, and its extraction is done or kept."""

    async def run() -> tuple[int, int]:
        async with client(TaskLLM(extract=items(fact("Mia sails")), delay_s=0.2)) as memory:
            thread = await memory.create_thread_async(user_id="u")
            adding = asyncio.create_task(thread.add_messages_async([{"role": "user", "content": "I sail"}]))
            await asyncio.sleep(0.1)
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding
            messages = await thread.get_messages_async()
            return len(messages), len(await memory.list_memories_async("u"))

    assert asyncio.run(run()) == (1, 1)


def test_a_stored_thread_extracts_as_it_was_configured(tmp_path: Path) -> None:
    """Reopened with a model it goes on; without one it warns and stores; a handle's own model is used."""
    path = tmp_path / "memory.db"
    with client(TaskLLM(), path) as memory:
        memory.create_thread(
            user_id="u",
            thread_id="t",
            memory_extraction_config=MemoryExtractionConfig(
                memory_extraction_custom_instructions="Only boats."
            ),
        )
    with AgentMemory(path, embedder=None) as memory, pytest.warns(RuntimeWarning, match="no language model"):
        say(memory.get_thread("t"), "I sail")
    own = TaskLLM(extract=items(fact("Mia sails")))
    with client(TaskLLM(extract=ModelError("not this one")), path) as memory:
        thread = memory.get_thread("t", llm=own)
        say(thread, "I row")
        assert contents(memory) == ["Mia sails"]
        assert str(own.calls[0][1][0]["content"]).endswith("Only boats.")


def test_a_program_without_a_model_extracts_once_there_is_one(tmp_path: Path) -> None:
    """A thread that was created without a model has not decided against extraction."""
    path = tmp_path / "memory.db"
    with AgentMemory(path, embedder=None) as memory:
        memory.create_thread(user_id="u", thread_id="t")
    with client(TaskLLM(extract=items(fact("Mia sails"))), path) as memory, warnings.catch_warnings():
        warnings.simplefilter("error")
        thread = memory.get_thread("t")
        say(thread, "I sail")
        thread.wait_for_memory_extraction(10)
        assert contents(memory) == ["Mia sails"]


def test_secrets_of_one_user_do_not_reach_the_prompt_of_another() -> None:
    """What is known comes from the thread's own user and agent."""
    model = TaskLLM()
    with AgentMemory(":memory:", embedder=HashEmbedder(), llm=model) as memory:
        memory.add_memory("Ben sails the Gravlax", user_id="ben", agent_id="a")
        thread = memory.create_thread(user_id="mia", agent_id="a")
        say(thread, "who sails a boat?")
        thread.wait_for_memory_extraction(10)
        assert "Gravlax" not in json.dumps([messages for _, messages in model.calls])


@pytest.mark.parametrize("level", ["client", "thread"])
def test_an_added_memory_is_linked_by_the_model(level: str, caplog: pytest.LogCaptureFixture) -> None:
    """Where there is a model it looks for links, never to the memory itself; off, or failing, it changes nothing."""
    model = TaskLLM(link=linking("supersedes", "other words"))
    with client(model) as memory:
        thread = memory.create_thread(user_id="u", agent_id="a", thread_id="t")
        owner = memory if level == "client" else thread
        scope = {"user_id": "u", "agent_id": "a", "thread_id": "t"} if level == "client" else {}
        old = owner.add_memory("Mia lives in Porto", memory_type="fact", **scope)  # type: ignore[arg-type]
        assert model.tasks == []  # there is nothing to link to yet
        new = owner.add_memory("Mia lives in Lisbon", **scope)  # type: ignore[arg-type]
        (relation,) = memory.store.list_relations()
        assert (relation.source_record_id, relation.target_record_id) == (new, old)
        record = memory.store.get("memory", new)
        assert record is not None
        assert record.content == "Mia lives in Lisbon"
        owner.add_memory("Mia lives in Faro", autonomous_linking=False, **scope)  # type: ignore[arg-type]
        assert model.tasks == ["link"]
    with client(TaskLLM(link=ModelError("down"))) as memory:
        memory.add_memory("Mia lives in Porto", user_id="u")
        memory.add_memory("Mia lives in Lisbon", user_id="u")
        assert len(memory.list_memories("u")) == 2
        assert memory.store.list_relations() == []
    assert any("links were not found" in line for line in caplog.messages)
