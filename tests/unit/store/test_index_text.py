"""The text that is indexed for a record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.messages import ImageContent, ImageMimeType, TextContent
from hitherto.store.index_text import MAX_CHUNKS, date_words, embedded_text, message_words, split_text


def test_captions_are_words_of_a_message() -> None:
    """An image in a message is found by what it shows; one without description says nothing."""
    bike = ImageContent(None, ImageMimeType.PNG, "a bike")
    blank = ImageContent(None, ImageMimeType.PNG)
    assert message_words((TextContent("look"), bike, blank)) == "look\n[image: a bike]"


def test_a_name_stands_instead_of_the_role() -> None:
    """Where the speaker's name is known, it is what is embedded."""
    assert embedded_text("hi", role="user", timestamp=None, name="Ana") == "Ana: hi"


@pytest.mark.parametrize(
    ("timestamp", "words"), [(None, ""), ("", ""), ("2026-12-31T23:00:00-05:00", "1 January 2027")]
)
def test_dates_are_in_utc(timestamp: str | None, words: str) -> None:
    """The same moment has the same date, whatever zone it was written in."""
    assert date_words(timestamp) == words


@given(st.text(max_size=4000), st.integers(1, 600))
def test_no_word_is_lost_by_cutting(text: str, tokens: int) -> None:
    """The pieces hold every character of the text but white space, in order, and are never too many."""
    pieces = split_text(text, max_input_tokens=tokens)
    assert 1 <= len(pieces) <= MAX_CHUNKS
    assert "".join("".join(pieces).split()) == "".join(text.split())


def test_a_huge_text_has_a_bounded_number_of_pieces() -> None:
    """A text of millions of characters does not run out of chunk numbers."""
    assert len(split_text("word " * 500_000, max_input_tokens=32)) <= MAX_CHUNKS
