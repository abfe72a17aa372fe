"""Modules and functions stay small enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.house.project import PACKAGE, name_of, python_files

MODULE_LINES = 500
FUNCTION_LINES = 60


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines without its docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_module_is_small(path: Path) -> None:
    """A module has at most 500 lines: past that it holds two subjects."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MODULE_LINES


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_functions_are_small(path: Path) -> None:
    """A function has at most 60 lines, its docstring not counted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    long = {
        f"{node.name} (line {node.lineno})": _body_lines(node)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _body_lines(node) > FUNCTION_LINES
    }
    assert long == {}
