"""Measures what extraction keeps of a LoCoMo conversation: python bench/extraction.py --data FILE --model NAME.

The conversation is added session by session and extracted at once, by any model behind the OpenAI-compatible URL of
--api-base. Reported are memories per message, repeats, the share of questions whose answer is kept, tokens and seconds.
An answer is kept if one memory holds most of its words (string overlap); with --judge-model a model is asked as well.
Without --model a stand-in keeps every message as it is, which shows the ceiling of the measure; nothing leaves this
machine then.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from locomo import CATEGORIES, Conversation, load_conversation
from rich.progress import track

from hitherto import (
    LLM,
    AgentMemory,
    HithertoError,
    LLMResponse,
    MemoryExtractionConfig,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
    OpenAICompatibleLLM,
)
from hitherto.extraction.reconcile import same_words
from hitherto.extraction.transcript import estimate
from hitherto.models.json_reply import parse_json_reply
from hitherto.testing.scripted import TaskLLM
from hitherto.text import query_words

ENOUGH = 0.6
"""The share of an answer's words that a memory must hold."""

JUDGE_SCHEMA: dict[str, Any] = {
    "title": "judgement",
    "type": "object",
    "properties": {"kept": {"type": "boolean"}},
    "required": ["kept"],
    "additionalProperties": False,
}


