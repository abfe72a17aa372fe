"""Reads how far a word may be from what was asked."""

from __future__ import annotations

import re
from typing import Final

from hitherto.server.dsl import tree
from hitherto.server.dsl.parameters import Parameters, as_number

_AUTO: Final = re.compile(r"AUTO(?::(\d{1,4}),(\d{1,4}))?\Z", re.IGNORECASE)


def fuzziness(given: Parameters, *, transpositions: str = "fuzzy_transpositions") -> tree.Fuzziness | None:
    """Take the parameters of fuzziness.

    Args:
        given: The clause's parameters.
        transpositions: How the clause calls that parameter.

    Returns:
        The fuzziness, or None if the clause has none.

    Raises:
        DslError: If it is neither 0, 1, 2, AUTO nor AUTO:low,high.
    """
    value = given.take("fuzziness")
    prefix = given.integer("prefix_length", 0)
    expansions = given.integer("max_expansions", 50, least=1)
    swap = given.boolean(transpositions, default=True)
    if value is None:
        return None
    auto = _AUTO.match(value) if isinstance(value, str) else None
    if auto:
        low, high = (int(auto[1]), int(auto[2])) if auto[1] else (3, 6)
        if low <= high:
            return tree.Fuzziness(None, low, high, prefix, expansions, swap)
    number = as_number(value)
    if number not in (0, 1, 2):
        raise given.wrong("fuzziness", value, "0, 1, 2, AUTO or AUTO:low,high")
    return tree.Fuzziness(int(number), prefix_length=prefix, max_expansions=expansions, transpositions=swap)
