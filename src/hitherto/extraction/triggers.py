"""When memories are extracted, and from which messages: pure rules.

Messages gather until they are due; then all that have gathered are extracted, each exactly once, whatever the window
and the frequency. What the window shows beside them is history: read to understand, not to extract from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hitherto.extraction.config import ExtractionSettings


@dataclass(frozen=True, slots=True)
class Gathered:
    """What has been added since the last extraction was due.

    Attributes:
        message_ids: The messages, in order.
        count: What the frequency counts so far: messages with a window, calls without one.
    """

    message_ids: tuple[str, ...] = ()
    count: int = 0


def due_extractions(
    before: Gathered, added: Sequence[str], settings: ExtractionSettings
) -> tuple[list[tuple[str, ...]], Gathered]:
    """Return which extractions are due once messages were added, and what gathers on.

    Args:
        before: What has gathered before.
        added: The ids of the messages that one call added, in order.
        settings: The thread's settings.

    Returns:
        The messages of each extraction, and the rest.

    Examples:
        >>> settings = ExtractionSettings(memory_extraction_frequency=2, memory_extraction_window=4)
        >>> due_extractions(Gathered(("a",), 1), ["b", "c"], settings)
        ([('a', 'b')], Gathered(message_ids=('c',), count=1))
    """
    frequency, window = settings.memory_extraction_frequency, settings.memory_extraction_window
    waiting = (*before.message_ids, *added)
    if not waiting:
        return [], before
    if (frequency >= 1 and window != -1) or (frequency == 0 and window >= 1):
        return _by_message(waiting, max(1, frequency))
    count = before.count + 1
    if frequency <= 1 or count >= frequency:
        return [waiting], Gathered()
    return [], Gathered(waiting, count)


def _by_message(waiting: tuple[str, ...], frequency: int) -> tuple[list[tuple[str, ...]], Gathered]:
    full = len(waiting) // frequency * frequency
    due = [waiting[start : start + frequency] for start in range(0, full, frequency)]
    rest = waiting[full:]
    return due, Gathered(rest, len(rest))


def history_length(settings: ExtractionSettings, targets: int) -> int:
    """Return how many messages before the targets a request shows.

    Args:
        settings: The thread's settings.
        targets: How many messages are extracted from.
    """
    return max(0, settings.memory_extraction_window - targets)


def summary_is_due(settings: ExtractionSettings, uncovered: int) -> bool:
    """Return whether a summary is to be refreshed.

    Args:
        settings: The thread's settings.
        uncovered: How many messages came after those that the newest summary covers.
    """
    return settings.summarises and uncovered >= max(1, settings.context_summary_update_frequency)
