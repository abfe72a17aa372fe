"""Which part of a document a hit shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hitherto.errors import shown
from hitherto.server.dsl.automata import Test, wildcard
from hitherto.server.dsl.errors import DslError
from hitherto.server.dsl.parameters import Parameters

_MAX_DEPTH: Final = 100


@dataclass(frozen=True, slots=True)
class SourceFilter:
    """The paths that are shown and those that are not; ``*`` stands for any characters.

    Attributes:
        includes: What is shown, with all that is below; empty for everything.
        excludes: What is not shown.

    Examples:
        >>> SourceFilter(("a.*",), ("*.x",)).apply({"a": {"b": 1, "x": 2}, "c": 3})
        {'a': {'b': 1}}
    """

    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()

    def apply(self, source: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is shown of a document.

        Args:
            source: The document.
        """
        if not self.includes and not self.excludes:
            return dict(source)
        shows, hides = _any_of(self.includes), _any_of(self.excludes)
        return _filtered(source, "", shows if self.includes else lambda path: True, hides, 0)


def read_source(value: object) -> SourceFilter:
    """Read ``_source``.

    A boolean is accepted and changes nothing: the original always shows the source.

    Args:
        value: A boolean, a pattern, a list of patterns, or an object with includes and excludes.

    Returns:
        The filter.

    Raises:
        DslError: If it is anything else.
    """
    if isinstance(value, bool):
        return SourceFilter()
    if isinstance(value, Mapping):
        given = Parameters("_source", value)
        includes = (*_patterns(given.take("includes", [])), *_patterns(given.take("include", [])))
        excludes = (*_patterns(given.take("excludes", [])), *_patterns(given.take("exclude", [])))
        for key in given.rest():
            raise DslError(
                f"Unknown key [{key}] in [_source]; known are includes and excludes", type="parsing_exception"
            )
        return SourceFilter(includes, excludes)
    return SourceFilter(_patterns(value))


def _patterns(value: object) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise DslError(
            f"[_source] must be true, false, a pattern, an array of patterns or an object, got {shown(value)}",
            type="parsing_exception",
        )
    return tuple(items)


def _any_of(patterns: Sequence[str]) -> Test:
    tests = [wildcard(pattern.replace("\\", "\\\\").replace("?", "\\?")) for pattern in patterns]
    return lambda path: any(test(path) for test in tests)


def _filtered(
    source: Mapping[str, Any], above: str, shows: Callable[[str], bool], hides: Test, depth: int
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in source.items():
        path = f"{above}{key}"
        if hides(path):
            continue
        whole = shows(path)
        if not isinstance(value, Mapping) or depth >= _MAX_DEPTH:
            if whole:
                kept[key] = value
            continue
        inner = _filtered(value, f"{path}.", (lambda path: True) if whole else shows, hides, depth + 1)
        if inner or whole:
            kept[key] = inner
    return kept
