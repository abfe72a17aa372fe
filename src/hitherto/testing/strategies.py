"""Hypothesis strategies for what a store takes: ids, texts, JSON, metadata, filters, scopes and messages.

Values are drawn from small pools as well as from everything that is allowed, so that ids collide, filters hit and
searches find.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy as Strategy

from hitherto.messages import ImageContent, ImageMimeType, Message, MessageContent, TextContent
from hitherto.scope import MAX_ID_LENGTH, SearchScope

_WORDS = ("tea", "boat", "cello", "night", "train", "orchestra", "Ana", "Vienna")
_KEYS = ("a", "b", "a.b", "", 'q"k', "ключ")
_SCALARS: tuple[None | bool | int | float | str, ...] = (
    None,
    True,
    False,
    0,
    1,
    1.0,
    -0.5,
    "",
    "1",
    "x",
    "é",
)


def storable_characters() -> Strategy[str]:
    """Return every character that can be stored: not NUL, no surrogate."""
    return st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def ids() -> Strategy[str]:
    """Return legal ids: few simple ones, and any of 1 to 128 storable characters."""
    simple = st.sampled_from(("u1", "u10", "U1", "a&b", "a", "%", "🙂"))
    return simple | st.text(storable_characters(), min_size=1, max_size=MAX_ID_LENGTH)


def sentences() -> Strategy[str]:
    """Return texts of a few words that come again and again."""
    return st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join)


def texts() -> Strategy[str]:
    """Return texts that are not blank: sentences, and anything storable."""
    return sentences() | st.text(storable_characters(), min_size=1, max_size=80).filter(str.strip)


def scalars() -> Strategy[Any]:
    """Return JSON scalars: the confusing ones, and any."""
    numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    return st.sampled_from(_SCALARS) | numbers | st.text(storable_characters(), max_size=8)


def keys() -> Strategy[str]:
    """Return keys of metadata: few ones that come again, and any that is no operator."""
    free = st.text(storable_characters(), max_size=6).filter(lambda key: not key.startswith("$"))
    return st.sampled_from(_KEYS) | free


def json_values() -> Strategy[Any]:
    """Return JSON values, nested a little."""
    return st.recursive(
        scalars(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys(), inner, max_size=3),
        max_leaves=6,
    )


def metadata() -> Strategy[dict[str, Any] | None]:
    """Return metadata of a record: None, or a JSON object."""
    return st.none() | st.dictionaries(keys(), json_values(), max_size=4)


def filters() -> Strategy[dict[str, Any]]:
    """Return legal metadata filters, with every operator, nested a little."""
    several = st.lists(scalars(), min_size=1, max_size=3)
    plain = scalars() | st.lists(json_values(), max_size=3)
    arrays = st.fixed_dictionaries(
        {}, optional={"$array_contains": scalars() | several, "$array_contains_any": several}
    ).filter(bool)
    tests = st.recursive(
        plain | arrays,
        lambda inner: st.dictionaries(keys(), inner, max_size=2) | st.fixed_dictionaries({"$not": inner}),
        max_leaves=4,
    )
    return st.dictionaries(keys(), tests, max_size=3)


def search_scopes() -> Strategy[SearchScope]:
    """Return scopes that a store takes: exact only where an id or None is given."""

    @st.composite
    def drawn(draw: st.DrawFn) -> SearchScope:
        scope = SearchScope()
        for name in ("user", "agent", "thread"):
            if draw(st.booleans()):
                setattr(scope, f"{name}_id", draw(st.none() | ids()))
                setattr(scope, f"exact_{name}_match", draw(st.booleans()))
        return scope

    return drawn()


def parts() -> Strategy[MessageContent]:
    """Return parts of messages; images are bytes behind a real signature, not pictures."""
    png = st.binary(max_size=20).map(lambda data: b"\x89PNG\r\n\x1a\n" + data)
    images = st.builds(
        ImageContent, png, st.just(ImageMimeType.PNG), st.none() | sentences(), timestamp=st.none()
    )
    return st.builds(TextContent, texts(), timestamp=st.none()) | images


def messages() -> Strategy[Message]:
    """Return messages: texts, and texts with images."""
    content = texts() | st.lists(parts(), min_size=1, max_size=3).map(tuple)
    roles = st.sampled_from(("user", "assistant", "Ana"))
    return st.builds(Message, roles, content, timestamp=st.none(), metadata=metadata())
