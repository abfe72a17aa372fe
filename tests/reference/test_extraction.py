"""What is extracted, when and from what, is as recorded, but for what loses messages or memories there."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.reference.backends import empty_client

from hitherto import AgentMemory, MemoryExtractionConfig, MemoryExtractionMode, MemoryLinkExtractionMode
from hitherto.errors import HithertoError
from hitherto.testing.scripted import TaskLLM

pytestmark = pytest.mark.usefixtures("backend")

MESSAGE = re.compile(r"<message>.*?<role>(.*?)</role>\s*<content>(.*?)</content>\s*</message>", re.DOTALL)
INLINE: dict[str, Any] = {
    "extraction_mode": MemoryExtractionMode.INLINE,
    "memory_link_extraction_mode": MemoryLinkExtractionMode.DISABLED,
}


def load(reference_data: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a file of recorded behaviour, by id."""
    path = reference_data / "vectors" / "threads" / f"{name}.json"
    return {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}


def client(model: TaskLLM, **config: Any) -> AgentMemory:
    """Return a client that extracts at once."""
    return empty_client(
        llm=model,
        memory_extraction_config=MemoryExtractionConfig(**{**INLINE, **config}),
    )


def read(text: str, block: str) -> list[str]:
    """Return the messages that a request shows in a block."""
    found = re.search(rf"<{block}>\n(.*?)\n</{block}>", text, re.DOTALL)
    return [content for _, content in MESSAGE.findall(found[1])] if found else []


#: Recorded runs in which messages are extracted never or twice; ours are compared with what each message deserves.
LOSSY = {
    "freq2_nosum",
    "freq3_nosum",
    "freq3_win1_nosum",
    "freq4_win2_nosum",
    "freq2_win-1_nosum",
    "freq3_win-1_nosum",
    "freq-2_win-3",
    "sumfreq3_freq2",
    "freq-2_win3",
    "win-3_freq2",
}
TASKS = {"extract": "extract", "summarise": "summary_topics"}


def run_trigger(case: dict[str, Any]) -> tuple[list[list[str]], list[list[tuple[list[str], list[str]]]]]:
    """Add the messages of a recorded run; return the tasks of each step, and what its extractions showed."""
    model = TaskLLM()
    tasks: list[list[str]] = []
    shown: list[list[tuple[list[str], list[str]]]] = []
    number = 0
    with client(model, **case["config"]) as memory:
        thread = memory.create_thread(user_id="u1", agent_id="a1", thread_id="t1")
        for step in case["steps"]:
            before = len(model.calls)
            batch = [{"role": "user", "content": f"m{number + place}"} for place in range(step["added"])]
            number += step["added"]
            thread.add_messages(batch)
            calls = model.calls[before:]
            tasks.append([TASKS[task] for task, _ in calls])
            texts = [str(messages[-1]["content"]) for task, messages in calls if task == "extract"]
            shown.append([(read(text, "history"), read(text, "messages")) for text in texts])
    return tasks, shown


def test_extraction_runs_when_and_on_what_was_recorded(reference_data: Path) -> None:
    """Window and frequency give the recorded requests in every run that loses no message."""
    compared = 0
    for name, case in load(reference_data, "C_trigger").items():
        if name in LOSSY:
            continue
        tasks, shown = run_trigger(case)
        assert tasks == [step["llm_calls"] for step in case["steps"]], name
        wanted = [
            [
                ([text for _, text in item.get("history", [])], [text for _, text in item["target"]])
                for item in step["extractions"]
            ]
            for step in case["steps"]
        ]
        assert shown == wanted, name
        compared += 1
    assert compared > 15


@pytest.mark.parametrize("name", sorted(LOSSY))
def test_every_message_is_extracted_exactly_once(reference_data: Path, name: str) -> None:
    """Where the recording skips or repeats messages, ours extracts each once, or keeps it for the next request."""
    case = load(reference_data, "C_trigger")[name]
    _, shown = run_trigger(case)
    seen = [text for step in shown for _, targets in step for text in targets]
    total = sum(step["added"] for step in case["steps"])
    assert seen == [f"m{number}" for number in range(len(seen))]
    assert len(seen) >= total - 5


def written(memory: AgentMemory) -> list[dict[str, Any]]:
    """Return what was stored, in the form of the recording."""
    made = []
    for record in memory.list_memories("u1"):
        own = dict((record.metadata or {}).get("$agent_memory", {}))
        own.pop("source_message_ids")
        own.pop("prompt")
        rest = {key: value for key, value in (record.metadata or {}).items() if key != "$agent_memory"}
        meta = {**rest, **({"$agent_memory": own} if own else {})}
        made.append(
            {
                "type": record.record_type,
                "content": record.content,
                "ts": record.timestamp,
                "meta": meta or None,
                "user": record.user_id,
                "agent": record.agent_id,
                "thread": record.thread_id,
                "status": record.status.value,
            }
        )
    return sorted(made, key=lambda item: (item["type"], item["content"]))


