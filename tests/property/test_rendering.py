"""Whatever a record holds, what is rendered of it is well-formed XML that says the same."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from hitherto.records import FactRecord, MessageRecord, RecordStatus
from hitherto.relations import RecordRelation
from hitherto.search.result import SearchResult, SearchResultFormatConfig
from hitherto.testing import strategies

OPTIONS = tuple(
    f"show_{name}"
    for name in ("thread_id", "distance", "timestamp", "role", "user_id", "agent_id", "status", "metadata")
)
ANY_TEXT = st.text(max_size=40)
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def legal(text: str) -> str:
    """Return a text as XML can hold it: without what is no character there, and with one kind of line end."""
    return ILLEGAL.sub("\ufffd", text.strip()).replace("\r\n", "\n").replace("\r", "\n")


@st.composite
def results(draw: st.DrawFn) -> SearchResult:
    """Return a result of any texts, with a linked record or without."""
    values: dict[str, Any] = {
        "content": draw(ANY_TEXT),
        "metadata": draw(st.none() | st.dictionaries(ANY_TEXT, strategies.json_values(), max_size=3)),
        "status": draw(st.sampled_from(RecordStatus)),
        "user_id": draw(st.none() | ANY_TEXT),
        "timestamp": draw(st.none() | ANY_TEXT),
    }
    record = draw(
        st.sampled_from(
            (FactRecord(draw(ANY_TEXT), **values), MessageRecord("m", role="u<", seq_no=1, **values))
        )
    )
    distance = draw(st.floats(allow_nan=True, allow_infinity=True))
    linked = []
    if draw(st.booleans()):
        label = draw(ANY_TEXT)
        relation = RecordRelation("r", record.id, "fact", "o", "fact", label, label, None, None, "")
        linked = [(relation, SearchResult(0.5, FactRecord("o", content=draw(ANY_TEXT))))]
    return SearchResult(distance, record, linked_results=linked)


@given(result=results(), shown=st.sets(st.sampled_from(OPTIONS)))
def test_it_is_always_well_formed(result: SearchResult, shown: set[str]) -> None:
    """Any text in any place, with any option, is read by a strict parser."""
    config = SearchResultFormatConfig(**{name: name in shown for name in OPTIONS})
    root = ElementTree.fromstring(result.format_content(config))
    assert root.tag == result.record.record_type


@given(text=st.text(min_size=1, max_size=60))
def test_the_content_is_what_was_said(text: str) -> None:
    """A reader of the XML gets the text back, but for what XML cannot hold."""
    root = ElementTree.fromstring(SearchResult(0.1, FactRecord("f", content=text)).formatted_content)
    found = root.findtext("content")
    wanted = legal(text)
    assert (found or "").strip() == wanted.strip()


@given(metadata=st.dictionaries(strategies.keys(), st.integers(), min_size=1, max_size=4))
def test_no_metadata_key_is_lost(metadata: dict[str, int]) -> None:
    """Every key is in the XML, as an element or as an entry."""
    config = SearchResultFormatConfig(show_metadata=True, show_status=False)
    result = SearchResult(0.1, FactRecord("f", content="x", metadata=metadata))
    root = ElementTree.fromstring(result.format_content(config))
    numbers = sorted(int(item.text or "") for item in root if item.tag not in {"content", "record_id"})
    assert numbers == sorted(metadata.values())
