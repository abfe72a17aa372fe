"""The page on known failures names tests that exist, and every theme of the suite has its place there."""

from __future__ import annotations

import ast
import re

import pytest
from tests.house.project import PACKAGE, ROOT

_PAGE = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")
_NAMED = sorted(set(re.findall(r"`([\w/.]+)::(test_\w+)`", _PAGE)))


@pytest.mark.parametrize(("place", "name"), _NAMED, ids="::".join)
def test_a_named_test_exists(place: str, name: str) -> None:
    """What the page promises is tested where it says."""
    path = ROOT / place if "/" in place else PACKAGE / "testing" / "conformance" / f"{place}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_line_names_a_test_or_owns_up() -> None:
    """A line of the page has a test, or a dash that says there is none."""
    lines = [line for line in _PAGE.splitlines() if line.startswith("| ") and "right outcome" not in line]
    assert len(lines) > 45
    assert [
        line for line in lines if "`" not in line.split("|")[2] and line.split("|")[2].strip() != "–"
    ] == []
