"""opensearch-js, the client for JavaScript, against a server at a socket."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from tests.server.certificates import make_certificate
from tests.server.live import live
from tests.server.made import PASSWORD, users_file
from tests.server.packages import install_opensearch_js

from hitherto import AgentMemory
from hitherto.server.tls import Tls

PROGRAM = Path(__file__).with_name("opensearch_program.js")


@pytest.fixture
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where node finds the client."""
    return install_opensearch_js(tmp_path_factory)


def run_program(packages: Path, **given: Any) -> Any:
    """Run the program in JavaScript, and return what it prints."""
    done = subprocess.run(
        ["node", str(PROGRAM), json.dumps(given)],
        env={**os.environ, "NODE_PATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_conversation(packages: Path, memory: AgentMemory) -> None:
    """Its methods create, list, search, change and delete; errors carry status and type; compressed bodies are read."""
    with live(memory) as url:
        told = run_program(packages, url=url)
    assert (told["ping"], told["health"]) == (True, "green")
    assert (told["info"]["distribution"], told["info"]["number"]) == ("hitherto", "3.3.0")
    assert [(row["index"], row["docs.count"]) for row in told["indices"]] == [
        (".plugins-ml-memory-meta", "1"),
        (".plugins-ml-memory-message", "3"),
    ]
    assert told["memory"]["name"] == "Trip to Porto"
    inputs = [[message["input"] for message in page["messages"]] for page in told["pages"]]
    assert inputs == [["What is a francesinha?"], ["Where is Ribeira?"]]
    assert [page["next_token"] for page in told["pages"]] == [1, 2]
    assert [trace["trace_number"] for trace in told["traces"]] == [1]
    assert [hit["_source"]["response"] for hit in told["found"]["hits"]["hits"]] == ["A sandwich."]
    assert (told["updated"]["result"], told["deleted"]) == ("updated", {"success": True})
    assert [hit["_source"]["name"] for hit in told["memories"]["hits"]["hits"]] == ["Trip to Braga"]
    wrong = {"name": "ResponseError", "status": 400, "type": "parsing_exception"}
    assert told["wrong"] == wrong
    assert told["absent"] == {"name": "ResponseError", "status": 404, "type": "resource_not_found_exception"}
    assert (told["unread"]["name"], told["unread"]["status"]) == ("ResponseError", 400)


@pytest.mark.skipif(which("openssl") is None, reason="certificates are made with openssl")
def test_users_over_tls(packages: Path, memory: AgentMemory, tmp_path: Path) -> None:
    """With users and a certificate, one sees nothing of another, and nobody talks to a server that is not trusted."""
    users, certificate = tmp_path / "users.json", make_certificate(tmp_path, "server")
    users_file(users, "alice", "bob")
    with live(memory, users=users, tls=Tls(*certificate)) as url:
        given = [{"username": name, "password": PASSWORD} for name in ("alice", "bob")]
        told = run_program(packages, url=url, users=given, ca=str(certificate[0]))
    assert told["bob"] == {"memories": []}
    assert told["foreign"] == {"name": "ResponseError", "status": 401, "type": "status_exception"}
    assert told["wrong"] == {"name": "ResponseError", "status": 401, "type": "Unauthorized"}
    assert told["untrusted"]["name"] == "ConnectionError"
