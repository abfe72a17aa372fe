"""The users file: what may stand in it, and that no change is lost or half done."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.made import PASSWORD, CountedPasswords, users_file

from hitherto.errors import ArgumentTypeError, BusyError, ConflictError, InvalidArgumentError, NotFoundError
from hitherto.lifetime import END_OF_TIME
from hitherto.server.credentials import Passwords, split_key
from hitherto.server.locked_file import locked
from hitherto.server.users import UsersFileError, check_user_name, parse_users, render_users
from hitherto.server.users_file import UsersFile, users_file_beside


def _document() -> dict[str, Any]:
    return {
        "version": 1,
        "users": {
            "mia": {
                "password": "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaGhhc2g",
                "created_at": "2026-05-01T12:00:00+00:00",
                "keys": [
                    {
                        "id": "0123456789ab",
                        "label": "laptop",
                        "hash": "sha256:" + "0" * 64,
                        "created_at": "2026-05-01T12:00:00+00:00",
                        "expires_at": None,
                    }
                ],
            }
        },
    }


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """Users, keys and times come back from the file as they were put in."""
    users = users_file(tmp_path / "users.json", "mia", "bo")
    key = users.add_key("mia", "laptop", ttl_days=0.5)
    found = users.read()
    assert list(found) == ["bo", "mia"]
    assert [(kept.id, kept.label) for kept in found["mia"].keys] == [(key.id, "laptop")]
    assert found["mia"].keys[0].expires_at == key.expires_at
    assert found["mia"].keys[0].created_at + timedelta(days=0.5) == key.expires_at
    assert parse_users(render_users(found), file="again") == found


async def test_the_file_is_changed_without_blocking(tmp_path: Path) -> None:
    """An event loop changes the file by the twins of the blocking methods."""
    users = users_file(tmp_path / "users.json")
    await users.add_async("mia", PASSWORD)
    key = await users.add_key_async("mia", "laptop")
    assert [kept.id for kept in (await users.account_async("mia")).keys] == [key.id]


def test_the_file_holds_no_secret(tmp_path: Path) -> None:
    """Neither a password nor a key stands in the file, and no representation shows a hash."""
    users = users_file(tmp_path / "users.json", "mia")
    key = users.add_key("mia", "laptop")
    parts = split_key(key.text)
    assert parts is not None
    text = users.path.read_text()
    assert PASSWORD not in text
    assert parts[1] not in text
    assert parts[1] not in repr(key)
    account = users.read()["mia"]
    assert "argon2" not in repr(account)
    assert "sha256" not in repr(account)


@pytest.mark.skipif(sys.platform == "win32", reason="modes are a matter of POSIX")
def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    """A new users file has mode 0600; one that is changed keeps its mode."""
    users = users_file(tmp_path / "users.json", "mia")
    assert stat.S_IMODE(users.path.stat().st_mode) == 0o600
    users.path.chmod(0o640)
    users.add("bo")
    assert stat.S_IMODE(users.path.stat().st_mode) == 0o640


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    """A change through a symbolic link changes the file that it leads to."""
    users = users_file(tmp_path / "users.json", "mia")
    link = tmp_path / "link.json"
    link.symlink_to(users.path)
    UsersFile(link).add("bo")
    assert link.is_symlink()
    assert set(users.read()) == {"mia", "bo"}
    with locked(link), pytest.raises(BusyError), locked(users.path, patience_s=0):
        pass


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_what_root_changes_stays_its_owners(tmp_path: Path) -> None:
    """A file that root changes still belongs to the server's account, which has to read it."""
    users = users_file(tmp_path / "users.json", "mia")
    os.chown(users.path, 1234, 1235)
    users.add("bo")
    found = users.path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 1235, 0o600)


