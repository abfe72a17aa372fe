"""The WordPiece tokeniser."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitherto.errors import ModelError
from hitherto.models.wordpiece import WordPiece

_PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##aff",
    "##able",
    "cafe",
    "a",
    "##b",
    "[",
    "]",
    "sep",
    "中",
    "!",
]


def _tokenizer() -> WordPiece:
    return WordPiece(list(_PIECES))


def _encoded(text: str) -> list[str]:
    return [_PIECES[number] for number in _tokenizer().encode(text, max_tokens=64)[1:-1]]


def test_longest_pieces_first() -> None:
    """A word is covered from the left by the longest pieces; one that cannot be covered is unknown as a whole."""
    assert _encoded("unaffable") == ["un", "##aff", "##able"]
    assert _encoded("unaffected") == ["[UNK]"]


def test_case_and_accents_are_folded() -> None:
    """The vocabulary is uncased and without accents, and so are texts."""
    assert _encoded("CAFÉ café") == ["cafe", "cafe"]


def test_punctuation_and_han_characters_stand_alone() -> None:
    """Punctuation marks and Han characters are words of their own; control characters are dropped."""
    assert _encoded("a!ab中a\u200b\x00") == ["a", "!", "a", "##b", "中", "a"]


def test_names_of_special_tokens_are_plain_text() -> None:
    """A text cannot smuggle in a special token."""
    assert _encoded("a [SEP] a") == ["a", "[", "sep", "]", "a"]


def test_the_end_of_a_long_text_is_dropped() -> None:
    """A text has at most so many tokens, marks included."""
    numbers = _tokenizer().encode("a " * 100, max_tokens=10)
    assert numbers == [2] + [8] * 8 + [3]


def test_a_pair_shares_the_room() -> None:
    """Of a pair that is too long, the first keeps half of the room or what the second leaves."""
    tokenizer = _tokenizer()
    numbers, first = tokenizer.encode_pair("a " * 50, "! " * 50, max_tokens=13)
    assert (numbers, first) == ([2] + [8] * 5 + [3] + [14] * 5 + [3], 7)
    numbers, first = tokenizer.encode_pair("a " * 50, "!", max_tokens=13)
    assert (numbers, first) == ([2] + [8] * 9 + [3, 14, 3], 11)
    numbers, first = tokenizer.encode_pair("a", "! " * 50, max_tokens=13)
    assert (numbers, first) == ([2, 8, 3] + [14] * 9 + [3], 3)


def test_a_vocabulary_without_marks_is_refused(tmp_path: Path) -> None:
    """What is no BERT vocabulary is refused with the reason."""
    with pytest.raises(ModelError, match=r"no \[CLS\]"):
        WordPiece(["[UNK]", "[SEP]"])
    (tmp_path / "vocab.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ModelError, match="no vocabulary"):
        WordPiece.from_file(tmp_path / "vocab.txt")


@given(st.text(), st.text(), st.integers(min_value=8, max_value=40))
def test_any_text_can_be_encoded(first: str, second: str, max_tokens: int) -> None:
    """Any text is legal, and no bound is passed."""
    tokenizer = _tokenizer()
    assert 2 <= len(tokenizer.encode(first, max_tokens=max_tokens)) <= max_tokens
    numbers, length = tokenizer.encode_pair(first, second, max_tokens=max_tokens)
    assert 3 <= len(numbers) <= max_tokens
    assert numbers[length - 1] == 3
