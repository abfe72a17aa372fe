"""What an import costs and does: no heavy library, no socket, no import against the flow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.project import ROOT

HEAVY = ("alembic", "anyio", "litellm", "numpy", "onnxruntime", "pydantic", "rich", "sqlalchemy")

LIGHT_MODULES = (
    "hitherto",
    "hitherto.aio",
    "hitherto.errors",
    "hitherto.filters",
    "hitherto.lifetime",
    "hitherto.messages",
    "hitherto.models.base",
    "hitherto.notset",
    "hitherto.records",
    "hitherto.relations",
    "hitherto.scope",
    "hitherto.store.requests",
)

_WATCH = """
import sys
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith("socket.") else None)
import hitherto
for name in hitherto.__all__:
    getattr(hitherto, name)
print(sorted(set(seen)))
"""


def _run(program: str) -> str:
    """Run a program in a fresh interpreter and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_import_is_light(module: str) -> None:
    """Importing the package or a noun loads none of the heavy libraries."""
    loaded = _run(f"import sys, {module}; print(sorted(set(sys.modules) & set({HEAVY!r})))")
    assert loaded == "[]"


def test_import_opens_no_socket() -> None:
    """Loading every public name opens no socket and looks up no host."""
    assert _run(_WATCH) == "[]"


def test_base_program_runs() -> None:
    """Storing and finding needs no socket and no SQLite extension."""
    assert _run((ROOT / "tests" / "house" / "base_program.py").read_text(encoding="utf-8")).startswith(
        "stored"
    )


def test_imports_flow_up() -> None:
    """The layer contract holds: no module imports from one below it."""
    command = "from importlinter.cli import lint_imports_command as run; run()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_typing_marker_is_shipped() -> None:
    """Type checkers of programs that use the package see its types."""
    import hitherto

    assert Path(hitherto.__file__).with_name("py.typed").is_file()
