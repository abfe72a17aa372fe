"""Letting in: headers, passwords, keys, what is remembered, and who must wait."""

from __future__ import annotations

import base64
import json
import logging
import os
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.made import PASSWORD, CountedPasswords, Time, basic, users_file

from hitherto.server import auth
from hitherto.server.auth import (
    Authenticator,
    LockedOut,
    Overloaded,
    Principal,
    Unauthorized,
    parse_authorization,
)
from hitherto.server.live_users import LiveUsers
from hitherto.server.lockout import Lockout, network_of
from hitherto.server.users import UsersFileError, check_user_name
from hitherto.server.users_file import UsersFile

HOME, ELSEWHERE = "192.0.2.1", "198.51.100.7"


class Door:
    """An authenticator of two users, with what it is made of at hand."""

    def __init__(self, folder: Path) -> None:
        self.time, self.passwords = Time(), CountedPasswords()
        self.file = users_file(folder / "users.json", "mia", "bo", clock=self.time.now)
        self.auth = Authenticator(
            self.file.path, passwords=self.passwords, monotonic=self.time, clock=self.time.now
        )
        self.passwords.compared = 0

    def ask(self, name: str, password: str, address: str | None = HOME) -> str:
        """Return what becomes of a request with a password."""
        try:
            return self.auth.authenticate(basic(name, password), address).name
        except LockedOut as error:
            return f"wait {error.retry_after:g}"
        except Unauthorized:
            return "no"


@pytest.fixture
def door(tmp_path: Path) -> Door:
    """An authenticator of two users."""
    return Door(tmp_path)


def test_the_right_password_is_let_in(door: Door) -> None:
    """Name and password make a principal, with or without a thread; a wrong one of either does not."""
    assert door.auth.authenticate(basic("mia", PASSWORD), HOME) == Principal("mia")
    assert door.ask("mia", "wrong horse") == "no"
    assert door.ask("bo", "wrong horse") == "no"
    assert door.ask("nobody", PASSWORD) == "no"


def test_the_answer_to_strangers_is_the_one_of_the_original(door: Door) -> None:
    """Who is not let in gets 401 and a challenge, whose text does not say what is wrong."""
    with pytest.raises(Unauthorized) as caught:
        door.auth.authenticate(None, HOME)
    assert (caught.value.status, str(caught.value), caught.value.reason) == (401, "Unauthorized", "missing")
    assert caught.value.headers == {"WWW-Authenticate": 'Basic realm="OpenSearch Security"'}


@pytest.mark.parametrize(
    "header",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic bWlh",
        "Digest username=mia",
        "Bearer",
        "Bearer hk_x_y",
        "ApiKey aGs6eA==",
        "Basic é",
        "Basic " + "A" * 9000,
        basic("", PASSWORD),
        basic("mia", ""),
        basic("mi\na", PASSWORD),
        basic("x" * 200, PASSWORD),
        basic("mia", "x" * 2000),
        "\0",
    ],
)
def test_a_malformed_header_is_unauthorized(door: Door, header: str) -> None:
    """What cannot be read is refused without a hash and without counting against anybody."""
    for _ in range(60):
        with pytest.raises(Unauthorized) as caught:
            door.auth.authenticate(header, HOME)
        assert caught.value.reason == "malformed"
    assert door.passwords.compared == 0


_TEXTS = st.text(st.characters(exclude_categories=[]), max_size=60)


@given(
    st.one_of(
        _TEXTS,
        st.tuples(st.sampled_from(["Basic ", "Bearer ", "ApiKey "]), _TEXTS).map("".join),
        st.binary(max_size=80).map(lambda raw: "Basic " + base64.b64encode(raw).decode()),
    )
)
def test_whatever_comes_is_credentials_or_unauthorized(header: str) -> None:
    """No header, however mangled, is any other error; a name that is read is one that a user may have."""
    try:
        found = parse_authorization(header)
    except Unauthorized:
        return
    assert found.name is None or check_user_name(found.name) == found.name


def test_schemes_are_read_in_any_case(door: Door) -> None:
    """Schemes are case-insensitive; spaces around the value do not matter."""
    header = basic("mia", PASSWORD)
    assert door.auth.authenticate("bASIC  " + header[6:] + " ", HOME) == Principal("mia")


