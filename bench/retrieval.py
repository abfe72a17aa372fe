"""Measures how well search finds the evidence of LoCoMo's questions: python bench/retrieval.py --data FOLDER.

One turn is one message, one conversation one user, and one session one thread (--threads conversation: all of them
one thread). A question counts for the share of its evidence turns that are among the first 5, 10 and 20 results,
and for nDCG at 10. Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from locomo import CATEGORIES, Conversation, Question, load_conversations

from hitherto import AgentMemory

if TYPE_CHECKING:
    from hitherto.models.base import Embedder, Reranker
    from hitherto.search.config import MemorySearchConfig

DEPTHS = (5, 10, 20)


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over questions.

    Attributes:
        questions: How many.
        recall_5: The share of the evidence among the first 5.
        recall_10: Among the first 10.
        recall_20: Among the first 20.
        ndcg_10: How near to the front the evidence is.
    """

    questions: int
    recall_5: float
    recall_10: float
    recall_20: float
    ndcg_10: float


@dataclass(frozen=True, slots=True)
class Report:
    """What one run measured.

    Attributes:
        embedder: The embedder's name.
        reranker: The reranker's name.
        shared: Whether all conversations were in one store.
        threads: What made a thread.
        by_category: The scores of each category, and of all.
        texts_per_s: Messages stored and indexed per second.
        ms_per_query: The median time of a search, in milliseconds.
    """

    embedder: str
    reranker: str
    shared: bool
    threads: str
    by_category: dict[str, Scores]
    texts_per_s: float
    ms_per_query: float


def score(found: Sequence[str], evidence: Sequence[str]) -> tuple[float, float, float, float]:
    """Return recall at 5, 10 and 20 and nDCG at 10 of one ranking.

    Args:
        found: The ids found, best first.
        evidence: The ids to find.

    Examples:
        >>> score(["b", "a", "c"], ["a"])
        (1.0, 1.0, 1.0, 0.6309297535714575)
    """
    wanted = set(evidence)
    recalls = [len(wanted & set(found[:depth])) / len(wanted) for depth in DEPTHS]
    gain = sum(1 / math.log2(place + 2) for place, one in enumerate(found[:10]) if one in wanted)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(wanted))))
    return recalls[0], recalls[1], recalls[2], gain / ideal


def mean_scores(rows: Sequence[tuple[float, float, float, float]]) -> Scores:
    """Return the means of many questions' scores.

    Args:
        rows: The scores; at least one.
    """
    return Scores(len(rows), *(round(sum(column) / len(rows), 4) for column in zip(*rows, strict=True)))


def store(memory: AgentMemory, conversation: Conversation, *, threads: str) -> None:
    """Store a conversation for a user of its own.

    Args:
        memory: Where to.
        conversation: The conversation.
        threads: "session" for a thread for each session, "conversation" for one in all.
    """
    groups: dict[int, list[dict[str, Any]]] = {}
    for turn in conversation.turns:
        groups.setdefault(turn.session if threads == "session" else 0, []).append(turn.message())
    for messages in groups.values():
        thread = memory.create_thread(user_id=conversation.name, agent_id="bench")
        thread.add_messages(messages)


def ask(
    memory: AgentMemory, conversation: Conversation, question: Question, config: MemorySearchConfig | None
) -> tuple[list[str], float]:
    """Search for one question's evidence.

    Args:
        memory: Where the conversation is stored.
        conversation: The conversation.
        question: The question.
        config: How to search, or None for the default.

    Returns:
        The turn ids found, best first, and the seconds that it took.
    """
    options = {} if config is None else {"search_config": config}
    start = time.perf_counter()
    results = memory.search(
        question.text, user_id=conversation.name, max_results=DEPTHS[-1], record_types=["message"], **options
    )
    seconds = time.perf_counter() - start
    return [(result.metadata or {})["dia_id"] for result in results], seconds


