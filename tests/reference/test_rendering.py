"""Rendered text is the recorded text, except where that was no well-formed XML or lost a metadata key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.reference.recorded import decode

from hitherto.records import MemoryRecord
from hitherto.relations import RecordRelation
from hitherto.search.result import SearchResult, SearchResultFormatConfig


def load(reference_data: Path, name: str) -> Any:
    """Return a file of recorded behaviour."""
    return json.loads((reference_data / "vectors" / "search" / f"{name}.json").read_text(encoding="utf-8"))


def rendered(case: dict[str, Any]) -> str:
    """Render a recorded case."""
    result = SearchResult(decode(case["distance"]), decode(case["record"]), id=case["id"])
    config = case["format_config"]
    return (
        result.formatted_content if config in (None, "<default>") else result.format_content(decode(config))
    )


def is_well_formed(text: str) -> bool:
    """Return whether a strict parser reads the text."""
    try:
        ElementTree.fromstring(text)
    except (ElementTree.ParseError, UnicodeError):
        return False
    return True


@pytest.mark.parametrize("name", ["format_options", "format_metadata_escaping_distance"])
def test_rendering_equals_what_was_recorded(reference_data: Path, name: str) -> None:
    """Every option gives the recorded text; a difference is only where that text was broken or lost a key."""
    compared = 0
    for case in load(reference_data, name):
        if (
            "formatted" not in case
            or "datetime" in case["case"]
            or "b'bytes'" in case["case"]
            or "np." in case["case"]
        ):
            continue  # an error was recorded, or a value that the recording does not keep
        text = rendered(case)
        if text != case["formatted"]:
            lost = '<entry key="' in text or any(ord(char) > 127 for char in text)
            assert lost or not is_well_formed(case["formatted"]), case["case"]
        assert is_well_formed(text), case["case"]
        compared += 1
    assert compared > 100


def tree(node: dict[str, Any]) -> SearchResult:
    """Return a recorded tree of linked results."""
    linked = [(decode(relation), tree(child)) for relation, child in node["linked"]]
    return SearchResult(node["distance"], decode(node["record"]), linked_results=linked)


def test_linked_results_are_rendered_as_recorded(reference_data: Path) -> None:
    """Trees of linked results have the recorded text, by default and with each configuration."""
    cases = load(reference_data, "format_linked")["trees"]
    configured = 0
    for case in cases:
        assert tree(case["tree"]).formatted_content == case["default"], case["case"]
        for item in case["configs"]:
            text = tree(case["tree"]).format_content(decode(item["config"]))
            assert text == item["formatted"], case["case"]
            configured += 1
    assert len(cases) == 27
    assert configured > 10


def test_the_renderings_configuration_reaches_linked_results(reference_data: Path) -> None:
    """A call's options win over the result's own, and the outer result's over those of what is linked to it."""
    cases = {
        case["case"]: case["result"]
        for case in load(reference_data, "format_linked")["config_and_object_behaviour"]
    }
    time = "2026-01-01T00:00:00Z"
    a, b = (MemoryRecord(name, content=f"content {name}", timestamp=time) for name in "ab")
    relation = RecordRelation(
        id="a>b",
        source_record_id="a",
        source_record_type="memory",
        target_record_id="b",
        target_record_type="memory",
        relation_type="supersedes",
        opposite_relation_type="is_superseded_by",
        timestamp=None,
        metadata=None,
        created_at=time,
    )
    config = SearchResultFormatConfig
    own = SearchResult(0.1, b, format_config=config(show_status=False, show_distance=True))
    assert (
        SearchResult(0.1, a, linked_results=[(relation, own)]).formatted_content
        == cases["child has own config; parent default"]["ok"]
    )
    quiet = config(show_status=False)
    linked = [(relation, SearchResult(0.1, b))]
    assert (
        SearchResult(0.1, a, linked_results=linked, format_config=quiet).formatted_content
        == cases["parent config show_status False; child own default"]["ok"]
    )
    far = SearchResult(0.1, a, format_config=config(show_distance=True))
    wanted = cases["parent default config show_distance; override show_distance False"]["ok"]
    assert far.format_content(config(show_distance=False)) == wanted
    assert far.format_content(config(show_role=False)).count("<estimated_relevance>0.9<") == 1
    for wrong in (None, {}):
        with pytest.raises(ValueError, match="SearchResultFormatConfig"):
            far.format_content(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["yes", 1, 0, None, 2.0])
def test_format_options_are_bools(value: Any) -> None:
    """What is no bool is refused where it is given."""
    with pytest.raises(ValueError, match="show_status"):
        SearchResultFormatConfig(show_status=value)
    with pytest.raises(ValueError, match="format_config"):
        SearchResult(0.1, MemoryRecord("a"), format_config=value)
