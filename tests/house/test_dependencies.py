"""What is imported is declared: in the base, or in an extra that the module belongs to."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest
from tests.house.project import PACKAGE, ROOT, name_of, python_files

#: Modules that are imported by another name than the distribution's.
_DISTRIBUTIONS = {"PIL": "pillow", "argon2": "argon2-cffi", "opentelemetry": "opentelemetry-api"}

#: Test frameworks that the public testing tools are made for.
_TESTING = {"hypothesis", "pytest"}


def _table(name: str) -> dict[str, set[str]]:
    """Read the lists of requirements in one table of pyproject.toml, by key, without versions."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split(f"\n[{name}]\n", 1)[1].split("\n[", 1)[0]
    lists = re.findall(r"^(\w+) = \[(.*?)\]$", section, re.MULTILINE | re.DOTALL)
    return {key: {found.lower() for found in re.findall(r'"([A-Za-z0-9_-]+)', body)} for key, body in lists}


def _imported(path: Path) -> set[str]:
    """Return the distributions that a module imports, at any depth."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            roots.add(node.module.split(".")[0])
    foreign = roots - set(sys.stdlib_module_names) - {"hitherto"}
    return {_DISTRIBUTIONS.get(root, root).lower().replace("_", "-") for root in foreign}


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_imports_are_declared(path: Path) -> None:
    """A module imports only the standard library and what the base or an extra installs."""
    declared = _table("project")["dependencies"].union(*_table("project.optional-dependencies").values())
    assert _imported(path) - declared == set()


@pytest.mark.parametrize("path", python_files(PACKAGE), ids=name_of)
def test_core_needs_only_the_base(path: Path) -> None:
    """Outside models, doors, images and the PostgreSQL backend, only the base is imported."""
    parts = path.relative_to(PACKAGE).parts
    extras = _table("project.optional-dependencies")
    allowed = set(_table("project")["dependencies"])
    if parts[0] in {"compat", "mcp", "models", "server"} or "postgres" in parts or "images" in path.name:
        allowed = allowed.union(*extras.values())
    if parts[0] == "testing":
        allowed |= _TESTING
    assert _imported(path) - allowed == set()