def test_a_user_is_changed_and_removed(tmp_path: Path) -> None:
    """A password is replaced, a key and a user are removed; what is not there is refused by name."""
    users = users_file(tmp_path / "users.json", "mia")
    users.set_password("mia", "another horse")
    assert Passwords().fits(users.read()["mia"].password or "", "another horse")
    key = users.add_key("mia")
    with pytest.raises(NotFoundError, match="has no key with the id 'ffff'"):
        users.remove_key("mia", "ffff")
    users.remove_key("mia", key.id)
    assert users.read()["mia"].keys == ()
    with pytest.raises(ConflictError, match="there is a user 'mia' already"):
        users.add("mia", "third horse")
    users.remove("mia")
    assert users.read() == {}
    calls: list[Callable[[], object]] = [
        lambda: users.remove("mia"),
        lambda: users.set_password("mia", PASSWORD),
        lambda: users.add_key("mia"),
        lambda: users.remove_key("mia", key.id),
    ]
    for call in calls:
        with pytest.raises(NotFoundError, match="there is no user 'mia'"):
            call()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "1 to 128"),
        ("x" * 129, "1 to 128"),
        ("a:b", "no colon"),
        ("a\nb", "printable"),
        ("a\u202eb", "printable"),
        ("a\ud800", "printable"),
        (" a", "space"),
    ],
)
def test_a_name_that_cannot_be_sent_is_refused(name: str, problem: str) -> None:
    """A name has 1 to 128 printable characters, no colon and no space at its ends."""
    with pytest.raises(InvalidArgumentError, match=problem):
        check_user_name(name)


def test_a_name_has_one_form() -> None:
    """Two ways to write an accented letter are the same name; what is no text is none."""
    assert check_user_name("Rene\u0301") == check_user_name("Ren\u00e9")
    with pytest.raises(ArgumentTypeError):
        check_user_name(None)


@pytest.mark.parametrize(
    "password", ["short", "x" * 1025, "é" * 600, "new\nline horse", "nul\0 horse", "a\ud800 horse"]
)
def test_a_bad_password_is_refused_unseen(tmp_path: Path, password: str) -> None:
    """A password that is short, long or holds control characters is refused, and not repeated in the message."""
    with pytest.raises(InvalidArgumentError) as caught:
        users_file(tmp_path / "users.json").add("mia", password)
    assert password not in str(caught.value)
    assert not (tmp_path / "users.json").exists()


def test_a_key_with_a_past_end_or_bad_label_is_refused(tmp_path: Path) -> None:
    """A key that would expire at once, or whose label is no line of text, is not made; a distant end is the last."""
    users = users_file(tmp_path / "users.json", "mia")
    for days in (0, -1, float("nan")):
        with pytest.raises(InvalidArgumentError, match="ttl_days"):
            users.add_key("mia", ttl_days=days)
    with pytest.raises(InvalidArgumentError, match="label"):
        users.add_key("mia", "two\nlines")
    assert users.read()["mia"].keys == ()
    assert users.add_key("mia", ttl_days=1e9).expires_at == END_OF_TIME


def _set(path: str, value: object) -> dict[str, Any]:
    document = _document()
    place: Any = document
    *way, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in way:
        place = place[step]
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"version": 2, "people": {}}, "version must be 1, which this hitherto reads, got 2"),
        (_set("version", True), "version must be 1, which this hitherto reads, got a truth value"),
        (_set("users", []), "users must be an object, got a list"),
        (_set("users/bo", {}), "users.bo lacks the field 'password'"),
        (_set("users/a:b", {}), "users: name must hold no colon, got 'a:b'"),
        (_set("users/e\u0301", {}), "users: name must be in Unicode's form NFC, got 'e\u0301'"),
        (
            _set("users/mia/password", "hunter22"),
            "users.mia.password must be an Argon2id hash, or null, got a text of 8 characters",
        ),
        (
            _set("users/mia/created_at", "Monday"),
            "users.mia.created_at must be an ISO 8601 time, got a text of 6 characters",
        ),
        (_set("users/mia/keys", None), "users.mia.keys must be a list, got null"),
        (
            _set("users/mia/keys/0/hash", "hunter22"),
            "users.mia.keys[0].hash must be sha256: and 64 hexadecimal digits, got a text of 8 characters",
        ),
        (_set("users/mia/keys/0/expire_at", None), "users.mia.keys[0] has an unknown field 'expire_at'"),
        (
            _set("users/mia/keys/0/expires_at", 7),
            "users.mia.keys[0].expires_at must be an ISO 8601 time, got a number",
        ),
        (
            _set("users/mia/keys/0/label", "two\nlines"),
            "users.mia.keys[0].label must be at most 200 printable characters, got a text of 9 characters",
        ),
        (
            _set("users/bo", _document()["users"]["mia"]),
            "keys must have different ids, got '0123456789ab' twice",
        ),
        ([], "the file must be an object, got a list"),
    ],
)
def test_a_wrong_file_is_named_by_user_and_field(document: object, message: str) -> None:
    """What is wrong is named by file, user and field; what stands there is not shown."""
    with pytest.raises(UsersFileError) as caught:
        parse_users(json.dumps(document), file="f.json")
    assert str(caught.value) == f"f.json: {message}"


