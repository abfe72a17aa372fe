"""The tokeniser of words."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from hitherto.text import MAX_WORD_LENGTH, STOP_WORDS, query_topic, query_words, question_share, words


def test_forms_of_a_word_meet_in_its_stem() -> None:
    """Inflected forms of a word are one word."""
    assert words("running runs run") == ["run", "run", "run"]
    assert words("meeting") == words("meetings") == words("Meets")


def test_case_accents_and_width_do_not_matter() -> None:
    """Case, Latin accents and compatibility forms are folded."""
    assert words("ÉCOLE") == words("ecole")
    assert words("STRASSE") == words("straße")
    assert words("ｈｅｌｌｏ") == words("hello")
    assert words("Ёлка") == words("елка")


def test_possessives_and_contractions_are_one_word() -> None:
    """An apostrophe splits no word, and a possessive is its owner, with either kind of apostrophe."""
    assert words("Melanie's") == words("Melanie’s") == words("Melanie")
    assert words("don't") == words("don’t") == ["dont"]
    assert words("'quoted' ’quoted’") == ["quot", "quot"]


def test_punctuation_and_underscores_separate() -> None:
    """Everything that is no letter, digit or mark separates words."""
    assert words("snake_case a-b c/d\ne\x00f 🙂 g") == ["snake", "case", "a", "b", "c", "d", "e", "f", "g"]


def test_marks_of_other_scripts_stay_in_their_word() -> None:
    """A vowel sign does not split a Hindi word, nor a point a Hebrew one."""
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert len(words("שָׁלוֹם")) == 1


def test_unspaced_scripts_are_found_by_a_part() -> None:
    """A word inside a Chinese, Japanese or Thai sentence is found."""
    assert set(query_words("喜欢")) <= set(words("我喜欢喝茶"))
    assert set(query_words("東京")) <= set(words("昨日東京に行った"))
    assert set(query_words("กาแฟ")) <= set(words("ฉันชอบกาแฟ"))
    assert words("茶") == ["茶"]
    assert words("iPhone手机") == ["iphon", "手机"]


def test_queries_leave_stop_words_out() -> None:
    """A query asks for each telling word once."""
    assert query_words("What did the dog do with the other dogs?") == ["dog"]


def test_a_query_of_stop_words_keeps_them() -> None:
    """A query that holds nothing but stop words still asks for something."""
    assert query_words("where were you?") == words("where were you?")
    assert query_words("?!") == []


def test_stop_words_are_folded() -> None:
    """Every stop word has the form in which words are compared with it."""
    assert all(word.isascii() and word.isalpha() and word == word.lower() for word in STOP_WORDS)
    assert 180 <= len(STOP_WORDS) <= 320


def test_the_topic_of_a_query_leaves_names_out() -> None:
    """The topic is what is asked about, without the names of whom; acronyms are no names."""
    assert query_topic("When did Caroline go to the LGBTQ support group?") == "LGBTQ support group"
    assert query_topic("What are Melanie's pets' names?") == "pets names"
    assert query_topic("What did Ann and Bo paint?") == ""


def test_a_query_without_names_has_no_topic_of_its_own() -> None:
    """Where nothing is left out but stop words, or names are most of it, the query stands for itself."""
    assert query_topic("which books are good") == ""
    assert query_topic("Caroline") == query_topic("") == query_topic("?") == ""


def test_questions_are_weighed_by_length() -> None:
    """A text of questions has share 1, a statement 0, a mixture what its questions take up, in any script."""
    assert question_share("How was it? And then?") > 0.9
    assert question_share("It was good.\nWe went home") == 0.0
    assert question_share("你好吗？") == question_share("كيف حالك؟") == 1.0
    assert 0.3 < question_share("Yes, it was good. What about you?") < 0.7
    assert question_share("Look! [image: who is this?]") == 0.0
    assert question_share("?") == question_share("") == 0.0


def test_encoded_data_is_cut() -> None:
    """A word has a bounded length in every script."""
    assert [len(word) for word in words("x1" * 500)] == [MAX_WORD_LENGTH]
    assert max(len(word) for word in words("д" * 500)) == MAX_WORD_LENGTH


def test_threads_do_not_disturb_each_other() -> None:
    """Stemming in many threads at once gives what it gives in one."""
    texts = [
        f"nationalization{'s' * (i % 7)} happiness{'es' * (i % 5)} relational{i % 11}ly" for i in range(400)
    ]
    results: list[list[list[str]]] = [[] for _ in range(4)]

    def run(number: int) -> None:
        results[number] = [words(text) for text in texts]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[words(text) for text in texts]] * 4


@given(st.text())
def test_any_text_has_words_without_separators(text: str) -> None:
    """Any text is legal; a word is never empty, too long, or holds white space, a quote or NUL."""
    for word in words(text):
        assert 0 < len(word) <= MAX_WORD_LENGTH
        assert not set(word) & set(" \t\n\r\x00\"'*^()")
    assert set(query_words(text)) <= set(words(text))
    assert bool(query_words(text)) == bool(words(text))


def test_a_long_text_without_a_sentence_is_read_once() -> None:
    """The share of questions takes a time in proportion to the text, whatever it is made of."""
    assert question_share("word " * 200_000) == 0
    assert question_share("word " * 200_000 + "?") == 1
