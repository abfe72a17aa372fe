"""The guide to the server: its commands and programs run against a server, and print what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which
from typing import Any

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


@pytest.mark.skipif(which("curl") is None or which("bash") is None, reason="needs curl and bash")
def test_commands(url: str) -> None:
    """The commands with curl, one block after the other in one shell, are answered as the guide says."""
    script = "set -euo pipefail\n" + "".join(text for text, _ in blocks("curl"))
    answers = run(["bash", "-c", ADDRESS.sub(url, script).replace("\ncurl", "\necho; curl")])
    first, made, message, listed, found = documents(answers)
    assert first["version"]["distribution"] == "hitherto"
    assert made.keys() == {"memory_id"}
    assert message.keys() == {"message_id"}
    assert [one["response"] for one in listed["messages"]] == ["In Alfama, most evenings."]
    assert listed["messages"][0]["memory_id"] == made["memory_id"]
    assert [hit["_id"] for hit in found["hits"]["hits"]] == [message["message_id"]]


def documents(printed: str) -> list[dict[str, Any]]:
    """Return the JSON documents that were printed one after the other."""
    decoder, found = json.JSONDecoder(), []
    while printed := printed.lstrip():
        value, end = decoder.raw_decode(printed)
        found.append(value)
        printed = printed[end:]
    return found


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


def test_the_options_are_those_of_the_command() -> None:
    """The page's table has every option of the command, and no other."""
    shown = subprocess.run(
        [sys.executable, "-m", "hitherto", "serve", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env={"COLUMNS": "200", "PATH": "", "TERM": "dumb"},
    ).stdout
    page = GUIDE.read_text("utf-8")
    table = page.split("| option | what it does |", 1)[1].split("\n\n", 1)[0]
    described = set(re.findall(r"--[a-z][a-z-]+", table)) | set(re.findall(r"--force-open", page))
    assert described == set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help"}
