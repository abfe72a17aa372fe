"""The audit log: whole lines, from everybody, also when the file is moved away."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.server.made import Time

from hitherto.server.audit import Action, AuditLog


def lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines of an audit log."""
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_a_line_says_who_did_what(tmp_path: Path) -> None:
    """A line has time, user, address, action, ids and status, and is in the file at once."""
    audit = AuditLog(tmp_path / "audit.jsonl", clock=Time().now)
    audit.record(Action.GET_MESSAGE, status=404, user="mia", address="192.0.2.1", message_id="m1")
    assert lines(tmp_path / "audit.jsonl") == [
        {
            "time": "2026-05-01T00:16:40.000000+00:00",
            "user": "mia",
            "address": "192.0.2.1",
            "action": "cluster:admin/opensearch/ml/memory/interaction/get",
            "memory_id": None,
            "message_id": "m1",
            "status": 404,
        }
    ]
    audit.close()
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o600


def test_nothing_in_an_id_ends_a_line(tmp_path: Path) -> None:
    """Line ends and escapes in ids, and ids without end, cannot forge or flood the log."""
    audit = AuditLog(tmp_path / "audit.jsonl")
    audit.record(
        Action.GET_MEMORY, status=404, memory_id='a\n{"user": "bo"}\u2028\x1b[2J\ud800', message_id="x" * 9999
    )
    audit.close()
    (line,) = lines(tmp_path / "audit.jsonl")
    assert line["memory_id"].startswith("a\n{")
    assert len(line["message_id"]) == 257


def test_a_moved_file_is_opened_anew(tmp_path: Path) -> None:
    """After a rotation lines go to a new file; what was there is kept, and appended to by the next server."""
    path = tmp_path / "audit.jsonl"
    audit = AuditLog(path)
    audit.record(Action.CREATE_MEMORY, status=200)
    path.rename(tmp_path / "audit.1")
    audit.record(Action.DELETE_MEMORY, status=200)
    audit.close()
    again = AuditLog(path)
    again.record(Action.LIST_TRACES, status=200)
    again.close()
    assert len(lines(tmp_path / "audit.1")) == 1
    assert [line["action"].rpartition("memory/")[2] for line in lines(path)] == [
        "conversation/delete",
        "trace/get",
    ]


def test_standard_error_and_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A dash means standard error; None means that nothing is written."""
    for target in ("-", None):
        audit = AuditLog(target)
        audit.record(Action.SEARCH_MEMORIES, status=200, user="mia")
        audit.close()
    printed = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["user"] for line in printed] == ["mia"]


def test_a_full_disk_stops_no_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Lines that cannot be written are counted and told of; what is written afterwards is on a line of its own."""
    audit = AuditLog(tmp_path / "audit.jsonl")
    real = os.write

    def half(descriptor: int, line: bytes) -> int:
        return real(descriptor, line[:20])

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    for broken in (half, full):
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", broken)
            audit.record(Action.GET_MEMORY, status=200, user="mia")
    audit.record(Action.GET_MEMORY, status=200, user="bo")
    audit.close()
    assert audit.lost == 2
    assert "No space left" in caplog.text
    assert json.loads((tmp_path / "audit.jsonl").read_text().splitlines()[-1])["user"] == "bo"


def test_a_place_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """An audit log that cannot be written at all is refused when the server starts."""
    with pytest.raises(OSError, match="No such file"):
        AuditLog(tmp_path / "absent" / "audit.jsonl")


def _record(path: str, user: str) -> None:
    audit = AuditLog(path)
    for n in range(200):
        audit.record(Action.GET_MEMORY, status=200, user=user, memory_id=f"{n}" * 50)


def test_workers_share_a_file(tmp_path: Path) -> None:
    """Lines of several processes and threads stay whole, and none is lost."""
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_record, args=(str(path), f"process {n}")) for n in range(2)]
    threads = [threading.Thread(target=_record, args=(str(path), f"thread {n}")) for n in range(2)]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join(60)
    users = [line["user"] for line in lines(path)]
    assert {user: users.count(user) for user in users} == {
        f"{kind} {n}": 200 for kind in ("process", "thread") for n in range(2)
    }
