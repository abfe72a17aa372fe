"""Shows what each parameter of search is worth: recall with its default and with its neighbours.

python bench/tuning.py --data FOLDER [--embedder none]. One parameter is changed at a time; everything else is as
bench/retrieval.py has it. Vectors are made once. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from locomo import CATEGORIES, Conversation, load_conversations
from retrieval import ask, mean_scores, score, store
from rich.progress import track

from hitherto import AgentMemory, Embedder, LocalEmbedder, SearchSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEIGHBOURS: dict[str, tuple[float, ...]] = {
    "previous_words": (0.0, 0.25, 0.75),
    "before_previous_words": (0.0, 0.15, 0.5),
    "next_words": (0.0, 0.2, 0.6),
    "date_words": (0.0, 0.4, 1.2),
    "k1": (0.8, 1.6),
    "b": (0.5, 0.9),
    "previous_meaning": (0.0, 0.1, 0.3),
    "next_meaning": (0.0, 0.2),
    "words_share": (0.3, 0.5),
    "speaker_bonus": (0.0, 0.1, 0.3),
    "question_penalty": (0.0, 0.2),
    "topic_weight": (0.0, 0.5, 1.5),
}


class CachedEmbedder(Embedder):
    """Makes each vector once.

    Args:
        inner: What makes them.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._made: dict[tuple[str, bool], NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Embed texts, from memory where they are known."""
        missing = [text for text in dict.fromkeys(texts) if (text, is_query) not in self._made]
        if missing:
            for text, vector in zip(missing, self._inner.embed(missing, is_query=is_query), strict=True):
                self._made[text, is_query] = vector
        return np.array([self._made[text, is_query] for text in texts], dtype=np.float32)

    @property
    def embedding_dimension(self) -> int:
        """The number of components."""
        return self._inner.embedding_dimension

    @property
    def max_input_tokens(self) -> int | None:
        """The most tokens that are read of one text."""
        return self._inner.max_input_tokens

    @property
    def fingerprint(self) -> Any:
        """The inner embedder's."""
        return self._inner.fingerprint


@dataclass(frozen=True, slots=True)
class Row:
    """What one setting gave.

    Attributes:
        parameter: Which parameter was changed; "default" for none.
        value: Its value.
        recall_10: Recall at 10 over all questions.
        multi_hop: Recall at 10 of the multi-hop questions.
        ndcg_10: nDCG at 10 over all questions.
    """

    parameter: str
    value: float | None
    recall_10: float
    multi_hop: float
    ndcg_10: float


def measure(
    conversations: Sequence[Conversation], embedder: Embedder | None, settings: SearchSettings
) -> tuple[float, float, float]:
    """Return recall at 10 over all questions and over the multi-hop ones, and nDCG at 10.

    Args:
        conversations: The conversations.
        embedder: What embeds, or None.
        settings: How search weighs.
    """
    rows, multi = [], []
    for conversation in conversations:
        with (
            tempfile.TemporaryDirectory() as folder,
            AgentMemory(
                str(Path(folder, "memory.db")),
                embedder=embedder,
                search_settings=settings,
                durability="normal",
            ) as memory,
        ):
            store(memory, conversation, threads="session")
            for question in conversation.questions:
                found, _ = ask(memory, conversation, question, None)
                rows.append(score(found, question.evidence))
                if CATEGORIES[question.category] == "multi-hop":
                    multi.append(rows[-1])
    everything = mean_scores(rows)
    return everything.recall_10, mean_scores(multi).recall_10, everything.ndcg_10


def main() -> None:
    """Print the table that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with LoCoMo's conversations")
    parser.add_argument("--embedder", choices=["none", "local"], default="local")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    conversations = load_conversations(given.data)
    embedder = CachedEmbedder(LocalEmbedder()) if given.embedder == "local" else None
    default = SearchSettings()
    known = {item.name for item in fields(default)}
    wanted: list[tuple[str, float | None]] = [("default", None)]
    wanted += [(name, value) for name, values in NEIGHBOURS.items() for value in values]
    rows = []
    for name, value in track(wanted, description="measuring"):
        changes: dict[str, Any] = {name: value} if name in known else {}
        if name == "words_share" and value is not None:
            changes["meaning_share"] = round(1 - value, 3)
        rows.append(Row(name, value, *measure(conversations, embedder, replace(default, **changes))))
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print("| parameter | value | R@10 | multi-hop R@10 | nDCG@10 |\n|---|---|---|---|---|")
    for row in rows:
        value = "" if row.value is None else f"{row.value:g}"
        print(
            f"| {row.parameter} | {value} | {row.recall_10:.3f} | {row.multi_hop:.3f} | {row.ndcg_10:.3f} |"
        )


if __name__ == "__main__":
    main()
