"""Reads LoCoMo conversations: their turns as messages, their questions with the turns that hold the answer.

The data (Maharana et al., ACL 2024; CC BY-NC 4.0) is not part of this project: name the folder that holds it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""The categories that are evaluated; the fifth asks what was never said."""

_SESSION = re.compile(r"session_(\d+)")
# Most are "D3:7"; a few strings hold several ids, zeros before the number, or "D:11:26".
_EVIDENCE = re.compile(r"D?:?\s*0*(\d+)\s*:\s*0*(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said.

    Attributes:
        id: Its id, such as "D3:7".
        session: The number of its session.
        speaker: Who said it.
        text: The words, with the caption of a shared picture.
        time: When its session took place, ISO 8601.
    """

    id: str
    session: int
    speaker: str
    text: str
    time: str

    def message(self) -> dict[str, Any]:
        """Return the turn as a message that a thread takes."""
        return {
            "role": self.speaker,
            "content": self.text,
            "timestamp": self.time,
            "metadata": {"dia_id": self.id},
        }


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it.

    Attributes:
        text: The question.
        category: Its category's number.
        evidence: The ids of the turns, each once; every one of them exists.
    """

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A long conversation of two people.

    Attributes:
        name: The name of its file.
        turns: What was said, in order.
        questions: The questions of the evaluated categories that have evidence.
    """

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load_conversations(folder: Path) -> list[Conversation]:
    """Read every conversation of a folder.

    Args:
        folder: The folder with the conversations' JSON files.

    Returns:
        The conversations, in the order of their names.

    Raises:
        FileNotFoundError: If the folder has none.
    """
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise FileNotFoundError(f"{folder} holds no *.json of LoCoMo")
    return [load_conversation(path) for path in paths]


def load_conversation(path: Path) -> Conversation:
    """Read one conversation.

    Args:
        path: Its JSON file.
    """
    data = json.loads(path.read_text(encoding="utf-8"))
    turns = _turns(data)
    known = {turn.id for turn in turns}
    questions = []
    for entry in data["qa"]:
        evidence = tuple(found for found in evidence_ids(entry.get("evidence") or []) if found in known)
        if entry["category"] in CATEGORIES and evidence:
            questions.append(Question(entry["question"], entry["category"], evidence))
    return Conversation(path.stem, tuple(turns), tuple(questions))


def evidence_ids(given: list[str]) -> list[str]:
    """Return the turn ids of evidence strings, of which some are malformed, each id once.

    Args:
        given: The strings.

    Examples:
        >>> evidence_ids(["D3:7", "D8:6; D9:17", "D30:05", "D:11:26", "D"])
        ['D3:7', 'D8:6', 'D9:17', 'D30:5', 'D11:26']
    """
    found = [f"D{session}:{turn}" for text in given for session, turn in _EVIDENCE.findall(text)]
    return list(dict.fromkeys(found))


def _turns(data: dict[str, Any]) -> list[Turn]:
    numbers = sorted(int(match.group(1)) for key in data if (match := _SESSION.fullmatch(key)))
    return [_turn(entry, number, data) for number in numbers for entry in data[f"session_{number}"]]


def _turn(entry: dict[str, Any], session: int, data: dict[str, Any]) -> Turn:
    caption = entry.get("blip_caption")
    text = entry["text"] + (f" [image: {caption}]" if caption else "")
    time = datetime.strptime(data[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y")
    return Turn(entry["dia_id"], session, entry["speaker"], text, time.isoformat() + "Z")
