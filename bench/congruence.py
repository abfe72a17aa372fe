"""Compares the backends on LoCoMo's questions: python bench/congruence.py --data FOLDER --url postgresql://...

Every conversation is stored in a SQLite file and in a PostgreSQL schema, which must be empty, and every question is
asked of both. Printed are the share of the questions whose first ten results are the same records, the share with
them in the same order, and both recalls. It ends with an error below 95 %. Nothing leaves these two stores.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from locomo import load_conversations
from retrieval import ask, score, store

from hitherto import AgentMemory, Embedder, Fingerprint, LocalEmbedder
from hitherto.testing.scripted import HashEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

WANTED = 0.95


class Remembering(Embedder):
    """Embeds each text once, for both backends.

    Args:
        inner: What embeds it.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._known: dict[tuple[str, bool], NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> NDArray[np.float32]:
        """Return the vectors of texts."""
        new = list(dict.fromkeys(text for text in texts if (text, is_query) not in self._known))
        if new:
            made = self._inner.embed(new, is_query=is_query)
            self._known.update(((text, is_query), vector) for text, vector in zip(new, made, strict=True))
        return np.stack([self._known[text, is_query] for text in texts])

    @property
    def embedding_dimension(self) -> int:
        """The vectors' dimension."""
        return self._inner.embedding_dimension

    @property
    def fingerprint(self) -> Fingerprint:
        """What makes the vectors."""
        return self._inner.fingerprint


def main() -> None:
    """Run the comparison that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with LoCoMo's conversations")
    parser.add_argument("--url", required=True, help="an empty PostgreSQL database or schema")
    parser.add_argument("--embedder", choices=("local", "hash", "none"), default="local")
    given = parser.parse_args()
    inner = {"local": LocalEmbedder, "hash": HashEmbedder, "none": lambda: None}[given.embedder]()
    embedder = None if inner is None else Remembering(inner)
    same = ordered = total = 0
    recalls: list[tuple[float, float]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        AgentMemory(Path(folder) / "memory.db", embedder=embedder) as first,
        AgentMemory(given.url, embedder=embedder) as second,
    ):
        for conversation in load_conversations(given.data):
            store(first, conversation, threads="session")
            store(second, conversation, threads="session")
            for question in conversation.questions:
                one, _ = ask(first, conversation, question, None)
                two, _ = ask(second, conversation, question, None)
                total += 1
                same += set(one[:10]) == set(two[:10])
                ordered += one[:10] == two[:10]
                recalls.append((score(one, question.evidence)[1], score(two, question.evidence)[1]))
    sqlite, postgres = (round(sum(column) / total, 4) for column in zip(*recalls, strict=True))
    report = {
        "questions": total,
        "same_top_10": round(same / total, 4),
        "same_order": round(ordered / total, 4),
        "recall_10": {"sqlite": sqlite, "postgres": postgres},
    }
    print(json.dumps(report, indent=1))
    if same / total < WANTED or postgres < sqlite:
        sys.exit("the backends do not agree")


if __name__ == "__main__":
    main()
