"""Programs that import the original package by its own name run on ours."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hitherto.compat.oracle import activate
from hitherto.compat.oracle.activation import NAME, deactivate

PROGRAM = """
import sys
from oracleagentmemory.core import OracleAgentMemory
from oracleagentmemory.core.embedders.embedder import Embedder
from oracleagentmemory.apis.searchscope import SearchScope

with OracleAgentMemory(connection=sys.argv[1]) as memory:
    thread = memory.create_thread(user_id="mia")
    thread.add_memory("Mia is allergic to walnuts")
    print([result.content for result in memory.search("walnuts", scope=SearchScope(user_id="mia"))])
"""

# Stands before the installed original, as if there were none.
WITHOUT_ORIGINAL = """
import importlib.util, runpy, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "oracleagentmemory" else found(name, package)
sys.argv = ["python -m hitherto.compat.oracle", *sys.argv[1:]]
runpy.run_module("hitherto.compat.oracle", run_name="__main__")
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the module with arguments, where the original is not installed."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_ORIGINAL, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def no_original(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hide the original, and take the name back at the end."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name == NAME else found(name, package),
    )
    for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
        monkeypatch.delitem(sys.modules, name)
    yield
    deactivate()


@pytest.mark.usefixtures("no_original")
def test_both_names_are_one_module() -> None:
    """A class is the same by both names; a module that is not there is missed by the name that was asked for."""
    activate()
    activate()
    ours: Any = importlib.import_module("hitherto.compat.oracle.core.oracleagentmemory")
    theirs: Any = importlib.import_module("oracleagentmemory.core.oracleagentmemory")
    assert theirs.OracleAgentMemory is ours.OracleAgentMemory
    with pytest.raises(ModuleNotFoundError, match=r"oracleagentmemory\.nothing"):
        importlib.import_module("oracleagentmemory.nothing")


@pytest.mark.usefixtures("no_original")
def test_deactivate_gives_the_name_back() -> None:
    """Afterwards nothing of ours answers to the name."""
    activate()
    importlib.import_module("oracleagentmemory.core")
    deactivate()
    assert not [name for name in sys.modules if name.split(".")[0] == NAME]
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("hitherto")]


def test_a_program_runs_unedited(tmp_path: Path) -> None:
    """``python -m hitherto.compat.oracle`` runs a program with its arguments, on a file."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = run(str(program), str(tmp_path / "memory.db"))
    assert (done.returncode, done.stdout) == (0, "['Mia is allergic to walnuts']\n"), done.stderr
    assert (tmp_path / "memory.db").exists()


def test_without_a_program_the_usage_is_shown() -> None:
    """The exit code is that of a wrong call."""
    done = run()
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m hitherto.compat.oracle script.py")