#: Answers that the recording refuses as a whole though they hold something, and what ours keeps of them.
KEPT_HERE = {
    "fenced": ["A"],
    "prefix": ["A"],
    "trailing": ["A"],
    "no_thoughts": ["A"],
    "minimal": ["A"],
    "bad_type_among": ["A"],
    "upper_type": ["A"],
    "scope_bad": ["A"],
    "imp9": ["A"],
    "imp0": ["A"],
    "dup_text": ["A"],
}


def test_answers_are_read_as_recorded_or_better(reference_data: Path) -> None:
    """What the recording stores is stored; one bad item costs itself alone, and repeats are stored once."""
    compared = 0
    for name, case in load(reference_data, "C_extraction_output").items():
        if case.get("messages") is not None or case["config"] or case["llm_response"] == "<large>":
            continue
        if name.startswith("exc"):
            continue
        response = case["llm_response"]
        model = TaskLLM(extract=response if isinstance(response, (str, dict)) else json.dumps(response))
        with client(model, enable_context_summary=False) as memory:
            thread = memory.create_thread(user_id="u1", agent_id="a1", thread_id="t1")
            message = {"role": "user", "content": "hi", "timestamp": "2024-05-01T10:00:00"}
            failed = False
            try:
                thread.add_messages([message])
            except HithertoError:
                failed = True
            assert len(thread.get_messages()) == 1, name
            ours = written(memory)
            if name in KEPT_HERE:
                assert [item["content"] for item in ours] == KEPT_HERE[name], name
                continue
            recorded = sorted(case["memories"], key=lambda item: (item["type"], item["content"]))
            wanted = [{key: item[key] for key in ours[0]} for item in recorded] if ours else recorded
            for item, own in zip(wanted, ours, strict=True):
                if item["ts"] == "bad":
                    item["ts"] = own["ts"]  # what is no time falls back to the message's
            assert ours == wanted, name
            assert failed == (case["python_warnings"] == ["RuntimeWarning"] and not ours), name
            waits = memory.list_extractions(states=["failed"])
            assert bool(waits) == failed, name
            compared += 1
    assert compared > 12


def test_cards_are_rendered_as_recorded(reference_data: Path) -> None:
    """Every recorded card of texts, topics, results and messages has the recorded text."""
    from hitherto import ContextCard, FactRecord, Message, SearchResult, Summary

    fact = FactRecord("r1", content="likes pizza", timestamp="2024-01-01T00:00:00Z")
    found = SearchResult(0.1, fact)
    told = Message("user", "hi", "2024-01-01T00:00:00Z")
    cards = {
        "render/empty": ContextCard(summary=""),
        "render/summary": ContextCard(summary="ctx"),
        "render/summary_ws": ContextCard(summary="  ctx  "),
        "render/summary_multiline": ContextCard(summary="a\nb\n\nc"),
        "render/summary_xml": ContextCard(summary="a <b> & \"q\" 's'"),
        "render/topics": ContextCard(summary="ctx", topics=["travel", "food & <x>"]),
        "render/topics_only": ContextCard(summary="", topics=["travel"]),
        "render/topics_empty": ContextCard(summary="ctx", topics=[]),
        "render/topic_blank": ContextCard(summary="ctx", topics=["", " a "]),
        "render/rel": ContextCard(summary="ctx", relevant_results=[found]),
        "render/rel_only": ContextCard(summary="", relevant_results=[found]),
        "render/rel_empty": ContextCard(summary="ctx", relevant_results=[]),
        "render/recent_only": ContextCard(summary="", recent_messages=[told]),
        "render/recent_empty": ContextCard(summary="ctx", recent_messages=[]),
        "render/recent_nots": ContextCard(summary="ctx", recent_messages=[Message("user", "hi")]),
        "render/recent_xml": ContextCard(
            summary="ctx", recent_messages=[Message("us<er", '<b>&"', "2024-01-01T00:00:00Z")]
        ),
        "render/recent_multiline": ContextCard(
            summary="ctx", recent_messages=[Message("user", "a\nb", "2024-01-01T00:00:00Z")]
        ),
        "render/all": ContextCard(
            summary="ctx", topics=["t"], relevant_results=[found], recent_messages=[told]
        ),
        "render/fmt": ContextCard(
            summary="", recent_messages=[told], message_format="{role}:{content}@{timestamp}"
        ),
    }
    recorded = load(reference_data, "D_context_card_rendering")
    for name, card in cards.items():
        assert card.content == card.formatted_content == str(card) == recorded[name]["returns"], name
    assert {
        "content",
        "formatted_content",
        "recent_messages",
        "relevant_results",
        "summary",
        "topics",
    } <= set(dir(card))
    assert str(Summary("  x ")) == recorded["summary/ws"]["returns"][0]
    assert Summary("x") != Summary("x")


