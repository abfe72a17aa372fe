"""The commands on the server's users: what they change and print, and that no secret slips out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.server.credentials import Passwords, split_key
from hitherto.server.users_file import UsersFile

PASSWORD = "correct horse"


def run(*words: str, expect: int = 0, stdin: str | bytes = "", **environment: str) -> str:
    """Run a command in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "hitherto", "user", *words],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    printed = (done.stderr if expect else done.stdout).decode()
    assert done.returncode == expect, done.stdout + done.stderr
    assert PASSWORD not in done.stdout.decode() + done.stderr.decode()
    return printed


@pytest.fixture
def users(tmp_path: Path) -> str:
    """A users file with one user."""
    path = str(tmp_path / "users.json")
    UsersFile(path).add("mia", PASSWORD)
    return path


def test_a_user_is_added_listed_and_removed(tmp_path: Path) -> None:
    """Adding makes the file and the user, whose password is the line from standard input."""
    users = str(tmp_path / "users.json")
    run("add", "mia", "--users", users, "--password-stdin", stdin=f"{PASSWORD}\r\n")
    assert Passwords().fits(UsersFile(users).account("mia").password or "", PASSWORD)
    run("add", "machine", "--no-password", "--users", users)
    listed = json.loads(run("list", "--users", users, "--json"))
    assert [(user["name"], user["password"], user["keys"]) for user in listed] == [
        ("machine", False, 0),
        ("mia", True, 0),
    ]
    assert "machine" in run("list", "--users", users)
    assert json.loads(run("remove", "machine", "--users", users, "--json")) == {"removed": "machine"}
    assert "there is no user 'machine'" in run("remove", "machine", "--users", users, expect=1)


def test_a_user_is_added_once(users: str) -> None:
    """A name that is taken is refused before a password is asked for."""
    assert "there is a user 'mia' already" in run("add", "mia", "--users", users, expect=1)


def test_a_password_is_replaced(users: str) -> None:
    """The new password counts from then on."""
    run("password", "mia", "--users", users, "--password-stdin", stdin="another horse")
    assert Passwords().fits(UsersFile(users).account("mia").password or "", "another horse")
    assert "no user 'bo'" in run("password", "bo", "--users", users, "--password-stdin", expect=1)


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        ("", "at least 8 characters"),
        ("short\n", "at least 8 characters"),
        (f"{PASSWORD}\nmore\n", "no control characters"),
        (b"\xff" * 10, "must come as UTF-8"),
        ("x" * 5000, "at most 1024 bytes"),
    ],
)
def test_a_bad_password_is_refused(users: str, stdin: str | bytes, message: str) -> None:
    """What cannot be a password is refused as wrong input, without being repeated."""
    assert message in run("password", "mia", "--users", users, "--password-stdin", stdin=stdin, expect=2)


def test_without_a_terminal_nothing_is_asked(users: str) -> None:
    """A password is not read from a pipe unless that was said."""
    assert "--password-stdin" in run(
        "add", "bo", "--users", users, stdin=f"{PASSWORD}\n{PASSWORD}\n", expect=2
    )
    assert "exclude" in run("add", "bo", "--users", users, "--no-password", "--password-stdin", expect=2)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are a matter of POSIX")
def test_at_a_terminal_the_password_is_asked_twice_and_not_shown(tmp_path: Path) -> None:
    """At a terminal the password is typed twice and does not appear on the screen."""
    import pty

    path = tmp_path / "users.json"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(
            sys.executable, [sys.executable, "-m", "hitherto", "user", "add", "mia", "--users", str(path)]
        )
    screen = b""
    for question in (b"Password: ", b"Repeat for confirmation: "):  # echo is off once the space is there
        while question not in screen:
            screen += os.read(terminal, 1024)
        os.write(terminal, f"{PASSWORD}\n".encode())
    while True:
        try:
            read = os.read(terminal, 1024)
        except OSError:
            break
        if not read:
            break
        screen += read
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert PASSWORD.encode() not in screen
    assert Passwords().fits(UsersFile(path).account("mia").password or "", PASSWORD)


def test_a_key_is_shown_once(users: str) -> None:
    """A key is printed when it is made; afterwards only its id and label are."""
    printed = run("key", "add", "mia", "--users", users, "--label", "laptop").strip()
    parts = split_key(printed)
    assert parts is not None
    made = json.loads(run("key", "add", "mia", "--users", users, "--ttl-days", "1", "--json"))
    assert made["key"].startswith(f"hk_{made['id']}_")
    listed = run("key", "list", "mia", "--users", users, "--json")
    assert [(key["id"], key["label"], key["expires_at"]) for key in json.loads(listed)] == [
        (parts[0], "laptop", None),
        (made["id"], "", made["expires_at"]),
    ]
    assert parts[1] not in listed + run("key", "list", "mia", "--users", users)
    run("key", "remove", "mia", parts[0], "--users", users)
    assert "has no key" in run("key", "remove", "mia", parts[0], "--users", users, expect=1)


def test_the_file_is_named_in_three_ways(tmp_path: Path) -> None:
    """The users file comes from --users, from the store it is beside, or from HITHERTO_USERS; else it is asked for."""
    store = str(tmp_path / "memory.db")
    run("add", "mia", "--no-password", "--store", store)
    beside = f"{store}.users.json"
    assert "mia" in run("list", "--users", beside)
    assert "mia" in run("list", HITHERTO_USERS=beside)
    assert "mia" in run("list", "--store", store, HITHERTO_USERS="absent")
    assert "HITHERTO_USERS" in run("list", expect=2)
    assert "cannot be read" in run("list", "--users", str(tmp_path / "absent"), expect=2)


def test_help_needs_no_extra() -> None:
    """The help of the commands loads neither the web framework nor the hash."""
    program = (
        "import sys, runpy\n"
        "sys.argv = ['hitherto', 'user', 'key', '--help']\n"
        "try: runpy.run_module('hitherto', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sorted({'argon2', 'fastapi', 'uvicorn', 'hitherto.server.app'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    """Without the extra, a command says what to install."""
    program = (
        "import sys\n"
        "sys.modules['argon2'] = None\n"
        "from hitherto.cli import main\n"
        f"sys.argv = ['hitherto', 'user', 'add', 'mia', '--password-stdin', '--users', {str(tmp_path / 'u')!r}]\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=PASSWORD,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert "pip install 'hitherto[server]'" in done.stderr
