"""JSON in the answers of language models."""

from __future__ import annotations

import pytest

from hitherto.errors import ModelOutputError
from hitherto.extraction.extractor import read_items
from hitherto.models.json_reply import parse_json_reply


def test_texts_of_a_reply_can_be_stored() -> None:
    """NUL and lone surrogates that a model escapes are replaced wherever they stand; a pair of them is a character."""
    read = parse_json_reply(
        r'{"a\u0000": ["b\ud800", {"c": "\udfffd"}], "e": "\ud83d\ude00", "n": 1, "z": null}'
    )
    assert read == {"a\ufffd": ["b\ufffd", {"c": "\ufffdd"}], "e": "😀", "n": 1, "z": None}


def test_one_slip_in_a_text_does_not_cost_the_other_memories() -> None:
    """A memory with what no store takes is read with a replacement, and the others as they are."""
    answer = (
        r'{"memories": [{"text": "Mia lives in \u0000Porto", "record_type": "fact", "entities": ["Mia\ud800"]}, '
        r'{"text": "Mia plays the cello", "record_type": "fact"}]}'
    )
    slipped, other = read_items(answer, spoken_at=None, known=0)
    assert slipped.text == "Mia lives in \ufffdPorto"
    assert slipped.details == {"entities": ["Mia\ufffd"]}
    assert other.text == "Mia plays the cello"


def test_a_reply_nested_without_end_is_no_json() -> None:
    """Depth that no stack holds is the model's error, not the program's end."""
    with pytest.raises(ModelOutputError):
        parse_json_reply('{"a":' * 100_000)


def test_what_cannot_be_used_stands_behind_got() -> None:
    """Logs and stored errors are cut before ", got", so that what was said of somebody is not in them."""
    with pytest.raises(ModelOutputError, match="none of 1 can, got ") as caught:
        read_items('{"memories": [{"content": "Mia is ill"}]}', spoken_at=None, known=0)
    assert "Mia" not in str(caught.value).partition(", got ")[0]
