"""Every parameter of how a store ranks what it finds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import Final

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.store.checks import check_whole

_MOST_SECONDS: Final = 2_000_000  # SQLite and PostgreSQL count milliseconds in 32 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How words, meaning and conversation count in a search.

    A message is read in its conversation: its own words count 1, those of its neighbours in the thread and of its
    date less. Memories have no neighbours. Words are ranked by BM25, meaning by cosine, and both are fused after
    each was spread over 0 to 1 for the query.

    Attributes:
        previous_words: What a word counts in the message before.
        before_previous_words: What it counts in the one before that.
        next_words: What it counts in the message after.
        date_words: What it counts in the date, written in words.
        k1: How fast repetitions of a word stop to count more (BM25).
        b: How much long texts are held back, 0 to 1 (BM25).
        max_query_words: The most words of a query that are looked up, the rarest first.
        previous_meaning: What the cosine of the message before adds to a message's.
        next_meaning: What the cosine of the message after adds.
        words_share: What words weigh in the fusion.
        meaning_share: What meaning weighs in the fusion.
        speaker_bonus: What is added to a record whose speaker is the only one that the query names.
        question_penalty: What is taken from a record that only asks; from others in proportion.
        topic_weight: What the vector of a query's topic counts beside the vector of the whole query.
        exact_rows: Up to so many rows a user's vectors are scanned in full precision, if they fit the cache; above
            by 1-bit codes.
        rescored_rows: How many of the best rows of a scan by codes are scored again in full precision.

    Raises:
        ArgumentTypeError: If a value is no number.
        InvalidArgumentError: If a value is negative or not finite, b is above 1, or both shares are 0.

    Examples:
        >>> SearchSettings(words_share=0.3, meaning_share=0.7).k1
        1.2
    """

    previous_words: float = 0.5
    before_previous_words: float = 0.3
    next_words: float = 0.4
    date_words: float = 0.8
    k1: float = 1.2
    b: float = 0.75
    max_query_words: int = 64
    previous_meaning: float = 0.2
    next_meaning: float = 0.1
    words_share: float = 0.4
    meaning_share: float = 0.6
    speaker_bonus: float = 0.2
    question_penalty: float = 0.1
    topic_weight: float = 1.0
    exact_rows: int = 150_000
    rescored_rows: int = 1200

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            ArgumentTypeError: If a value is no number.
            InvalidArgumentError: If a value is out of its range.
        """
        for item in fields(self):
            _check_number(item.name, getattr(self, item.name), whole=item.type == "int")
        if self.b > 1:
            raise InvalidArgumentError(f"b must be 0 to 1, got {self.b}", argument="b")
        if not self.words_share + self.meaning_share:
            raise InvalidArgumentError(
                "words_share and meaning_share must not both be 0", argument="words_share"
            )


def _check_number(name: str, value: object, *, whole: bool) -> None:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        wanted = "an int" if whole else "a number"
        raise ArgumentTypeError(f"{name} must be {wanted}, got {shown(value)}", argument=name)
    if not isfinite(value) or value < 0 or (whole and value < 1):
        wanted = ">= 1" if whole else "finite and >= 0"
        raise InvalidArgumentError(f"{name} must be {wanted}, got {value}", argument=name)


def checked_settings(value: object) -> SearchSettings:
    """Return the settings that were given to a store, or the defaults for None.

    Args:
        value: What came as ``search_settings``.

    Raises:
        ArgumentTypeError: If it is anything else.
    """
    if value is None:
        return SearchSettings()
    if not isinstance(value, SearchSettings):
        raise ArgumentTypeError(
            f"search_settings must be SearchSettings or None, got {shown(value)}", argument="search_settings"
        )
    return value


def checked_cache(value: object) -> int:
    """Return how many bytes a store may cache.

    Args:
        value: What came as ``cache_bytes``.

    Raises:
        ArgumentTypeError: If it is no int.
        InvalidArgumentError: If it is negative.
    """
    return check_whole(value, argument="cache_bytes", least=0)


def checked_timeout(value: object, *, argument: str = "busy_timeout_s") -> float:
    """Return how long something waits, in seconds; never longer than databases can count.

    Args:
        value: What came.
        argument: The argument's name, for the message.

    Raises:
        InvalidArgumentError: If it is no number of seconds >= 0.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise InvalidArgumentError(
            f"{argument} must be a number of seconds >= 0, got {shown(value)}", argument=argument
        )
    return min(value, _MOST_SECONDS)
