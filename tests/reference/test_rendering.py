"""Rendered text is the recorded text, except where that was no well-formed XML or lost a metadata key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.reference.recorded import decode

from hitherto.search.result import SearchResult


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


def test_linked_results_are_rendered_as_recorded(reference_data: Path) -> None:
    """Trees of linked results have the recorded text, with each configuration."""

    def tree(node: dict[str, Any]) -> SearchResult:
        linked = [(decode(relation), tree(child)) for relation, child in node["linked"]]
        return SearchResult(node["distance"], decode(node["record"]), linked_results=linked)

    cases = load(reference_data, "format_linked")["trees"]
    assert cases
    for case in cases:
        assert tree(case["tree"]).formatted_content == case["default"], case["case"]
