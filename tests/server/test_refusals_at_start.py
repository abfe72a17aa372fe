"""What ``hitherto serve`` refuses to start with: one line that names what is wrong, an exit code, no traceback."""

from __future__ import annotations

import re
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.made import users_file
from tests.server.processes import COMMAND, serving

from hitherto import AgentMemory
from hitherto.cli import main
from hitherto.errors import InvalidArgumentError
from hitherto.server.binding import clear_socket

posix = pytest.mark.skipif(sys.platform == "win32", reason="a matter of POSIX")


class Refused:
    """Starts servers that must not start."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.delenv("HITHERTO_USERS", raising=False)
        monkeypatch.setattr("uvicorn.run", lambda *_, **__: pytest.fail("the server was started"))

    def __call__(self, *words: str, code: int = 2) -> str:
        """Start one; return what it says."""
        self._monkeypatch.setattr(sys, "argv", ["hitherto", "serve", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == code
        said = self._capsys.readouterr()
        assert not said.out
        return said.err


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Return what starts servers in this process."""
    return Refused(monkeypatch, capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--host", "0.0.0.0"],
            "open to other machines at '0.0.0.0': add users, .* or force it by --force-open",
        ),
        (["--users", "absent.json"], "absent.json: cannot be read: No such file"),
        (["--users", "broken.json"], "broken.json: must be JSON, but line 1, column 1"),
        (["--users", "."], r"\.: cannot be read: Is a directory"),
        (["--certfile", "broken.json"], "certfile and keyfile must hold"),
        (["--keyfile", "broken.json"], "keyfile needs a certfile too"),
        (["--audit-log", "absent/log"], "--audit-log cannot be written: absent/log: No such file"),
        (["--unix-socket", "absent/socket"], "unix_socket must be in a folder .* got 'absent/socket'"),
        (["--unix-socket", "broken.json"], "unix_socket must be free, but there is a file 'broken.json'"),
        (["--opensearch-compat", "1.x"], "--opensearch-compat must be 3.x or 2.x, got '1.x'"),
        (["--model", "m"], "--model and --api-base must be given together"),
        (["--port", "65536"], "--port"),
        (["--max-body-bytes", "1"], "--max-body-bytes"),
        (["--workers", "0"], "--workers"),
    ],
)
@posix
def test_a_wrong_option_is_named(refused: Refused, words: list[str], message: str, tmp_path: Path) -> None:
    """A wrong option ends the program with code 2 and its name, and leaves no store behind."""
    (tmp_path / "broken.json").write_text("no json")
    said = refused("new.db", "--port", "0", *words)
    assert re.search(message, said), said
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
@posix
def test_a_port_is_used_once(refused: Refused, workers: str) -> None:
    """A port at which something listens is refused by its number, whatever the number of workers."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        said = refused("new.db", "--port", port, "--workers", workers)
    assert f"port must be free, but something listens at port {port} of 127.0.0.1 already" in said


@posix
def test_a_socket_is_taken_over_from_the_dead_alone(tmp_path: Path) -> None:
    """A Unix socket that a killed server left is replaced; one at which a server listens is not."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as living:
        living.bind(path)
        living.listen()
        with pytest.raises(InvalidArgumentError, match="something listens at") as caught:
            clear_socket(path)
        assert caught.value.argument == "unix_socket"
    clear_socket(path)
    assert not Path(path).exists()


@pytest.mark.parametrize("users", ["--users", "HITHERTO_USERS", "beside"])
@posix
def test_users_whom_everybody_may_change_are_refused(
    refused: Refused, monkeypatch: pytest.MonkeyPatch, users: str, tmp_path: Path
) -> None:
    """A users file that everybody may write lets nobody start, wherever it was found."""
    file = tmp_path / ("new.db.users.json" if users == "beside" else "users.json")
    users_file(file, "mia")
    file.chmod(0o666)
    options = ["--users", str(file)] if users == "--users" else []
    if users == "HITHERTO_USERS":
        monkeypatch.setenv("HITHERTO_USERS", str(file))
    said = refused("new.db", "--port", "0", *options)
    assert re.search(rf"must not be writable for everybody; run: chmod 600 \S*{file.name}", said)


@posix
def test_users_whom_everybody_may_read_are_told_of(tmp_path: Path) -> None:
    """A users file that everybody may read is used, and whoever starts the server is told."""
    users_file(tmp_path / "users.json", "mia")
    (tmp_path / "users.json").chmod(0o644)
    with serving(tmp_path / "new.db", "--users", str(tmp_path / "users.json")) as server:
        assert server.ask("GET", "/")[0] == 401
        assert "everybody on this machine may read it; run: chmod 600" in server.log.read_text()
        assert "$argon2" not in server.log.read_text()


@pytest.mark.parametrize(
    ("store", "code", "message"),
    [
        (".", 2, "FILE must be a file, got the folder '.'"),
        ("folder", 2, "FILE must be a file, got the folder 'folder'"),
        ("", 2, "FILE must be a file"),
        ("absent/new.db", 1, "absent/new.db: unable to open database file"),
        ("text.db", 1, "text.db: file is not a database"),
        ("newer.db", 1, "has schema 9999, which is newer than .*; upgrade hitherto"),
        ("mysql://ana:secret@localhost/db", 2, "a store's URL must start with"),
        ("postgresql://ana:secret@127.0.0.1:1/db", 1, "connection .*failed"),
    ],
)
def test_a_store_that_cannot_be_served_is_named(
    refused: Refused, store: str, code: int, message: str, tmp_path: Path
) -> None:
    """What is no store, or a newer one, is refused with its name, and a password in a URL is not repeated."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.db").write_text("this is a text, not a database" * 100)
    AgentMemory("newer.db", embedder=None).close()
    conn = sqlite3.connect("newer.db")
    conn.execute("UPDATE schema_version SET version_num = '9999'")
    conn.commit()
    conn.close()
    said = refused(store, "--port", "0", code=code)
    assert re.search(message, said), said
    assert "secret" not in said


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "argon2", "prometheus_client", "regex"])
def test_a_missing_extra_is_named(refused: Refused, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """Without a package of the extra, the command says what to install."""
    monkeypatch.setitem(sys.modules, package, None)
    said = refused("new.db", "--port", "0", code=1)
    assert said == f"hitherto: {package} is not installed; run: pip install 'hitherto[server]'\n"


@posix
def test_a_program_ends_without_a_traceback(tmp_path: Path) -> None:
    """Run as a program, a refusal is one line on standard error and the exit code."""
    done = subprocess.run(
        [*COMMAND, "new.db", "--host", "0.0.0.0"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("hitherto: without users")
    assert len(done.stderr.splitlines()) == 1