def test_words_of_every_language_are_passwords(door: Door) -> None:
    """UTF-8 is understood, in every normal form, and Latin-1 too, which clients send."""
    door.file.add("Ren\u00e9", "ein schlo\u00df am m\u00e9er")
    door.time.seconds += 2
    for name, password, encoding in [
        ("Ren\u00e9", "ein schlo\u00df am m\u00e9er", "utf-8"),
        ("Rene\u0301", "ein schlo\u00df am me\u0301er", "utf-8"),
        ("Ren\u00e9", "ein schlo\u00df am m\u00e9er", "latin-1"),
    ]:
        assert door.auth.authenticate(basic(name, password, encoding), HOME) == Principal("Ren\u00e9")


def test_a_password_may_hold_colons(door: Door) -> None:
    """Only the first colon ends the name."""
    door.file.set_password("mia", "a:b:c:d:e")
    door.time.seconds += 2
    assert door.ask("mia", "a:b:c:d:e") == "mia"


def test_a_key_is_let_in_by_every_scheme(door: Door) -> None:
    """A key is read as Bearer, as ApiKey, and in the password's place beside its owner's name; it costs no hash."""
    key = door.file.add_key("mia", "laptop")
    door.time.seconds += 2
    for header in [f"Bearer {key.text}", f"ApiKey {key.text}", basic("mia", key.text)]:
        assert door.auth.authenticate(header, HOME) == Principal("mia", key.id)
    for header in [basic("bo", key.text), f"Bearer {key.text[:-1]}{'0' if key.text[-1] != '0' else '1'}"]:
        with pytest.raises(Unauthorized):
            door.auth.authenticate(header, HOME)
    assert door.passwords.compared == 0


def test_a_key_ends(door: Door) -> None:
    """A key is refused from the moment of its expiry, and once it is removed."""
    ending = door.file.add_key("mia", ttl_days=1)
    removed = door.file.add_key("mia")
    door.time.seconds += 86400 - 3
    door.auth.authenticate(f"Bearer {ending.text}", HOME)
    door.auth.authenticate(f"Bearer {removed.text}", HOME)
    door.file.remove_key("mia", removed.id)
    door.time.seconds += 2
    door.auth.authenticate(f"Bearer {ending.text}", HOME)
    door.time.seconds += 1
    for key in (ending, removed):
        with pytest.raises(Unauthorized):
            door.auth.authenticate(f"Bearer {key.text}", HOME)


def test_an_unknown_user_costs_what_a_known_one_does(door: Door) -> None:
    """Each password that is wrong costs one hash, whether there is such a user, one without a password, or none."""
    door.file.add("keys only")
    door.time.seconds += 2
    costs = []
    for name in ("mia", "nobody", "keys only"):
        before = door.passwords.compared
        assert door.ask(name, "wrong horse") == "no"
        costs.append(door.passwords.compared - before)
    assert costs == [1, 1, 1]


def test_a_verified_password_is_remembered_for_minutes(door: Door) -> None:
    """One hash pays for the requests of five minutes."""
    for _ in range(10):
        assert door.ask("mia", PASSWORD) == "mia"
    assert door.passwords.compared == 1
    door.time.seconds += 301
    assert door.ask("mia", PASSWORD) == "mia"
    assert door.passwords.compared == 2


def test_a_changed_password_is_forgotten(door: Door) -> None:
    """A remembered password is refused as soon as the file says so, and so is a removed user."""
    assert door.ask("mia", PASSWORD) == door.ask("mia", PASSWORD) == "mia"
    assert door.ask("bo", PASSWORD) == "bo"
    door.file.set_password("mia", "another horse")
    door.file.remove("bo")
    door.time.seconds += 2
    assert (door.ask("mia", PASSWORD), door.ask("mia", "another horse")) == ("no", "mia")
    assert door.ask("bo", PASSWORD) == "no"


def test_the_memory_of_passwords_is_bounded(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is bounded: the oldest is hashed again."""
    monkeypatch.setattr("hitherto.server.live_users._MOST_REMEMBERED", 1)
    assert [door.ask(name, PASSWORD) for name in ("mia", "bo", "mia")] == ["mia", "bo", "mia"]
    assert door.passwords.compared == 3


def test_the_file_is_looked_at_once_a_second(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change is seen after a second; until then no request touches the file."""
    looks = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **rest: (looks.append(path), real(path, **rest))[1])
    for _ in range(5):
        door.ask("mia", PASSWORD)
    assert looks == []
    door.time.seconds += 1.1
    for _ in range(5):
        door.ask("mia", PASSWORD)
    assert len(looks) == 1


