"""LoCoMo conversations: reading the benchmark's files, storing one, and measuring recall on its questions."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import typer

from hitherto.cli.output import print_table
from hitherto.errors import InvalidArgumentError

CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
K: Final = 10

_DIALOG_ID: Final = re.compile(r"D(\d+):(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: who said what when, and what a shared picture shows."""

    id: str
    speaker: str
    text: str
    timestamp: str | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the turns that answer it, and what kind it is."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation and the questions about it."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(path: str | Path) -> Conversation:
    """Read a conversation; questions without evidence and adversarial ones are left out.

    Args:
        path: A LoCoMo conversation as JSON.

    Raises:
        InvalidArgumentError: If the file is no such conversation.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        sessions = sorted(
            (int(match[1]), turns)
            for key, turns in data.items()
            if (match := _SESSION.fullmatch(key)) and isinstance(turns, list)
        )
        turns = tuple(
            _turn(item, _iso(data.get(f"session_{number}_date_time")))
            for number, items in sessions
            for item in items
        )
        known = {turn.id for turn in turns}
        questions = tuple(
            Question(item["question"], evidence, CATEGORIES[item["category"]])
            for item in data["qa"]
            if item["category"] in CATEGORIES and (evidence := _evidence(item.get("evidence", ())) & known)
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidArgumentError(
            f"{path} must be a LoCoMo conversation: sessions with turns, and qa; got {type(error).__name__}: {error}"
        ) from error
    return Conversation(Path(path).stem, turns, questions)


def _turn(item: dict[str, Any], timestamp: str | None) -> Turn:
    text = item["text"]
    if item.get("blip_caption"):
        text = f"{text} [image: {item['blip_caption']}]"
    return Turn(item["dia_id"], item["speaker"], text, timestamp)


def _iso(text: str | None) -> str | None:
    return None if not text else datetime.strptime(text, "%I:%M %p on %d %B, %Y").isoformat() + "Z"


def _evidence(items: Any) -> frozenset[str]:
    # A few strings hold several ids, stray zeros or punctuation.
    found = (_DIALOG_ID.findall(item) for item in items if isinstance(item, str))
    return frozenset(f"D{int(session)}:{int(turn)}" for pairs in found for session, turn in pairs)


def store(conversation: Conversation, file: str, *, quiet: bool) -> dict[str, Any]:
    """Store a conversation as one thread, a message per turn.

    Args:
        conversation: The conversation.
        file: The store.
        quiet: Whether to print nothing.
    """
    from rich.progress import Progress

    from hitherto import AgentMemory

    step = 50
    with AgentMemory(file) as memory, Progress(disable=quiet, transient=True) as progress:
        task = progress.add_task("storing", total=len(conversation.turns))
        thread = memory.create_thread(thread_id=conversation.name, user_id=conversation.name)
        for start in range(0, len(conversation.turns), step):
            turns = conversation.turns[start : start + step]
            thread.add_messages(
                [
                    {
                        "id": turn.id,
                        "role": turn.speaker,
                        "content": turn.text,
                        "timestamp": turn.timestamp,
                    }
                    for turn in turns
                ]
            )
            progress.advance(task, len(turns))
    if not quiet:
        typer.echo(f"stored {len(conversation.turns)} turns of {conversation.name}; this process ends now")
    return {"file": file, "messages": len(conversation.turns)}


def ask(conversation: Conversation, file: str, *, quiet: bool) -> dict[str, Any]:
    """Ask all questions of a stored conversation and measure recall of their evidence.

    Args:
        conversation: The conversation.
        file: The store that holds it.
        quiet: Whether to print nothing.
    """
    from rich.progress import track

    from hitherto import AgentMemory

    recalls: dict[str, list[float]] = {}
    with AgentMemory(file) as memory:
        for question in track(conversation.questions, "asking", disable=quiet, transient=True):
            results = memory.search(
                question.text, user_id=conversation.name, max_results=K, record_types=["message"]
            )
            found = question.evidence & {result.id for result in results}
            recalls.setdefault(question.category, []).append(len(found) / len(question.evidence))
    everything = [value for values in recalls.values() for value in values]
    table = {**{name: recalls[name] for name in sorted(recalls)}, "all": everything}
    rows = {
        name: {"questions": len(values), f"recall@{K}": round(sum(values) / max(1, len(values)), 3)}
        for name, values in table.items()
    }
    if not quiet:
        print_table(
            ["questions", "how many", f"recall@{K}"],
            [(name, row["questions"], row[f"recall@{K}"]) for name, row in rows.items()],
            title=f"{conversation.name}: is the evidence among the first {K}?",
        )
    return rows