def measure(
    conversations: Sequence[Conversation],
    *,
    embedder: Embedder | None,
    config: MemorySearchConfig | None,
    shared: bool,
    threads: str,
) -> tuple[dict[str, Scores], float, float]:
    """Store conversations and ask their questions.

    Args:
        conversations: The conversations.
        embedder: What embeds, or None for words only.
        config: How to search, or None for the default.
        shared: Whether all are in one store, or each in its own.
        threads: "session" or "conversation": what makes a thread.

    Returns:
        The scores by category, messages stored per second, and the median search in milliseconds.
    """
    rows: dict[int, list[tuple[float, float, float, float]]] = {category: [] for category in CATEGORIES}
    stored, times = 0.0, []
    groups = [list(conversations)] if shared else [[one] for one in conversations]
    with tempfile.TemporaryDirectory() as folder:
        for number, group in enumerate(groups):
            with AgentMemory(str(Path(folder, f"{number}.db")), embedder=embedder) as memory:
                start = time.perf_counter()
                for conversation in group:
                    store(memory, conversation, threads=threads)
                stored += time.perf_counter() - start
                for conversation in group:
                    for question in conversation.questions:
                        found, seconds = ask(memory, conversation, question, config)
                        times.append(seconds)
                        rows[question.category].append(score(found, question.evidence))
    scores = {CATEGORIES[category]: mean_scores(found) for category, found in rows.items() if found}
    scores["all"] = mean_scores([row for found in rows.values() for row in found])
    texts = sum(len(conversation.turns) for conversation in conversations)
    return scores, texts / stored, sorted(times)[len(times) // 2] * 1000


def print_table(report: Report) -> None:
    """Print a report as a table.

    Args:
        report: The report.
    """
    place = "one store" if report.shared else "a store each"
    print(f"embedder {report.embedder}, reranker {report.reranker}, {place}, a thread per {report.threads}")
    print(f"{'category':12} {'questions':>9} {'R@5':>6} {'R@10':>6} {'R@20':>6} {'nDCG@10':>8}")
    for name, one in report.by_category.items():
        print(
            f"{name:12} {one.questions:9d} {one.recall_5:6.3f} {one.recall_10:6.3f}"
            f" {one.recall_20:6.3f} {one.ndcg_10:8.3f}"
        )
    print(f"{report.texts_per_s:.0f} texts/s stored, {report.ms_per_query:.1f} ms/query (median)")


def load_models(embedder: str, reranker: str) -> tuple[Embedder | None, Reranker | None]:
    """Load the models that were asked for.

    Args:
        embedder: "none" or "local".
        reranker: "none" or "local".
    """
    from hitherto.models.cross_encoder import LocalCrossEncoder
    from hitherto.models.local import LocalEmbedder

    return (
        LocalEmbedder() if embedder == "local" else None,
        LocalCrossEncoder() if reranker == "local" else None,
    )


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with LoCoMo's conversations")
    parser.add_argument("--embedder", choices=["none", "local"], default="local")
    parser.add_argument("--reranker", choices=["none", "local"], default="none")
    parser.add_argument("--candidates", type=int, default=20, help="how many the reranker sees")
    parser.add_argument("--blend", type=float, default=0.1, help="the reranker's share of the order")
    parser.add_argument("--shared", action="store_true", help="all conversations in one store")
    parser.add_argument("--threads", choices=["session", "conversation"], default="session")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    embedder, reranker = load_models(given.embedder, given.reranker)
    config = None
    if reranker is not None:
        from hitherto import TopKMemorySearchConfig

        config = TopKMemorySearchConfig(
            reranker=reranker,
            reranker_max_candidates=given.candidates,
            reranker_blend=given.blend,
            reranker_shows_speaker=True,
        )
    scores, speed, latency = measure(
        load_conversations(given.data),
        embedder=embedder,
        config=config,
        shared=given.shared,
        threads=given.threads,
    )
    report = Report(
        embedder=given.embedder,
        reranker=given.reranker,
        shared=given.shared,
        threads=given.threads,
        by_category=scores,
        texts_per_s=round(speed, 1),
        ms_per_query=round(latency, 2),
    )
    if given.json:
        print(json.dumps(asdict(report), indent=2))
    else:
        print_table(report)


if __name__ == "__main__":
    main()
