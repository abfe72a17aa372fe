"""The guide to the server: its commands and programs run against a server, and print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest
from tests.house.project import ROOT
from tests.server.live import live
from tests.server.packages import install_opensearch_js

from hitherto import AgentMemory

GUIDE = ROOT / "docs" / "server.md"
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```\w+\n(.*?)```\n(?:\nprints `(.*?)`)?", re.DOTALL)
ADDRESS = re.compile(r"(?:http://)?localhost:9200")


def blocks(kind: str) -> list[tuple[str, str]]:
    """Return the blocks of a kind, each with what the guide says that it prints."""
    return [(text, said) for found, text, said in BLOCK.findall(GUIDE.read_text("utf-8")) if found == kind]


def run(words: list[str], *, env: dict[str, str] | None = None) -> str:
    """Run a program, and return what it prints."""
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, env={**os.environ, **(env or {})}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def url(tmp_path: Path):
    """Return the address of a server over an empty file."""
    with AgentMemory(tmp_path / "guide.db", embedder=None) as memory, live(memory) as url:
        yield url


@pytest.mark.skipif(which("curl") is None, reason="needs curl")
def test_commands(url: str) -> None:
    """The commands with curl make a memory, find it again, and find the message in it."""
    script = "set -e\n" + "\n".join(text for text, _ in blocks("curl"))
    answers = run(["bash", "-c", ADDRESS.sub(url, script)])
    assert '"cluster_name":"hitherto"' in answers
    assert answers.count("memory_id") >= 2
    assert answers.rstrip().endswith("}")
    assert '"response": "In Alfama, most evenings."' in answers


def test_python_programs(url: str) -> None:
    """Each program in Python prints what the guide says."""
    programs = blocks("python")
    assert len(programs) == 2
    for text, said in programs:
        assert run([sys.executable, "-c", ADDRESS.sub(url, text)]).rstrip() == said


def test_javascript_program(url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The program in JavaScript prints what the guide says."""
    ((text, said),) = blocks("js")
    packages = install_opensearch_js(tmp_path_factory)
    assert run(["node", "-e", ADDRESS.sub(url, text)], env={"NODE_PATH": str(packages)}).rstrip() == said
