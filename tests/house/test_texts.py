"""What the project's texts say, and what they never say."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.house.project import PACKAGE, ROOT, name_of, python_files, text_files

# Written in parts, so that this file does not hold what it looks for.
MACHINE_PATH = re.compile(
    r"(?<![\w.~-])/(?:" + "|".join(("work", "farm", "root", "home/[a-z]+", "Users/[A-Za-z]+")) + r")/"
)
REGISTRY = re.compile(
    "|".join(("files[.]python" + "hosted", "pypi[.]" + "org/simple", "registry[.]" + "npmjs"))
)
VENDORS = re.compile("|".join(("ora" + "cle", "open" + "search")), re.IGNORECASE)

_DOORS = {"compat", "server"}
_TEXTS = list(text_files())


@pytest.mark.parametrize("path", _TEXTS, ids=name_of)
def test_text_names_no_machine(path: Path) -> None:
    """No text names a folder of somebody's machine or a package registry's host."""
    text = path.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if MACHINE_PATH.search(line) or REGISTRY.search(line)] == []


def test_core_names_no_vendor() -> None:
    """Only the doors to other products speak their names."""
    core = [
        path
        for path in sorted(PACKAGE.rglob("*"))
        if path.is_file() and path.suffix in {".py", ".md", ".sql"}
    ]
    inside = [path for path in core if path.relative_to(PACKAGE).parts[0] not in _DOORS]
    assert inside
    assert [name_of(path) for path in inside if VENDORS.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", python_files(ROOT / "tests"), ids=name_of)
def test_every_test_says_its_rule(path: Path) -> None:
    """Every test has a docstring: the rule that it guards."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_module_says_its_subject(path: Path) -> None:
    """Every module begins with one sentence that says what it is about."""
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_nothing_is_left_for_later(path: Path) -> None:
    """No module holds a note on work that is still to be done."""
    marks = re.compile(r"\b(?:" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
    assert [line for line in path.read_text(encoding="utf-8").splitlines() if marks.search(line)] == []
