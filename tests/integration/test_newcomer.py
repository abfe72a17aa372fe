"""A newcomer's first minutes: the README's program, and the examples, in processes of their own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.project import ROOT


def run(program: str | Path, folder: Path) -> str:
    """Run a program in an empty process and return what it printed."""
    words = [str(program)] if isinstance(program, Path) else ["-c", program]
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_first_program_works_across_processes(tmp_path: Path) -> None:
    """What the README's first half stores in one process, its second half finds in another."""
    program, *_ = re.findall(
        r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL
    )
    header, first, second = re.split(r"(?=^with AgentMemory)", program, flags=re.MULTILINE)
    assert run(header + first, tmp_path) == ""
    assert run(header + second, tmp_path) == "Mia is allergic to walnuts\n"


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_twice(path: Path, tmp_path: Path) -> None:
    """Each example runs in an empty folder, and again on the file that it left there."""
    assert run(path, tmp_path)
    assert run(path, tmp_path)
