"""Certificates: what is wrong with them is said by the option's name, and nobody is asked at a terminal."""

from __future__ import annotations

import ssl
from pathlib import Path
from shutil import which

import pytest
from tests.server.certificates import make_certificate, openssl

from hitherto.errors import InvalidArgumentError
from hitherto.server.tls import Tls, check_tls

pytestmark = pytest.mark.skipif(which("openssl") is None, reason="certificates are made with openssl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of two servers, and the key of the first encrypted as well."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("one", "two"):
        make_certificate(folder, name)
    openssl(
        *("ec", "-in", str(folder / "one.key"), "-out", str(folder / "locked.key")),
        *("-aes256", "-passout", "pass:correct horse"),
    )
    (folder / "both.pem").write_text((folder / "one.pem").read_text() + (folder / "one.key").read_text())
    (folder / "password").write_text("correct horse\n")
    (folder / "wrong").write_text("wrong horse\n")
    (folder / "empty").write_text("")
    (folder / "latin").write_bytes(b"\xff\n")
    return folder


def test_fitting_files_are_taken(folder: Path) -> None:
    """Certificate and key, in two files or in one, with a password or without, are handed on to uvicorn."""
    one, key = str(folder / "one.pem"), str(folder / "one.key")
    found = check_tls(one, key)
    assert found is not None
    assert found.uvicorn_options() == {"ssl_certfile": one, "ssl_keyfile": key}
    both = str(folder / "both.pem")
    assert check_tls(both, None) == Tls(Path(both), Path(both))
    found = check_tls(
        one,
        str(folder / "locked.key"),
        key_password_file=str(folder / "password"),
        ca_file=str(folder / "two.pem"),
    )
    assert found is not None
    assert "horse" not in repr(found)
    options = found.uvicorn_options()
    assert options["ssl_keyfile_password"] == "correct horse"
    assert (options["ssl_ca_certs"], options["ssl_cert_reqs"]) == (str(folder / "two.pem"), ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    ("options", "argument", "message"),
    [
        ({"certfile": None, "keyfile": "one.key"}, "keyfile", "keyfile needs a certfile too"),
        (
            {"certfile": None, "keyfile": None, "ca_file": "two.pem"},
            "ca_file",
            "ca_file needs a certfile too",
        ),
        ({"certfile": "absent", "keyfile": "one.key"}, "certfile", "certfile cannot be read: .*No such file"),
        ({"certfile": "one.pem", "keyfile": "absent"}, "keyfile", "keyfile cannot be read: .*No such file"),
        ({"certfile": "one.pem", "keyfile": "two.key"}, "keyfile", "must hold the key of the certificate"),
        ({"certfile": "one.pem", "keyfile": None}, "certfile", "certificate and its key in PEM form"),
        ({"certfile": "password", "keyfile": "one.key"}, "certfile", "certificate and its key in PEM form"),
        (
            {"certfile": "one.pem", "keyfile": "locked.key"},
            "key_password_file",
            "is needed: the key is encrypted",
        ),
        (
            {"certfile": "one.pem", "keyfile": "locked.key", "key_password_file": "wrong"},
            "key_password_file",
            "holds a wrong password",
        ),
        (
            {"certfile": "one.pem", "keyfile": "one.key", "key_password_file": "empty"},
            "key_password_file",
            "must hold the key's password",
        ),
        (
            {"certfile": "one.pem", "keyfile": "one.key", "key_password_file": "latin"},
            "key_password_file",
            "must be UTF-8",
        ),
        (
            {"certfile": "one.pem", "keyfile": "one.key", "ca_file": "password"},
            "ca_file",
            "ca_file must hold",
        ),
    ],
)
def test_what_is_wrong_is_said_by_option(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str | None], argument: str, message: str
) -> None:
    """Each way in which files are missing, wrong or do not fit names its option, and never the password."""
    monkeypatch.chdir(folder)
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        check_tls(**options)  # type: ignore[arg-type]  # the table holds each option by its name
    assert caught.value.argument == argument
    assert "horse" not in str(caught.value)
