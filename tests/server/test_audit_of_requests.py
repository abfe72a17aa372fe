"""What a server writes down of requests: who touched which memory and what came of it, never what was said."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.server.processes import Served, serving
from tests.server.serving import PASSWORD, basic

from hitherto.server.routes.memories import MEMORY
from hitherto.server.users_file import UsersFile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are ended by signals of POSIX")

MARKER = "xyzzymarker"
OPERATION = "cluster:admin/opensearch/ml/memory/"


@dataclass
class Audited:
    """A server with the users alice and bob that keeps an audit log.

    Attributes:
        server: The server.
        log: The audit log.
        key: An API key of alice's.
    """

    server: Served
    log: Path
    key: str

    def ask(self, user: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request as a user."""
        return self.server.ask(method, path, body, headers=basic(user))

    def lines(self) -> list[dict[str, Any]]:
        """Return the lines of the log."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def line_of(self, user: str, method: str, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request, and return the one line that it adds, without time and address."""
        before = len(self.lines())
        status, _ = self.ask(user, method, path, body)
        (line,) = self.lines()[before:]
        assert line.pop("time").endswith("+00:00")
        assert line.pop("address") == "127.0.0.1"
        assert line["status"] == status
        return {**line, "action": line["action"].removeprefix(OPERATION)}

    def everything_written(self) -> str:
        """Return the audit log, and what the server wrote to standard error."""
        return self.log.read_text() + self.server.log.read_text()


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    """Return a server in a process of its own."""
    folder = tmp_path_factory.mktemp("audited")
    users = UsersFile(folder / "users.json")
    for name in ("alice", "bob"):
        users.add(name, PASSWORD)
    key = users.add_key("alice", MARKER, ttl_days=1).text
    log = folder / "audit.jsonl"
    options = ("--users", str(users.path), "--audit-log", str(log))
    with serving(folder / "served.db", *options) as server:
        yield Audited(server, log, key)


def said(**more: Any) -> dict[str, Any]:
    """Return a message that has the marker wherever it can be."""
    return {
        **dict.fromkeys(("input", "response", "prompt_template", "origin"), f"{MARKER} a"),
        "additional_info": {MARKER: MARKER},
        **more,
    }


def created(audited: Audited) -> tuple[str, str]:
    """Make a memory and a message of alice's; return their ids."""
    new = {"name": MARKER, "application_type": MARKER, "additional_info": {MARKER: {MARKER: MARKER}}}
    memory_id = audited.ask("alice", "POST", MEMORY, new)[1]["memory_id"]
    return memory_id, audited.ask("alice", "POST", f"{MEMORY}/{memory_id}/messages", said())[1]["message_id"]


def test_each_operation_has_its_line(audited: Audited) -> None:
    """Every operation leaves one line: who, what, which memory or message, and the status."""
    memory_id, message_id = created(audited)
    memory, message = f"{MEMORY}/{memory_id}", f"{MEMORY}/message/{message_id}"
    trace = said(parent_message_id=message_id, trace_number=1)
    query = {"query": {"match": {"input": MARKER}}}
    for method, path, body, action, ids in (
        ("GET", memory, None, "conversation/get", (memory_id, None)),
        ("GET", MEMORY, None, "conversation/list", (None, None)),
        ("PUT", memory, {"name": MARKER}, "conversation/update", (memory_id, None)),
        (
            "POST",
            f"{MEMORY}/_search",
            {"query": {"match": {"name": MARKER}}},
            "conversation/search",
            (None, None),
        ),
        ("GET", f"{memory}/messages", None, "interaction/list", (memory_id, None)),
        ("GET", message, None, "interaction/get", (memory_id, message_id)),
        ("PUT", message, {"response": MARKER}, "interaction/update", (None, message_id)),
        ("GET", f"{message}/traces", None, "trace/get", (None, message_id)),
        ("POST", f"{memory}/_search", query, "conversation/interaction/search", (memory_id, None)),
        ("DELETE", memory, None, "conversation/delete", (memory_id, None)),
    ):
        line = audited.line_of("alice", method, path, body)
        assert line == {
            "user": "alice", "action": action, "memory_id": ids[0], "message_id": ids[1], "status": 200
        }  # fmt: skip
    line = audited.line_of("alice", "POST", MEMORY, {"name": MARKER})
    assert (line["action"], line["status"]) == ("conversation/create", 200)
    made = line["memory_id"]
    assert audited.ask("alice", "GET", f"{MEMORY}/{made}")[0] == 200
    line = audited.line_of("alice", "POST", f"{MEMORY}/{made}/messages", trace)
    assert (line["action"], line["memory_id"], line["status"]) == ("interaction/create", made, 200)
    assert audited.ask("alice", "GET", f"{MEMORY}/message/{line['message_id']}")[0] == 200