def summary_thread(memory: AgentMemory, count: int) -> Any:
    """Return a thread with the recorded messages."""
    thread = memory.create_thread(user_id="u1", agent_id="a1", thread_id="t1")
    thread.add_messages(
        [
            {
                "role": "user" if number % 2 == 0 else "assistant",
                "content": f"m{number}",
                "timestamp": f"2024-01-01T00:00:{number:02d}Z",
            }
            for number in range(count)
        ]
    )
    return thread


def test_summaries_without_a_model_are_as_recorded(reference_data: Path) -> None:
    """Transcripts, exceptions and budgets give the recorded texts; nothing of it is kept."""
    compared = 0
    for name, case in load(reference_data, "D_summary").items():
        match = re.fullmatch(r"get_summary\((\{.*\})\)", case.get("call", ""))
        if (
            not name.startswith("nollm/")
            or match is None
            or "150" in name
            or "10x" in name
            or "format" in name
        ):
            continue
        with empty_client() as memory:
            thread = summary_thread(memory, 0 if name == "nollm/empty" else 3)
            given = eval(match[1], {"__builtins__": {}})
            if "raises" in case:
                with pytest.raises(ValueError, match=case["names"][0]):
                    thread.get_summary(**given)
            else:
                assert str(thread.get_summary(**given)) == case["returns"], name
            assert memory.store.list("thread_summary", thread_id="t1") == []
        compared += 1
    assert compared > 15


def test_summaries_by_a_model_are_as_recorded(reference_data: Path) -> None:
    """A summary is reused until there is something new, and what leaves messages out is not kept."""
    recorded = load(reference_data, "D_summary")
    model = TaskLLM()
    with empty_client(
        llm=model,
        memory_extraction_config=MemoryExtractionConfig(extract_memories=False),
    ) as memory:
        thread = memory.create_thread(user_id="u1", agent_id="a1", thread_id="t1")
        assert str(thread.get_summary()) == recorded["llm/empty"]["returns"]
        thread.add_messages([{"role": "user", "content": f"m{number}"} for number in range(3)])
        for name, call in {
            "llm/first": {},
            "llm/second_reuse": {},
            "llm/except1": {"except_last": 1},
            "llm/except1_again": {"except_last": 1},
            "llm/except_all": {"except_last": 99},
            "llm/after_except": {},
            "llm/budget1": {"token_budget": 1},
            "llm/budget0": {"token_budget": 0},
        }.items():
            before = len(model.calls)
            assert str(thread.get_summary(**call)) == recorded[name]["returns"], name
            assert len(model.calls) - before == len(recorded[name]["llm_calls"]), name


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('{"summary": "S", "topics": []}', "S"),
        ('{"summary": " S ", "topics": [" A ", "a", "b"]}', "S"),
        ('{"summary": "S"}', "S"),
        ('```json\n{"summary":"S","topics":[]}\n```', "S"),
        ('{"summary": "", "topics": []}', None),
        ("oops", None),
        ('{"summary": 5, "topics": []}', None),
    ],
)
def test_only_what_is_a_summary_is_kept_as_one(answer: str, text: str | None) -> None:
    """Where the recording keeps raw text or a transcript as a summary, ours shows a transcript and keeps nothing."""
    model = TaskLLM(summarise=answer)
    with empty_client(
        llm=model,
        memory_extraction_config=MemoryExtractionConfig(extract_memories=False),
    ) as memory:
        thread = summary_thread(memory, 2)
        transcript = "user (2024-01-01T00:00:00Z): m0\n- assistant (2024-01-01T00:00:01Z): m1"
        assert str(thread.get_summary()) == (text or transcript)
        rows = memory.store.list("thread_summary", thread_id="t1")
        assert len(rows) == (text is not None)
        if '" A "' in answer:
            assert rows[0].content == {"text": "S", "topics": ["a", "b"]}


#: Card arguments of the recording that need its own store's distances, or whose quirk is not ours.
CARD_ORDER = re.compile(r"record_id>(.*?)<")