@pytest.mark.parametrize("text", ["{", '{"version": 1, "users": {"mia": {"password": "hunter22"}}}', None])
def test_a_broken_file_keeps_the_users(
    door: Door, caplog: pytest.LogCaptureFixture, text: str | None
) -> None:
    """A file that is broken or gone is told of once, without its content, and the users last read stay."""
    good = door.file.path.read_text()
    if text is None:
        door.file.path.unlink()
    else:
        door.file.path.write_text(text)
    door.time.seconds += 2
    with caplog.at_level(logging.WARNING, "hitherto.server"):
        assert door.ask("mia", PASSWORD) == "mia"
        door.time.seconds += 2
        assert door.ask("mia", PASSWORD) == "mia"
    assert len(caplog.records) == 1
    assert "users.json" in caplog.text
    assert "hunter22" not in caplog.text
    document = json.loads(good)
    del document["users"]["mia"]
    door.file.path.write_text(json.dumps(document))
    door.time.seconds += 2
    assert (door.ask("mia", PASSWORD), door.ask("bo", PASSWORD)) == ("no", "bo")


def test_a_broken_file_starts_no_server(tmp_path: Path) -> None:
    """A server does not begin with a users file that is missing or wrong."""
    with pytest.raises(UsersFileError, match="No such file"):
        Authenticator(tmp_path / "users.json")


def test_an_outdated_hash_is_renewed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A password that was hashed more cheaply is hashed anew when it is given; if that fails, it is let in still."""
    users_file(tmp_path / "users.json", "mia")
    live = LiveUsers(tmp_path / "users.json", passwords=CountedPasswords(time_cost=2))
    assert "t=1" in (tmp_path / "users.json").read_text()
    assert not live.verify("mia", "wrong horse")
    assert "t=1" in (tmp_path / "users.json").read_text()
    assert live.verify("mia", PASSWORD)
    assert "t=2" in (tmp_path / "users.json").read_text()
    other = LiveUsers(tmp_path / "users.json", passwords=CountedPasswords(time_cost=3))
    (tmp_path / "users.json").unlink()
    assert other.verify("mia", PASSWORD)
    assert "keeps its outdated hash" in caplog.text


def test_failures_make_wait_longer_and_longer(door: Door) -> None:
    """Five wrong passwords are free, then the wait doubles up to a quarter of an hour; waiting costs no hash."""
    assert [door.ask("mia", "wrong horse") for _ in range(5)] == ["no"] * 5
    hashes = door.passwords.compared
    assert [door.ask("mia", PASSWORD) for _ in range(5)] == ["wait 1"] * 5
    assert door.passwords.compared == hashes
    waits = []
    for _ in range(12):
        waits.append(door.ask("mia", "wrong horse"))
        door.time.seconds += float(waits[-1].removeprefix("wait "))
        assert door.ask("mia", "wrong horse") == "no"
    assert waits == [f"wait {min(900, 2**n)}" for n in range(12)]


def test_success_resets_the_user_at_the_address(door: Door) -> None:
    """After the right password the user's failures at this address count from zero."""
    for _ in range(3):
        assert [door.ask("mia", "wrong horse") for _ in range(4)] == ["no"] * 4
        assert door.ask("mia", PASSWORD) == "mia"


def test_failures_fade(door: Door) -> None:
    """Failures of more than an hour ago do not count."""
    for _ in range(3):
        assert [door.ask("mia", "wrong horse") for _ in range(4)] == ["no"] * 4
        door.time.seconds += 3601


def test_an_address_that_tries_many_names_must_wait(door: Door) -> None:
    """Guessing at many names from one address is slowed down, right passwords in between do not help."""
    answers = []
    for n in range(30):
        door.time.seconds += 0.01
        answers.append(door.ask(f"user {n}", "wrong horse"))
        door.ask("bo", PASSWORD)
    assert answers[:20] == ["no"] * 20
    assert all(answer.startswith("wait") for answer in answers[20:])
    assert door.ask("bo", PASSWORD) == "bo"  # who was there before is not kept out by what others do


def test_an_attacker_cannot_lock_a_user_out(door: Door) -> None:
    """Under attack from everywhere the user gets in where the user was before, and anywhere with a key."""
    assert door.ask("mia", PASSWORD, HOME) == "mia"
    key = door.file.add_key("mia")
    for n in range(60):
        door.ask("mia", "wrong horse", f"203.0.113.{n}")
        door.ask("mia", "wrong horse", ELSEWHERE)
    assert door.ask("mia", PASSWORD, "203.0.113.200").startswith("wait")
    assert door.ask("mia", PASSWORD, HOME) == "mia"
    door.time.seconds += 2
    assert door.auth.authenticate(f"Bearer {key.text}", ELSEWHERE).name == "mia"
    door.time.seconds += 60
    assert door.ask("mia", PASSWORD, "203.0.113.200") == "mia"