def test_refusals_have_their_lines(audited: Audited) -> None:
    """What is refused stands there as what was tried: by whom, on what, and with which status."""
    memory_id, _ = created(audited)
    for user, method, path, body, status in (
        ("bob", "GET", f"{MEMORY}/{memory_id}", None, 401),
        ("bob", "DELETE", f"{MEMORY}/{memory_id}", None, 404),
        ("bob", "POST", f"{MEMORY}/{memory_id}/messages", said(), 401),
        ("alice", "PUT", f"{MEMORY}/{memory_id}", {"name": [MARKER]}, 400),
        ("alice", "POST", f"{MEMORY}/{memory_id}/_search", {"query": {MARKER: {}}}, 400),
    ):
        line = audited.line_of(user, method, path, body)
        assert (line["user"], line["memory_id"], line["status"]) == (user, memory_id, status)


def test_content_and_secrets_are_nowhere(audited: Audited) -> None:
    """No text, query, password or key is in the audit log or on standard error, whatever is right or wrong with it."""
    memory_id, message_id = created(audited)
    memory = f"{MEMORY}/{memory_id}"
    source = json.dumps({"query": {"match": {"input": MARKER}}}).replace('"', "%22").replace(" ", "%20")
    url = f"{memory}/_search?source={source}&source_content_type=application/json"
    assert audited.ask("alice", "GET", url)[0] == 200
    for path, body in (
        (f"{memory}/messages", {"input": [MARKER]}),
        (f"{memory}/messages", {"input": MARKER, "trace_number": MARKER}),
        (f"{memory}/messages?{MARKER}={MARKER}", said()),
        (f"{memory}/_search", {"query": {"query_string": {"query": f"({MARKER}"}}}),
        (f"{memory}/_search", {"query": {"regexp": {"input": f"({MARKER}"}}}),
        (f"{memory}/_search", {"query": {"term": {"create_time": MARKER}}}),
        (f"{memory}/_search", {"query": {"match_all": {}}, "sort": [MARKER], MARKER: MARKER}),
    ):
        assert audited.ask("alice", "POST", path, body)[0] == 400
    assert audited.ask("alice", "PUT", f"{MEMORY}/message/{message_id}", {"response": {MARKER: 1}})[0] == 400
    for header in (
        f"Bearer {audited.key}", f"Bearer hk_000000000000_{MARKER}", f"Basic {MARKER}", MARKER
    ):  # fmt: skip
        audited.server.ask("GET", MEMORY, headers={"Authorization": header})
    for password in (MARKER, PASSWORD):
        audited.server.ask("GET", MEMORY, headers=basic("bob", password))
        audited.server.ask("GET", MEMORY, headers=basic(f"{MARKER}", password))
    written = audited.everything_written()
    assert MARKER not in written
    assert PASSWORD not in written
    assert audited.key.rpartition("_")[2] not in written
    assert basic("alice")["Authorization"].split()[1] not in written
    assert "$argon2" not in written
    assert "Traceback" not in written
