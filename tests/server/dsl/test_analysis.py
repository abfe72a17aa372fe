"""The standard analyser."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hitherto.server.dsl.analysis import ANALYZERS, MAX_TOKEN_LENGTH, lower, standard, terms

WORDS = [
    ("don't", ["don't"]),
    ("Don’t", ["don’t"]),
    ("api.openai.com", ["api.openai.com"]),
    ("foo_bar", ["foo_bar"]),
    ("foo-bar", ["foo", "bar"]),
    ("C++", ["c"]),
    ("a@b.com", ["a", "b.com"]),
    ("3.14 1,000 1;2", ["3.14", "1,000", "1;2"]),
    ("end. Next", ["end", "next"]),
    ("v1.2.3-beta", ["v1.2.3", "beta"]),
    ("x1 1x a1b", ["x1", "1x", "a1b"]),
    ("a.1 1.a", ["a", "1", "1", "a"]),
    ("foo:bar", ["foo:bar"]),
    ("___", []),
    ("__init__", ["__init__"]),
    ("'quoted'", ["quoted"]),
    ("東京タワー", ["東", "京", "タワー"]),
    ("ひらがな", ["ひ", "ら", "が", "な"]),
    ("カタカナ ｶﾀｶﾅ", ["カタカナ", "ｶﾀｶﾅ"]),
    ("한국어 단어", ["한국어", "단어"]),
    ("ภาษาไทย", ["ภาษาไทย"]),
    ('צה"ל', ['צה"ל']),
    ("naïve cafe\u0301", ["naïve", "cafe\u0301"]),
    ("👍", ["👍"]),
    ("👍🏽 👩\u200d👩\u200d👧", ["👍🏽", "👩\u200d👩\u200d👧"]),
    ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
    ("1️⃣", ["1️⃣"]),
    ("great👍!", ["great", "👍"]),
    ("© ™ → … !", []),
    ("", []),
]
PIECES = [
    *"abZ09_:.',;\"-#* \t\n\x0b\x1f\x85\xa0éßİ\u0301\u200d\u2028\u202f\u3000\ufe0f\u20e3",
    *"א东タひ한ก👍🏽👩🇩©’·٫０",
    "ab" * 130,
]


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_are_those_of_the_standard_analyser(text: str, words: list[str]) -> None:
    """A text is cut where Unicode's segmentation cuts it, and punctuation is no word."""
    assert [token.term for token in standard(text)] == words


@pytest.mark.parametrize(("text", "words"), WORDS)
def test_words_do_not_depend_on_other_scripts(text: str, words: list[str]) -> None:
    """A text has the same words beside a letter that is not ASCII, so both patterns agree."""
    assert [token.term for token in standard(f"{text} é")] == [*words, "é"]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
@example("a" * 255 + "'b")
@example("_" * 300 + "a" * 600 + "_")
def test_words_without_places_are_the_same(text: str) -> None:
    """The fast way to the words alone leads to the same words, whatever letters, marks and signs meet."""
    assert terms(text) == [token.term for token in standard(text)]


def test_letters_that_are_taken_fast_are_letters() -> None:
    """Each letter of the scripts that have a fast way stands within a word, and is lowered alone."""
    for letter in map(chr, range(0xC0, 0x530)):
        for text in (f"a{letter}b", f"(a{letter}1{letter})._ {letter}", f"{letter}'{letter}"):
            assert terms(text) == [token.term for token in standard(text)]


@pytest.mark.parametrize("letter", ["a", "é", "1", "_a"])
def test_long_words_are_cut(letter: str) -> None:
    """A word of more than 255 characters becomes several, none of which is lost."""
    text = letter * 600
    tokens = [token.term for token in standard(text)]
    assert "".join(tokens) == text
    assert [len(token) <= MAX_TOKEN_LENGTH for token in tokens] == [True] * 3 * len(letter) or len(
        tokens
    ) == 5


@given(st.text(max_size=200))
def test_words_stand_where_they_say(text: str) -> None:
    """A word's place in the text holds it, and places follow each other."""
    at = 0
    for token in standard(text):
        assert at <= token.start < token.end
        assert lower(text[token.start : token.end]) == token.term
        at = token.end


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=100))
def test_ascii_pattern_agrees_with_the_general_one(text: str) -> None:
    """The quick pattern for ASCII finds the words that the general one finds."""
    general = [token.term for token in standard(f"{text} é")]
    assert [token.term for token in standard(text)] == general[:-1]


def test_lowering_is_by_character() -> None:
    """A capital becomes one small letter, wherever it stands."""
    assert lower("ΟΔΟΣ İstanbul STRASSE ẞ") == "οδοσ istanbul strasse ß"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("keyword", ["Foo-Bar 1"]),
        ("whitespace", ["Foo-Bar", "1"]),
        ("simple", ["foo", "bar"]),
        ("standard", ["foo", "bar", "1"]),
    ],
)
def test_other_analysers(name: str, words: list[str]) -> None:
    """A query may name an analyser other than the field's."""
    assert [token.term for token in ANALYZERS[name]("Foo-Bar 1")] == words
