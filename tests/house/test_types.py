"""Programs that must, and must not, type-check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.house.project import ROOT

_REFUSED = ROOT / "tests" / "typing" / "refused"


def _mypy(*paths: Path) -> list[str]:
    """Return the lines that mypy prints about some programs."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), *map(str, paths)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    return done.stdout.splitlines()


def test_wrong_programs_are_refused() -> None:
    """Each line marked ``# refused: code`` in a program is an error of that code, and no other line is."""
    programs = sorted(_REFUSED.glob("*.py"))
    wanted = {
        (path.name, number, mark[1])
        for path in programs
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (mark := re.search(r"# refused: ([a-z-]+)$", line))
    }
    found = {
        (Path(match[1]).name, int(match[2]), match[3])
        for line in _mypy(*programs)
        if (match := re.match(r"(.+?):(\d+): error: .+  \[([a-z-]+)\]$", line))
    }
    assert wanted
    assert found == wanted