def card_memory() -> tuple[AgentMemory, Any]:
    """Return a client with the recorded thread and memories."""
    memory = empty_client()
    thread = memory.create_thread(user_id="u1", agent_id="a1", thread_id="t1")
    thread.add_messages(
        [
            {
                "role": "user" if number % 2 == 0 else "assistant",
                "content": f"m{number} pizza",
                "id": f"i{number}",
                "timestamp": f"2024-01-01T00:00:{number:02d}Z",
            }
            for number in range(8)
        ]
    )
    for number, kind in enumerate(("fact", "preference", "guideline", "memory", "fact", "fact")):
        thread.add_memory(
            f"pizza {kind} {number}",
            memory_type=kind,
            memory_id=f"k{number}",
            timestamp="2024-02-02T00:00:00Z",
        )
    return memory, thread


def test_card_arguments_are_taken_or_refused_as_recorded(reference_data: Path) -> None:
    """Every recorded argument gives a card or the recorded kind of error; numbers of results agree."""
    compared = 0
    memory, thread = card_memory()
    with memory:
        for name, case in load(reference_data, "D_context_card").items():
            match = re.fullmatch(r"get_context_card\((\{.*\})\)", case["call"])
            if match is None or name in {
                "nollm/empty",
                "nollm/nomsg_with_memories",
                "nollm/metadata_filter=[1]",
            }:
                continue
            given = eval(match[1], {"__builtins__": {}})
            if "$bad" in match[1]:
                continue  # an unknown operator is an error here
            if case.get("raises"):
                with pytest.raises((ValueError, TypeError)):
                    thread.get_context_card(**given)
            else:
                card = thread.get_context_card(**given)
                assert bool(card.content) == bool(case["returns"]), name
                recent = case["returns"].count("<message>\n      <timestamp>")
                assert len(card.recent_messages) == (recent if "recent" in name else 0), name
                if "budget" not in name and "50" not in name and "1001" not in name and "10}" not in name:
                    wanted = len(CARD_ORDER.findall(case["returns"]))
                    assert len(card.relevant_results) == wanted, name
            compared += 1
    assert compared > 45


def test_a_card_has_its_memories_without_messages() -> None:
    """A thread without messages has the newest memories on its card, where the recording has an empty one."""
    with empty_client() as memory:
        thread = memory.create_thread(user_id="u1", agent_id="a1")
        assert thread.get_context_card().content == ""
        for number in range(7):
            thread.add_memory(f"fact {number}", memory_type="fact")
        contents = [result.content for result in thread.get_context_card().relevant_results]
        assert contents == [f"fact {number}" for number in (6, 5, 4, 3, 2)]


def test_settings_are_stored_as_recorded(reference_data: Path) -> None:
    """What a thread stores of its configuration is the recorded value, and what was refused there is refused."""
    from hitherto.extraction.config import BackgroundExtractionQueueFullBehavior, MemoryExtractionImageContext

    names = {
        kind.__name__: kind
        for kind in (
            MemoryExtractionMode,
            MemoryLinkExtractionMode,
            MemoryExtractionImageContext,
            BackgroundExtractionQueueFullBehavior,
        )
    }
    compared = 0
    with empty_client(llm=TaskLLM()) as memory:
        for name, case in load(reference_data, "A_extraction_config_validation").items():
            if not name.startswith("thread/"):
                continue
            field, _, text = name.removeprefix("thread/").partition("=")
            text = re.sub(r"<(\w+)\.(\w+): [^>]*>", r"\1.\2", text)
            value = eval(text, {"__builtins__": {}, "inf": float("inf"), "nan": float("nan"), **names})
            if "raises" in case:
                if (field.endswith("custom_instructions") and value is None) or value == {"a"}:
                    continue  # None stands for none here
                with pytest.raises((ValueError, TypeError)):
                    memory.create_thread(memory_extraction_config=MemoryExtractionConfig(**{field: value}))
                continue
            thread = memory.create_thread(memory_extraction_config=MemoryExtractionConfig(**{field: value}))
            record = memory.store.get_thread_record(thread.thread_id)
            assert record is not None
            stored = (record.runtime_config or {})["memory_extraction_config"][field]
            if case["returns"] not in ("<nan>", "<inf>"):
                assert stored == case["returns"], name
            compared += 1
    assert compared > 40


def test_warnings_of_single_options_name_the_configuration() -> None:
    """Options one by one still work, and say what to write instead."""
    with (
        empty_client(llm=TaskLLM()) as memory,
        pytest.warns(DeprecationWarning, match="memory_extraction_config"),
    ):
        thread = memory.create_thread(memory_extraction_window=3)
    assert thread._extraction.memory_extraction_window == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        empty_client(llm=TaskLLM()).close()
