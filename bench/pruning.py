"""Counts what pruning costs and what it wrongly drops, on judges that err: python bench/pruning.py.

Each search has so many candidates, of which the better placed are more often relevant. A judge knows the truth but
errs now and then: it says "discard" of a relevant candidate or "keep" of another. Every mode judges the same searches,
once by this library and once by the rule of Oracle AI Agent Memory 26.8 as it was observed, whose FAST mode depends on
the order in which replies arrive: here a random one. No model is called.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from hitherto import PruningEvaluationMode, PruningMemorySearchConfig
from hitherto.records import FactRecord
from hitherto.search.candidates import Candidate
from hitherto.search.prune import probe_windows, prune
from hitherto.testing.scripted import ScriptedLLM

PROBES = 3
PROTECTED = 0.1

Judge = Callable[[int], bool]
"""Whether the judge would discard the candidate at a place."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one mode did over many searches.

    Attributes:
        candidates: How many candidates each search had.
        error: How often the judge errs, 0 to 1.
        rule: "hitherto" or "reference".
        mode: The evaluation mode.
        calls: Judgements per search.
        wrongly_dropped: The share of the relevant candidates that was removed.
        rightly_dropped: The share of the others that was removed.
    """

    candidates: int
    error: float
    rule: str
    mode: str
    calls: float
    wrongly_dropped: float
    rightly_dropped: float


def relevant_places(count: int, rng: random.Random) -> set[int]:
    """Draw which candidates are relevant: most of the first, hardly any of the last.

    Args:
        count: How many candidates there are.
        rng: The source of chance.
    """
    return {place for place in range(count) if rng.random() < 0.85 * math.exp(-4 * place / count)}


def ours(mode: PruningEvaluationMode, count: int, discards: Judge) -> tuple[set[int], int]:
    """Return what this library keeps, and its number of judgements.

    Args:
        mode: The evaluation mode.
        count: How many candidates there are.
        discards: The judge.
    """

    def reply(messages: list[dict[str, str]]) -> str:
        place = int(messages[-1]["content"].split("<document>")[1].split("<")[0])
        return json.dumps({"decision": "discard" if discards(place) else "keep"})

    judge = ScriptedLLM(reply)
    candidates = [Candidate(FactRecord(str(n), content=str(n)), n / count, n + 1) for n in range(count)]
    config = PruningMemorySearchConfig(pruner=judge, evaluation_mode=mode)
    kept = prune("query", candidates, config)
    return {int(candidate.record.id) for candidate in kept}, len(judge.requests)


def reference(
    mode: PruningEvaluationMode, count: int, discards: Judge, rng: random.Random
) -> tuple[set[int], int]:
    """Return what the reference's rule keeps, and its number of judgements.

    Args:
        mode: The evaluation mode.
        count: How many candidates there are.
        discards: The judge.
        rng: Draws the order of the replies.
    """
    first = math.ceil(count * PROTECTED)
    if mode is PruningEvaluationMode.EXHAUSTIVE:
        return {place for place in range(count) if place < first or not discards(place)}, count
    windows = probe_windows(first, count, PROBES)
    if mode is PruningEvaluationMode.EXTENDED:
        judged = {place for window in windows for place in window}
        passed = [window for window in windows if not any(map(discards, window))]
        cut = max((window[1] + 1 for window in passed), default=first)
        return _kept(cut, judged, discards), len(judged)
    low, high, judged = -1, len(windows), set()
    for number in rng.sample(range(len(windows)), len(windows)):
        if low < number < high:
            judged |= set(windows[number])
            low, high = (low, number) if any(map(discards, windows[number])) else (number, high)
    cut = windows[low][1] + 1 if low >= 0 else first
    return _kept(cut, judged, discards), 2 * len(windows)


def _kept(cut: int, judged: Iterable[int], discards: Judge) -> set[int]:
    return set(range(cut)) | {place for place in judged if not discards(place)}


def measure(count: int, error: float, searches: int, seed: int) -> list[Row]:
    """Prune many simulated searches in every mode, by both rules.

    Args:
        count: How many candidates each has.
        error: How often the judge errs, 0 to 1.
        searches: How many searches.
        seed: Makes chance repeatable.
    """
    rng = random.Random(seed)
    sums: dict[tuple[str, PruningEvaluationMode], list[int]] = {}
    relevant_total = other_total = 0
    for _ in range(searches):
        relevant = relevant_places(count, rng)
        wrong = {place for place in range(count) if rng.random() < error}
        relevant_total += len(relevant)
        other_total += count - len(relevant)

        def discards(place: int, relevant: set[int] = relevant, wrong: set[int] = wrong) -> bool:
            return (place in relevant) == (place in wrong)

        for mode in PruningEvaluationMode:
            for rule in ("hitherto", "reference"):
                kept, calls = (
                    ours(mode, count, discards)
                    if rule == "hitherto"
                    else reference(mode, count, discards, rng)
                )
                gone = set(range(count)) - kept
                row = sums.setdefault((rule, mode), [0, 0, 0])
                row[0] += calls
                row[1] += len(gone & relevant)
                row[2] += len(gone - relevant)
    return [
        Row(
            count,
            error,
            rule,
            mode.value,
            round(calls / searches, 2),
            round(wrongly / max(1, relevant_total), 4),
            round(rightly / max(1, other_total), 4),
        )
        for (rule, mode), (calls, wrongly, rightly) in sorted(sums.items(), key=lambda item: item[0][1].value)
    ]


def main() -> None:
    """Print the table that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, nargs="+", default=[10, 30])
    parser.add_argument("--errors", type=float, nargs="+", default=[0.0, 0.05, 0.1, 0.2])
    parser.add_argument("--searches", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    warnings.simplefilter("error")
    rows = [
        row
        for count in given.candidates
        for error in given.errors
        for row in measure(count, error, given.searches, given.seed)
    ]
    if given.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print("| candidates | judge errs | mode | rule | calls | relevant dropped | others dropped |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.candidates} | {row.error:.0%} | {row.mode} | {row.rule} | {row.calls:.1f} |"
            f" {row.wrongly_dropped:.1%} | {row.rightly_dropped:.1%} |"
        )


if __name__ == "__main__":
    main()