_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
_PLACES = [
    "version",
    "users",
    "more",
    "users/mia",
    "users/mia/keys",
    "users/mia/keys/0",
    "users/mia/password",
]
_PLACES += [f"users/mia/keys/0/{name}" for name in ("id", "label", "hash", "created_at", "expires_at")]


@given(st.sampled_from(_PLACES), _VALUES)
def test_whatever_stands_there_is_read_or_refused(place: str, value: object) -> None:
    """Any value at any place is either legal, and then written again as it was read, or an error of the file."""
    try:
        found = parse_users(json.dumps(_set(place, value)), file="f.json")
    except UsersFileError:
        return
    assert parse_users(render_users(found), file="again") == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2"),
        ('{"version": 1, "version": 1, "users": {}}', "'version' twice"),
        ('{"version": 1, "users": ' + "[" * 100_000, "nested without end|line 1"),
    ],
)
def test_what_is_no_json_is_refused(text: str, message: str) -> None:
    """Broken JSON, a name that stands twice, and nesting without end are errors of the file."""
    with pytest.raises(UsersFileError, match=message):
        parse_users(text, file="f.json")


def test_a_file_that_cannot_be_read_or_written_is_an_error_of_the_file(tmp_path: Path) -> None:
    """A missing file, one in another encoding, and a folder that is not there are refused by name, leaving nothing."""
    users = UsersFile(tmp_path / "users.json")
    with pytest.raises(UsersFileError, match=r"users\.json: cannot be read: No such file"):
        users.remove("mia")
    assert list(tmp_path.iterdir()) == []
    users.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(UsersFileError, match="UTF-8"):
        users.read()
    with pytest.raises(UsersFileError, match=r"cannot be written: No such file"):
        UsersFile(tmp_path / "absent" / "users.json").add("mia")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves the old text, no scraps beside it, and no lock behind."""
    users = users_file(tmp_path / "users.json", "mia")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(UsersFileError, match="cannot be written: No space"):
            users.add("bo")
    assert list(users.read()) == ["mia"]
    assert {path.name for path in tmp_path.iterdir()} == {"users.json", "users.json.lock"}
    users.add("bo")


def test_a_lock_that_is_kept_is_an_error(tmp_path: Path) -> None:
    """Who cannot get the lock is told so, after a while."""
    path = tmp_path / "users.json"
    with (
        locked(path),
        pytest.raises(BusyError, match="being changed by another process"),
        locked(path, patience_s=0),
    ):
        pass


def test_threads_lose_no_change(tmp_path: Path) -> None:
    """Keys that many threads add at once are all there in the end."""
    users = users_file(tmp_path / "users.json", "mia")
    threads = [threading.Thread(target=users.add_key, args=("mia", f"key {n}")) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {key.label for key in users.read()["mia"].keys} == {f"key {n}" for n in range(12)}


def _add_users(path: str, start: int) -> None:
    users = UsersFile(path)
    for number in range(start, start + 10):
        users.add(f"user {number}")


def test_processes_lose_no_change(tmp_path: Path) -> None:
    """Users that two processes add at once are all there in the end."""
    context = multiprocessing.get_context("spawn")
    path = str(tmp_path / "users.json")
    processes = [context.Process(target=_add_users, args=(path, start)) for start in (0, 100)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(UsersFile(path).read()) == 20


def test_a_changed_password_is_not_renewed(tmp_path: Path) -> None:
    """A new hash of an old password does not undo a change that came in between."""
    users = users_file(tmp_path / "users.json", "mia")
    old = users.read()["mia"].password or ""
    users.set_password("mia", "another horse")
    changed = users.read()["mia"].password
    users.renew_hash("mia", old, CountedPasswords().hash(PASSWORD))
    users.renew_hash("gone", old, old)
    assert users.read()["mia"].password == changed


def test_the_default_file_stands_beside_the_store() -> None:
    """The users of a store file are beside it; those of a database must be named."""
    assert users_file_beside("data/memory.db") == Path("data/memory.db.users.json")
    with pytest.raises(InvalidArgumentError, match="--users"):
        users_file_beside("postgresql://host/db")
