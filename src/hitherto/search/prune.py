"""Pruning: a language model removes results that do not help to answer the query.

The P best of n candidates are protected, P = ceil(n * protected_fraction). Of the rest, in the order of retrieval:

- EXHAUSTIVE judges every one and removes those that are judged "discard".
- EXTENDED judges two neighbours at each of k probe points, spread evenly, the last at the very end. Everything
  before the end of the last probe without a discard is kept. Behind it, what was judged "discard" is removed, and
  what was not judged is removed if the nearest judged candidates on both its sides are discards.
- FAST does the same but looks for that last probe by bisection: it judges the first and the last probe, then those
  in the middle of what is still open.

So the outcome depends only on the judgements, never on when they arrive; nothing is removed that no judgement
covers; and a judgement that cannot be had keeps what it was asked of.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from hitherto.errors import ModelOutputError, shown
from hitherto.messages import content_text
from hitherto.models.base import LLM
from hitherto.models.json_reply import parse_json_reply
from hitherto.notset import NOT_SET
from hitherto.prompts import Prompt, load_prompt
from hitherto.search.candidates import Candidate
from hitherto.search.config import (
    DEFAULT_PROBE_POINTS,
    DEFAULT_PROTECTED_FRACTION,
    MemorySearchConfig,
    PruningEvaluationMode,
    PruningMemorySearchConfig,
)
from hitherto.search.render import escape

DECISIONS: Final = ("keep", "likely", "maybe", "unlikely", "irrelevant", "discard")
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"decision": {"type": "string", "enum": list(DECISIONS)}},
    "required": ["decision"],
    "additionalProperties": False,
}
MAX_CALLS_AT_ONCE: Final = 16
MAX_TOKENS: Final = 8192

FAILED: Final = "failed"

Judge = Callable[[Sequence[int]], None]


def prune(query: str, candidates: list[Candidate], config: MemorySearchConfig) -> list[Candidate]:
    """Return the candidates that are worth showing, in their order.

    Args:
        query: The query.
        candidates: The candidates, best first.
        config: With a pruner, or none.

    Returns:
        Those that stay; a RuntimeWarning tells how many judgements could not be had.
    """
    if not isinstance(config, PruningMemorySearchConfig) or not candidates:
        return candidates
    fraction = (
        DEFAULT_PROTECTED_FRACTION if config.protected_fraction is NOT_SET else config.protected_fraction
    )
    first = math.ceil(len(candidates) * fraction)
    decisions: dict[int, str] = {}
    problems: list[Exception] = []

    def judge(places: Sequence[int]) -> None:
        asked = [place for place in dict.fromkeys(places) if place not in decisions]
        answers = _ask_all(config.pruner, query, [candidates[place] for place in asked])
        for place, answer in zip(asked, answers, strict=True):
            decisions[place] = FAILED if isinstance(answer, Exception) else answer
            if isinstance(answer, Exception):
                problems.append(answer)

    cut = _judged_cut(config, first, len(candidates), judge, decisions)
    removed = removed_places(first, len(candidates), cut, decisions)
    if problems:
        warnings.warn(
            f"{len(problems)} of {len(decisions)} judgements of the pruner failed, their results are kept; the first: "
            f"{problems[0]}",
            RuntimeWarning,
            stacklevel=4,
        )
    return [
        _noted(candidate, place, first, decisions)
        for place, candidate in enumerate(candidates)
        if place not in removed
    ]


def _noted(candidate: Candidate, place: int, first: int, decisions: dict[int, str]) -> Candidate:
    decision = decisions.get(place)
    if decision is None:
        candidate.pruning = "protected" if place < first else "assumed"
    elif decision == FAILED:
        candidate.pruning = "failed"
    else:
        candidate.pruning, candidate.pruning_decision = "kept", decision
    return candidate


def _judged_cut(
    config: PruningMemorySearchConfig, first: int, total: int, judge: Judge, decisions: dict[int, str]
) -> int:
    mode = PruningEvaluationMode.FAST if config.evaluation_mode is NOT_SET else config.evaluation_mode
    probes = DEFAULT_PROBE_POINTS if config.num_probe_points is NOT_SET else config.num_probe_points
    windows = probe_windows(first, total, probes)
    if mode is PruningEvaluationMode.EXHAUSTIVE or not windows:
        judge(range(first, total))
        return first
    if mode is PruningEvaluationMode.EXTENDED:
        judge([place for window in windows for place in window])
        passed = [window for window in windows if _passes(window, decisions)]
        return max((window[1] + 1 for window in passed), default=first)
    return _bisected_cut(windows, first, judge, decisions)


def _bisected_cut(
    windows: Sequence[tuple[int, int]], first: int, judge: Judge, decisions: dict[int, str]
) -> int:
    judge([*windows[0], *windows[-1]])
    if _passes(windows[-1], decisions):
        return windows[-1][1] + 1
    if not _passes(windows[0], decisions):
        return first
    low, high = 0, len(windows) - 1
    while high - low > 1:
        middle = (low + high) // 2
        judge(windows[middle])
        if _passes(windows[middle], decisions):
            low = middle
        else:
            high = middle
    return windows[low][1] + 1


def _passes(window: tuple[int, int], decisions: dict[int, str]) -> bool:
    return all(decisions[place] != "discard" for place in window)


def probe_windows(first: int, total: int, probes: int) -> list[tuple[int, int]]:
    """Return the pairs of neighbours at which to probe, from the best to the last.

    Args:
        first: The number of protected candidates.
        total: The number of candidates.
        probes: The most pairs.

    Returns:
        Pairs of places, from 0; none where fewer than two candidates are unprotected.

    Examples:
        >>> probe_windows(first=1, total=10, probes=3)
        [(3, 4), (6, 7), (8, 9)]
    """
    open_pairs = total - first - 1
    count = min(probes, open_pairs)
    starts = [first + math.ceil(open_pairs * step / count) - 1 for step in range(1, count + 1)]
    return [(start, start + 1) for start in starts]


def removed_places(first: int, total: int, cut: int, decisions: dict[int, str]) -> set[int]:
    """Return the places that are removed.

    Args:
        first: The number of protected candidates.
        total: The number of candidates.
        cut: The place before which everything is kept.
        decisions: What was judged, by place.

    Returns:
        Behind the cut: what was judged "discard", and what was not judged but lies between two discards.

    Examples:
        >>> sorted(removed_places(1, 8, 3, {4: "discard", 5: "discard", 7: "discard", 2: "keep"}))
        [4, 5, 6, 7]
    """
    judged = sorted(decisions)
    removed = set()
    for place in range(max(first, cut), total):
        if place in decisions:
            covered = decisions[place] == "discard"
        else:
            before = next((other for other in reversed(judged) if first <= other < place), None)
            after = next((other for other in judged if other > place), None)
            covered = (
                before is not None
                and after is not None
                and decisions[before] == decisions[after] == "discard"
            )
        if covered:
            removed.add(place)
    return removed


def _ask_all(pruner: LLM, query: str, candidates: Sequence[Candidate]) -> Iterable[str | Exception]:
    prompt = load_prompt("hitherto.search.prompts", "prune")
    if len(candidates) < 2:
        return [_ask(pruner, prompt, query, candidate) for candidate in candidates]
    with ThreadPoolExecutor(min(MAX_CALLS_AT_ONCE, len(candidates)), "hitherto-prune") as pool:
        return list(pool.map(lambda candidate: _ask(pruner, prompt, query, candidate), candidates))


def _ask(pruner: LLM, prompt: Prompt, query: str, candidate: Candidate) -> str | Exception:
    document = content_text(candidate.record.content)
    messages = [
        {"role": "system", "content": prompt.text},
        {
            "role": "user",
            "content": f"<query>{escape(query)}</query>\n<document>{escape(document)}</document>",
        },
    ]
    try:
        reply = pruner.generate(messages, response_json_schema=SCHEMA, max_tokens=MAX_TOKENS)
        return read_decision(reply.text)
    except Exception as error:  # whatever a model raises, its result is kept and the error reported
        return error


def read_decision(text: str) -> str:
    """Return the decision in a judge's reply.

    Args:
        text: A JSON object, bare, in a code fence or among words; other keys are ignored.

    Raises:
        ModelOutputError: If it holds no decision.

    Examples:
        >>> read_decision('{"decision": "maybe", "because": "it names Ana"}')
        'maybe'
    """
    try:
        value = parse_json_reply(text)
    except ModelOutputError:
        value = None
    decision = value.get("decision") if isinstance(value, dict) else None
    if decision not in DECISIONS:
        raise ModelOutputError(f"a pruner must answer with one of {', '.join(DECISIONS)}, got {shown(text)}")
    return str(decision)
