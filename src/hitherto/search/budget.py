"""Fitting results into a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from hitherto.errors import ArgumentTypeError, shown
from hitherto.search.result import SearchResult

CHARACTERS_PER_TOKEN: Final = 3.5


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: its characters divided by 3.5, rounded.

    Examples:
        >>> estimate_tokens("hello, world")
        3
    """
    return round(len(text) / CHARACTERS_PER_TOKEN)


def fit(
    results: Iterable[SearchResult],
    *,
    token_budget: int | None,
    soft_token_budget: int | None,
    count: Callable[[str], int] = estimate_tokens,
) -> list[SearchResult]:
    """Return the leading results that fit.

    Args:
        results: Results, best first.
        token_budget: The most tokens of all rendered results together; the first one that would exceed it and all
            behind it are left out. None or <= 0 for no bound.
        soft_token_budget: The result that reaches it is the last one. None or <= 0 for no bound.
        count: Counts the tokens of a rendered result.

    Returns:
        The results that fit, in their order.

    Raises:
        ArgumentTypeError: If count does not return a number of tokens.

    Examples:
        >>> from hitherto.records import FactRecord
        >>> found = [SearchResult(0.1, FactRecord(str(n), content="x" * 70)) for n in range(3)]
        >>> [result.id for result in fit(found, token_budget=100, soft_token_budget=None)]
        ['0', '1']
    """
    hard = token_budget if token_budget and token_budget > 0 else None
    soft = soft_token_budget if soft_token_budget and soft_token_budget > 0 else None
    if hard is None and soft is None:
        return list(results)
    kept: list[SearchResult] = []
    total = 0
    for result in results:
        total += _checked(count(result.formatted_content))
        if hard is not None and total > hard:
            break
        kept.append(result)
        if soft is not None and total >= soft:
            break
    return kept


def _checked(tokens: int) -> int:
    # NaN is above no bound, so that it would lift the budget unnoticed.
    given: object = tokens
    if not isinstance(given, (int, float)) or not given >= 0:
        raise ArgumentTypeError(
            f"token_counter must return a number of tokens, 0 or more, got {shown(tokens)}",
            argument="token_counter",
        )
    return tokens
