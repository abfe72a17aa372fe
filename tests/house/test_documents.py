"""The documents run: README, tutorial and how-to pages, each from top to bottom in an empty folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from tests.house.project import ROOT, name_of

_DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", _DOCUMENTS, ids=name_of)
def test_document_runs(path: Path) -> None:
    """Each Python block of a document runs after those above it, and its assertions hold."""
    sybil = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], path=str(path.parent), pattern=path.name)
    for example in sybil.parse(path).examples():
        example.evaluate()
