"""The words of a text: the one tokeniser that every backend indexes and asks with.

A word is a run of letters, digits and marks of any script, folded in case and in Latin accents, and stemmed by
Porter's rules, whose definition is frozen, so that an index written today matches a query of tomorrow. Scripts
that are written without spaces are cut into overlapping pairs of characters. Common English words are left out
of queries only: the index keeps them, so that a query of nothing else still finds something.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Final, Protocol

MAX_WORD_LENGTH: Final = 64
"""What is longer is cut: no word, but encoded data."""

# The combining marks of Latin, Greek and Cyrillic; those of Indic and Semitic scripts carry meaning and stay.
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_SPOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAPTION: Final = re.compile(r"\[image: [^\]]*\]")
# Each sentence with its mark, asked or not: a pattern for questions alone would run to the end of the text from
# every letter of one that has none.
_SENTENCE: Final = re.compile(r"[^.!?。！？؟\n]+[.!?。！？؟\n]?")
_APOSTROPHES: Final = str.maketrans("’ʼ＇", "'''")
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
)
_RUN: Final = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_IS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")
_STEM_LOCK: Final = threading.Lock()

STOP_WORDS: Final = frozenset(
    re.findall(
        r"[a-z]+",
        """
    a about above after again against ago all almost also although always am among an and another any anybody
    anyone anything anyway are arent around as at away be became because become been before behind being below
    between both but by came can cannot cant come could couldnt did didnt do does doesnt doing done dont down
    during each either else enough etc even ever every everybody everyone everything few for from further gave
    get gets getting give given go goes going gone got had hadnt has hasnt have havent having he her here hers
    herself him himself his how however i id if ill im in instead into is isnt it its itself ive just keep kind
    least less let lets like made make makes many maybe me might mine more most much must my myself neither
    never no nobody nor not nothing now of off often on once one only onto or other others our ours ourselves out
    over own perhaps please put quite rather really said same say says seem seemed seems shall she should
    shouldnt since so some somebody someone something such take taken tell than that thats the their theirs them
    themselves then there these they theyre theyve thing things this those though through thus to together told
    too took toward towards under until up upon us use used very via want was wasnt way we well went were werent
    weve what whatever when whenever where whether which while who whom whose why will with within without wont
    would wouldnt yes yet you your youre yours yourself yourselves youve
    """,
    )
)
"""Words that queries are asked without, folded but not stemmed; contractions stand without their apostrophe."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def words(text: str) -> list[str]:
    """Return the words of a text as they are indexed: folded and stemmed, in order, with repetitions.

    Args:
        text: Any text.

    Returns:
        The words; none is longer than :data:`MAX_WORD_LENGTH`.

    Examples:
        >>> words("Melanie's ponies, running: Café 27!")
        ['melani', 'poni', 'run', 'cafe', '27']
        >>> words("我喜欢茶")
        ['我喜', '喜欢', '欢茶']
    """
    return [_stem(word) for word in _split(text)]


def query_words(text: str) -> list[str]:
    """Return the words to ask for: those of :func:`words`, each once, without stop words.

    Args:
        text: The query.

    Returns:
        The words in order of first appearance; of a query that holds stop words only, all of them.

    Examples:
        >>> query_words("When did Caroline go to the LGBTQ support group?")
        ['carolin', 'lgbtq', 'support', 'group']
        >>> query_words("Who are you?")
        ['who', 'ar', 'you']
    """
    found = _split(text)
    kept = [word for word in found if word not in STOP_WORDS] or found
    return list(dict.fromkeys(_stem(word) for word in kept))


def query_topic(query: str) -> str:
    """Return what a query is about, without whom: its telling words, less those that look like names.

    "What books has Melanie read?" is near to everything that names Melanie; "books read" is near to what she read.
    A vector search asks for the sum of both. A capitalised word inside the query looks like a name, unless all of
    it is capitals.

    Args:
        query: The query.

    Returns:
        The words as written; "" if nothing is left out but stop words, or little but names would be left.

    Examples:
        >>> query_topic("What books has Melanie read?")
        'books read'
        >>> query_topic("favourite books"), query_topic("Mag Anna Katzen?")
        ('', '')
    """
    found = _SPOKEN.findall(query)
    names = {word for word in found[1:] if word[0].isupper() and not word.isupper()}
    kept = [word for word in found if word not in names and _bare(word) not in STOP_WORDS]
    return " ".join(kept) if names and len(kept) >= len(names) else ""


def question_share(text: str) -> float:
    """Return how much of a text is questions, from 0 to 1: what only asks seldom holds what is looked for.

    Args:
        text: The text; captions of images do not count.

    Examples:
        >>> question_share("I did! And you?"), question_share("Really?"), question_share("")
        (0.5333333333333333, 1.0, 0.0)
    """
    said = _CAPTION.sub("", text).strip()
    sentences = _SENTENCE.findall(said)
    asked = sum(len(sentence.strip()) for sentence in sentences if sentence.endswith(("?", "？", "؟")))
    return min(1.0, asked / len(said)) if said else 0.0


def _bare(word: str) -> str:
    return _fold(word).replace("'", "")


def _split(text: str) -> list[str]:
    folded = _fold(text)
    if not folded.isascii():
        return _split_unicode(folded)
    return [_joined(word)[:MAX_WORD_LENGTH] for word in _ASCII_WORD.findall(folded)]


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text.translate(_APOSTROPHES)).casefold()
    if folded.isascii():
        return folded
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare)


def _joined(word: str) -> str:
    # "Melanie's" is about Melanie; "don't" is one word.
    return word.removesuffix("'s").replace("'", "")


def _split_unicode(folded: str) -> list[str]:
    found: list[str] = []
    spaced = "".join(char if char == "'" or _in_word(char) else " " for char in folded)
    for piece in spaced.split():
        word = _joined(piece.strip("'"))
        for run in _RUN.findall(word):
            found.extend(_pairs(run) if _IS_UNSPACED.match(run) else [run[:MAX_WORD_LENGTH]])
    return found


@lru_cache(maxsize=16384)
def _in_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char)[0] == "M"


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if not word.isalpha() or not word.isascii():
        return word
    with _STEM_LOCK:  # a stemmer keeps the word that it works on in itself
        return _porter().stemWord(word) or word


@lru_cache(maxsize=1)
def _porter() -> _Stemmer:
    # Imported when first needed: the package loads some thirty languages.
    import snowballstemmer

    stemmer: _Stemmer = snowballstemmer.stemmer("porter")
    return stemmer
