"""Fusion: what words and meaning say of the same candidates, made into one order. Pure, for every backend.

Each arm's scores are spread over 0 to 1 for the query and added by weight; bonuses are added as they are. The
fused score orders hits within one search only. How near a hit is must be comparable between searches, so the best
hit's distance comes from what the arms said in absolute terms, and the others' from their share of its score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from hitherto.store.requests import ArmScore, HitExplanation
from hitherto.store.settings import SearchSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 9
"""Scores that agree to so many decimals are equal."""


@dataclass(frozen=True, slots=True)
class Arm:
    """What one arm said of the candidates.

    Attributes:
        scores: One per candidate; NaN where the arm has nothing to say of it.
        low: The score that is spread to 0.
        high: The score that is spread to 1.
        relevance: How near each candidate is in absolute terms, 0 to 1.
    """

    scores: NDArray[np.float64]
    low: float
    high: float
    relevance: NDArray[np.float64]

    def spread(self) -> NDArray[np.float64]:
        """Return the scores spread over 0 to 1; 0 where there is none, or where all are equal."""
        if not self.high > self.low:
            return np.zeros(self.scores.size)
        return _or_zero((self.scores - self.low) / (self.high - self.low))


@dataclass(frozen=True, slots=True)
class Fused:
    """Candidates with their fused scores.

    Attributes:
        scores: The fused score of each candidate.
        words: What the word arm said, or None if it did not run.
        meaning: What the vector arm said, or None if it did not run.
        words_share: What the word arm weighs.
        meaning_share: What the vector arm weighs.
        bonuses: What was added beside the arms, by name.
        plain: Whether one arm alone decided: distance is then its relevance, and the score its own.
    """

    scores: NDArray[np.float64]
    words: Arm | None
    meaning: Arm | None
    words_share: float
    meaning_share: float
    bonuses: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    plain: bool = False

    def distances(self, places: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of hits: the best hit's relevance, shared out by fused score.

        Args:
            places: The places of the hits among the candidates, best first.
        """
        relevance = self._relevance()[places]
        if self.plain or not places.size:
            return np.round(1 - np.clip(relevance, 0, 1), DIGITS)
        scores = self.scores[places]
        best = float(scores[0])
        share = np.clip(scores / best, 0, 1) if best > 0 else np.ones(places.size)
        return np.round(1 - share * min(max(float(relevance[0]), 0.0), 1.0), DIGITS)

    def _relevance(self) -> NDArray[np.float64]:
        total = np.zeros(self.scores.size)
        for arm, share in ((self.words, self.words_share), (self.meaning, self.meaning_share)):
            if arm is not None:
                total += share * _or_zero(arm.relevance)
        return total / (self.words_share + self.meaning_share)

    def explanation(
        self, place: int, *, words_rank: int | None, meaning_rank: int | None, preferred: tuple[str, ...]
    ) -> HitExplanation:
        """Return why a candidate is where it is.

        Args:
            place: Its place among the candidates.
            words_rank: Its rank in the word arm, or None.
            meaning_rank: Its rank in the vector arm, or None.
            preferred: The dimensions in which it has the preferred id.
        """
        return HitExplanation(
            words=_arm_score(self.words, place, words_rank, self.words_share, self.plain),
            meaning=_arm_score(self.meaning, place, meaning_rank, self.meaning_share, self.plain),
            bonuses={name: float(added[place]) for name, added in self.bonuses.items() if added[place]},
            preferred=preferred,
            fused=float(self.scores[place]),
        )


def _arm_score(arm: Arm | None, place: int, rank: int | None, share: float, plain: bool) -> ArmScore | None:
    if arm is None:
        return None
    score = float(arm.scores[place])
    if np.isnan(score):
        return ArmScore(rank=None, score=None, weight=share, contribution=0.0)
    added = score if plain else share * float(arm.spread()[place])
    return ArmScore(rank=rank, score=score, weight=share, contribution=added)


def fuse(
    words: Arm | None,
    meaning: Arm | None,
    settings: SearchSettings,
    bonuses: Mapping[str, NDArray[np.float64]],
) -> Fused:
    """Fuse what the arms of a hybrid search said.

    Args:
        words: The word arm, or None if it did not run.
        meaning: The vector arm, or None if it did not run.
        settings: The shares. An arm that runs alone has all of it.
        bonuses: What to add beside the arms, by name.

    Examples:
        >>> import numpy as np
        >>> scores = np.array([0.9, 0.5])
        >>> fused = fuse(None, Arm(scores, 0.5, 0.9, scores), SearchSettings(), {})
        >>> fused.scores.tolist(), fused.distances(np.array([0, 1])).tolist()
        ([1.0, 0.0], [0.1, 1.0])
    """
    words_share = 0.0 if words is None else settings.words_share if meaning is not None else 1.0
    meaning_share = 0.0 if meaning is None else settings.meaning_share if words is not None else 1.0
    total = sum(bonuses.values(), np.zeros((words or meaning or _EMPTY).scores.size))
    if words is not None:
        total = total + words_share * words.spread()
    if meaning is not None:
        total = total + meaning_share * meaning.spread()
    return Fused(total, words, meaning, words_share, meaning_share, bonuses)


def single(words: Arm | None, meaning: Arm | None) -> Fused:
    """Return the candidates in the order of the one arm that a search is made of.

    Args:
        words: The word arm, or None.
        meaning: The vector arm, if it is not the word arm.
    """
    arm = words or meaning or _EMPTY
    scores = _or_zero(arm.scores)
    return Fused(scores, words, meaning, float(words is not None), float(meaning is not None), plain=True)


def _or_zero(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isnan(values), 0.0, values)


_EMPTY = Arm(np.zeros(0), 0.0, 0.0, np.zeros(0))
