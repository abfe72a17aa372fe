"""The page on serving does what it says: its commands and its Python run, as written, against a server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest
from tests.server.processes import Served, serving

PAGE = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- run: (curl|python) -->\n```\w+\n(.*?)```\n", re.DOTALL)


def blocks(kind: str, server: Served) -> list[str]:
    """Return the page's blocks of a kind; only the port is another."""
    return [
        text.replace("localhost:9200", f"localhost:{server.port}")
        for found, text in BLOCK.findall(PAGE)
        if found == kind
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server on a new file, as the page starts it."""
    with serving(tmp_path_factory.mktemp("page") / "memory.db") as running:
        yield running


@pytest.mark.skipif(
    which("curl") is None or which("bash") is None, reason="the commands are for bash and curl"
)
def test_the_commands_run(server: Served) -> None:
    """The page's curl commands, one block after the other in one shell, are answered as it says."""
    script = "set -euo pipefail\n" + "echo\n".join(blocks("curl", server)).replace("\ncurl", "\necho; curl")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    first, made, message, listed, found = _documents(done.stdout)
    assert first["version"]["distribution"] == "hitherto"
    assert made.keys() == {"memory_id"}
    assert message.keys() == {"message_id"}
    assert [one["response"] for one in listed["messages"]] == ["In Alfama, most evenings."]
    assert listed["messages"][0]["memory_id"] == made["memory_id"]
    assert [hit["_id"] for hit in found["hits"]["hits"]] == [message["message_id"]]


def _documents(printed: str) -> list[dict[str, object] | object]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while at < len(printed):
        if printed[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(printed, at)
        found.append(value)
    return found


def test_the_program_runs(server: Served) -> None:
    """The page's program with opensearch-py prints what the page says it prints."""
    (program,) = blocks("python", server)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    said = re.search(r"\n\nprints `(.*?)`", PAGE)
    assert said is not None
    assert done.stdout == said[1] + "\n"


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
    table = PAGE.split("| option | what it does |", 1)[1].split("\n\n", 1)[0]
    described = set(re.findall(r"--[a-z][a-z-]+", table)) | set(re.findall(r"--force-open", PAGE))
    assert described == set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help"}
