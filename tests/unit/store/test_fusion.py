"""Fusion of what words and meaning say."""

from __future__ import annotations

import numpy as np
import pytest

from hitherto.errors import ArgumentTypeError, InvalidArgumentError
from hitherto.store.fusion import Arm, Fused, fuse, single
from hitherto.store.settings import SearchSettings

NAN = float("nan")
SETTINGS = SearchSettings()


def arm(
    scores: list[float], *, low: float = 0.0, high: float = 1.0, relevance: list[float] | None = None
) -> Arm:
    return Arm(np.array(scores), low, high, np.array(scores if relevance is None else relevance))


def in_order(fused: Fused) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.argsort(-fused.scores, kind="stable")


def test_both_arms_are_spread_and_weighed() -> None:
    """The fused score is the sum of both arms' spread scores by share, and of the bonuses."""
    fused = fuse(
        arm([4, 2], high=4), arm([0.5, 0.9], low=0.5, high=0.9), SETTINGS, {"x": np.array([0.0, 0.1])}
    )
    assert fused.scores.tolist() == pytest.approx([0.4, 0.4 * 0.5 + 0.6 + 0.1])


def test_an_arm_that_runs_alone_has_all_of_the_weight() -> None:
    """Without vectors, words decide by the same spread that bonuses are made for."""
    assert fuse(arm([4, 2], high=4), None, SETTINGS, {}).scores.tolist() == [1.0, 0.5]
    assert fuse(None, arm([0.7, 0.5], low=0.5, high=0.7), SETTINGS, {}).scores.tolist() == [1.0, 0.0]


def test_what_an_arm_did_not_find_counts_nothing() -> None:
    """A record without a word of the query, or without a vector, gets nothing from that arm."""
    fused = fuse(arm([NAN, 1.0], relevance=[0, 0.5]), arm([1.0, NAN]), SETTINGS, {})
    assert fused.scores.tolist() == [0.6, 0.4]


def test_equal_scores_are_spread_to_nothing() -> None:
    """An arm that cannot tell the candidates apart does not decide."""
    assert arm([0.8, 0.8], low=0.8, high=0.8).spread().tolist() == [0.0, 0.0]


def test_a_bad_best_hit_is_far() -> None:
    """The best hit's distance says how near it is in absolute terms, however far behind the others are."""
    bad = fuse(None, arm([0.2, 0.1], low=0.1, high=0.2), SETTINGS, {})
    good = fuse(None, arm([0.9, 0.1], low=0.1, high=0.9), SETTINGS, {})
    assert bad.distances(in_order(bad))[0] == pytest.approx(0.8)
    assert good.distances(in_order(good))[0] == pytest.approx(0.1)


def test_distances_grow_in_the_order_of_the_fused_scores() -> None:
    """Nearer means smaller, never negative and never above 1, whatever the arms say."""
    random = np.random.default_rng(1)
    for _ in range(50):
        words, meaning = random.random(20) * 9, random.random(20) * 2 - 1
        fused = fuse(
            Arm(words, 0, 9, words / (words + 3)),
            Arm(meaning, -1, 1, np.clip(meaning, 0, 1)),
            SETTINGS,
            {"question": -0.1 * random.random(20), "speaker": 0.2 * (random.random(20) > 0.5)},
        )
        distances = fused.distances(in_order(fused))
        assert (np.diff(distances) >= 0).all()
        assert 0 <= distances[0] <= distances[-1] <= 1


def test_one_arm_alone_keeps_its_own_scores() -> None:
    """A search by vectors only is ordered by cosine, and its distance is 1 - cosine."""
    fused = single(None, arm([0.25, 1.0]))
    assert fused.scores.tolist() == [0.25, 1.0]
    assert fused.distances(in_order(fused)).tolist() == [0.0, 0.75]


def test_an_explanation_adds_up() -> None:
    """What each arm and each bonus contributed is what the fused score is made of."""
    fused = fuse(arm([3, 1], high=3), arm([0.4, 0.9]), SETTINGS, {"speaker": np.array([0.0, 0.2])})
    for place in range(2):
        told = fused.explanation(place, words_rank=1, meaning_rank=2, preferred=("thread",))
        assert told.words is not None
        assert told.meaning is not None
        total = told.words.contribution + told.meaning.contribution + sum(told.bonuses.values())
        assert total == pytest.approx(told.fused)
        assert told.preferred == ("thread",)
    assert fused.explanation(0, words_rank=1, meaning_rank=2, preferred=()).bonuses == {}


def test_an_explanation_says_which_arm_did_not_find_it() -> None:
    """A hit without a word of the query has neither rank nor score among the words."""
    told = fuse(arm([NAN]), arm([0.5]), SETTINGS, {}).explanation(
        0, words_rank=None, meaning_rank=1, preferred=()
    )
    assert told.words is not None
    assert (told.words.rank, told.words.score, told.words.contribution) == (None, None, 0.0)


def test_settings_refuse_what_cannot_be() -> None:
    """Weights are finite numbers from 0 on, counts whole numbers from 1 on, and something has to count."""
    for wrong in ({"k1": -1}, {"b": 1.5}, {"exact_rows": 0}, {"words_share": float("nan")}):
        with pytest.raises(InvalidArgumentError, match=next(iter(wrong))):
            SearchSettings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="both"):
        SearchSettings(words_share=0, meaning_share=0)
    for other in ({"k1": "1"}, {"max_query_words": 2.5}, {"b": True}):
        with pytest.raises(ArgumentTypeError, match=next(iter(other))):
            SearchSettings(**other)  # type: ignore[arg-type]