def test_a_remembered_password_is_no_oracle(door: Door) -> None:
    """Who must wait is refused even with a password that is remembered: else guesses would be free."""
    assert door.ask("mia", PASSWORD, HOME) == "mia"
    for _ in range(5):
        door.ask("mia", "wrong horse", ELSEWHERE)
    assert door.ask("mia", PASSWORD, ELSEWHERE) == "wait 1"


def test_an_unknown_user_must_wait_as_well(door: Door) -> None:
    """Names that do not exist are counted like those that do, so that counting tells nothing."""
    answers = {name: [door.ask(name, "wrong horse", name) for _ in range(7)] for name in ("mia", "nobody")}
    assert answers["mia"] == answers["nobody"]


def test_keys_are_not_counted(door: Door) -> None:
    """Wrong keys lock nobody out: they cannot be guessed, and one that is outdated must not shut an office."""
    for _ in range(100):
        with pytest.raises(Unauthorized):
            door.auth.authenticate("Bearer hk_" + "0" * 12 + "_" + "0" * 64, HOME)
    assert door.ask("mia", PASSWORD, HOME) == "mia"


def test_counts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood of names and addresses does not fill the memory."""
    monkeypatch.setattr("hitherto.server.lockout._MOST_KEPT", 10)
    lockout = Lockout(lambda: 0.0)
    for n in range(100):
        lockout.fail(f"user {n}", f"198.51.100.{n}")
        lockout.succeed(f"user {n}", f"198.51.100.{n}")
    sizes = [len(table._of) for table in (lockout._pairs, lockout._addresses, lockout._names)]
    assert sizes == [0, 10, 10]
    assert len(lockout._known) == 10


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("testclient", "testclient"),
        ("", "local"),
        (None, "local"),
    ],
)
def test_what_counts_as_one_address(address: str | None, network: str) -> None:
    """An IPv6 host owns a /64, so that is counted; an IPv4 address in IPv6 is that address."""
    assert network_of(address) == network


async def test_equal_requests_at_once_cost_few_hashes(door: Door) -> None:
    """Twenty requests with the right password at once cost two hashes at most, and lock nobody out."""
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(door.auth.authenticate_async, basic("mia", PASSWORD), HOME)
    assert 1 <= door.passwords.compared <= 2


async def test_a_flood_is_counted_while_it_waits(door: Door) -> None:
    """Guesses sent all at once get no further than those sent one after another, but for the one beside."""
    answers = []

    async def guess(n: int) -> None:
        try:
            await door.auth.authenticate_async(basic("mia", f"wrong horse {n}"), HOME)
        except (Unauthorized, LockedOut) as error:
            answers.append(error.status)

    async with anyio.create_task_group() as group:
        for n in range(40):
            group.start_soon(guess, n)
    assert sorted(answers, reverse=True)[:34] == [429] * 34
    assert door.passwords.compared <= 6


async def test_too_many_waiting_are_refused(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a bound a password is refused unread; keys and remembered passwords still pass."""
    assert door.ask("bo", PASSWORD) == "bo"
    monkeypatch.setattr(auth, "_MOST_WAITING", 0)
    with pytest.raises(Overloaded) as caught:
        await door.auth.authenticate_async(basic("mia", PASSWORD), HOME)
    assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "1"})
    assert (await door.auth.authenticate_async(basic("bo", PASSWORD), HOME)).name == "bo"
    monkeypatch.undo()
    assert (await door.auth.authenticate_async(basic("mia", PASSWORD), HOME)).name == "mia"


async def test_keys_pass_without_a_thread(door: Door) -> None:
    """A key is decided at once, and no header at all as well."""
    key = door.file.add_key("mia")
    door.time.seconds += 2
    assert (await door.auth.authenticate_async(f"Bearer {key.text}", None)).key_id == key.id
    with pytest.raises(Unauthorized):
        await door.auth.authenticate_async(None, None)


def test_the_wait_is_told_in_whole_seconds() -> None:
    """The header of a refusal rounds up, so that who obeys is not refused again."""
    assert LockedOut(1.2).headers == {"Retry-After": "2"}


def test_an_empty_users_file_is_closed(tmp_path: Path) -> None:
    """A file without users lets nobody in."""
    users = UsersFile(tmp_path / "users.json", passwords=CountedPasswords())
    users.add("mia", PASSWORD)
    users.remove("mia")
    closed = Authenticator(users.path, passwords=CountedPasswords())
    with pytest.raises(Unauthorized):
        closed.authenticate(basic("mia", PASSWORD), HOME)