class Counting(LLM):
    """Counts what goes to a model and comes back.

    Args:
        inner: The model.
    """

    def __init__(self, inner: LLM) -> None:
        self._inner = inner
        self.calls = self.tokens_in = self.tokens_out = 0

    def generate(
        self, /, prompt: Any, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Ask the model; tokens are estimated from characters."""
        self.calls += 1
        self.tokens_in += estimate(json.dumps(prompt, default=str))
        answer = self._inner.generate(prompt, response_json_schema=response_json_schema, **kwargs)
        self.tokens_out += estimate(answer.text)
        return answer


@dataclass(frozen=True, slots=True)
class Report:
    """What one run measured.

    Attributes:
        messages: How many messages were added.
        memories: How many memories were kept.
        per_message: Memories per message.
        repeats: Memories that say the same as another in the same words.
        failed: Sessions whose extraction failed.
        questions: How many questions were asked of the memories.
        evidence_kept: The share of them whose answer a memory holds, by words.
        evidence_judged: The same by the judge, or None.
        calls: Requests to the model.
        tokens_in: About how many tokens it read.
        tokens_out: About how many tokens it wrote.
        seconds: How long extraction took.
    """

    messages: int
    memories: int
    per_message: float
    repeats: int
    failed: int
    questions: int
    evidence_kept: float
    evidence_judged: float | None
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float


def keep_everything() -> LLM:
    """Return a stand-in for a model that keeps each message as it is."""

    def extract(messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = messages[-1]["content"].split("<messages>")[1].split("</messages>")[0]
        texts = [part.split("</content>")[0] for part in body.split("<content>")[1:]]
        roles = [part.split("</role>")[0] for part in body.split("<role>")[1:]]
        items = [
            {"text": f"{role}: {text}", "record_type": "memory"}
            for role, text in zip(roles, texts, strict=True)
        ]
        return {"memories": items}

    return TaskLLM(extract=extract)


def answers(path: Path) -> list[tuple[str, str]]:
    """Return the questions of a conversation with their answers.

    Args:
        path: Its JSON file.
    """
    entries = json.loads(path.read_text(encoding="utf-8"))["qa"]
    return [
        (entry["question"], str(entry["answer"]))
        for entry in entries
        if entry["category"] in CATEGORIES and entry.get("answer") not in (None, "")
    ]


def holds(memory: set[str], answer: Sequence[str]) -> bool:
    """Return whether a memory's words are most of an answer's."""
    return bool(answer) and sum(word in memory for word in answer) / len(answer) >= ENOUGH


def judged(judge: LLM, question: str, answer: str, found: Sequence[str]) -> bool:
    """Ask a model whether memories entail an answer.

    Args:
        judge: The model.
        question: The question.
        answer: The right answer.
        found: The memories that a search for the question finds.
    """
    prompt = (
        "Do these notes contain what is needed to give this answer to this question?\n"
        f"Question: {question}\nAnswer: {answer}\nNotes:\n" + "\n".join(f"- {text}" for text in found)
    )
    try:
        reply = judge.generate(prompt, response_json_schema=JUDGE_SCHEMA)
        return parse_json_reply(reply.text).get("kept") is True
    except HithertoError:
        return False


def extract(conversation: Conversation, memory: AgentMemory) -> tuple[int, float]:
    """Add a conversation session by session; return how many failed, and the seconds it took."""
    thread = memory.create_thread(user_id="bench", agent_id="bench")
    sessions: dict[int, list[dict[str, Any]]] = {}
    for turn in conversation.turns:
        sessions.setdefault(turn.session, []).append(turn.message())
    failed, start = 0, time.perf_counter()
    for messages in track(sessions.values(), description="extracting"):
        try:
            thread.add_messages(messages)
        except HithertoError:
            failed += 1
    return failed, time.perf_counter() - start


def measure(path: Path, model: LLM, judge: LLM | None) -> Report:
    """Extract a conversation and ask its questions.

    Args:
        path: The conversation's JSON file.
        model: What extracts.
        judge: What judges whether answers are kept, or None for string overlap alone.
    """
    conversation = load_conversation(path)
    counting = Counting(model)
    config = MemoryExtractionConfig(
        extraction_mode=MemoryExtractionMode.INLINE,
        memory_link_extraction_mode=MemoryLinkExtractionMode.DISABLED,
        enable_context_summary=False,
        memory_extraction_token_limit=6000,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        AgentMemory(
            str(Path(folder, "memory.db")), embedder=None, llm=counting, memory_extraction_config=config
        ) as memory,
    ):
        failed, seconds = extract(conversation, memory)
        texts = [record.content or "" for record in memory.list_memories("bench", limit=None)]
        words = [set(query_words(text)) for text in texts]
        asked = answers(path)
        wanted = [(question, answer, list(query_words(answer))) for question, answer in asked]
        counted = [item for item in wanted if item[2]]
        kept = sum(any(holds(one, needed) for one in words) for _, _, needed in counted)
        told = None
        if judge is not None:
            told = sum(
                judged(
                    judge, question, answer, [hit.content for hit in memory.search(question, user_id="bench")]
                )
                for question, answer, _ in track(counted, description="judging")
            )
    return Report(
        messages=len(conversation.turns),
        memories=len(texts),
        per_message=round(len(texts) / len(conversation.turns), 3),
        repeats=len(texts) - len({same_words(text) for text in texts}),
        failed=failed,
        questions=len(counted),
        evidence_kept=round(kept / len(counted), 3),
        evidence_judged=None if told is None else round(told / len(counted), 3),
        calls=counting.calls,
        tokens_in=counting.tokens_in,
        tokens_out=counting.tokens_out,
        seconds=round(seconds, 1),
    )


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="one conversation of LoCoMo")
    parser.add_argument("--model", help="the model's name; without it every message is kept as it is")
    parser.add_argument("--api-base", default="http://127.0.0.1:8080/v1")
    parser.add_argument("--judge-model", help="a model that judges whether answers are kept")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds to wait for one answer")
    parser.add_argument("--json", action="store_true", help="print JSON instead of lines")
    given = parser.parse_args()
    key = os.environ.get("HITHERTO_API_KEY")

    def named(name: str) -> LLM:
        return OpenAICompatibleLLM(name, given.api_base, api_key=key, timeout_s=given.timeout)

    model = named(given.model) if given.model else keep_everything()
    report = measure(given.data, model, named(given.judge_model) if given.judge_model else None)
    if given.json:
        print(json.dumps(asdict(report), indent=2))
        return
    for name, value in asdict(report).items():
        print(f"{name:16} {value}")


if __name__ == "__main__":
    main()
