"""Certificates of the server: tried out before it listens, so that what is wrong is said at once and by name."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hitherto.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Tls:
    """Files that were tried out and fit together.

    Attributes:
        certfile: The certificate, with those of its issuers.
        keyfile: The private key.
        key_password: What the key is encrypted with, if it is.
        ca_file: Whose certificates clients must have; None if clients need none.
    """

    certfile: Path
    keyfile: Path
    key_password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None

    def uvicorn_options(self) -> dict[str, Any]:
        """Return these settings by the names that uvicorn knows them by."""
        options: dict[str, Any] = {"ssl_certfile": str(self.certfile), "ssl_keyfile": str(self.keyfile)}
        if self.key_password is not None:
            options["ssl_keyfile_password"] = self.key_password
        if self.ca_file is not None:
            options["ssl_ca_certs"] = str(self.ca_file)
            options["ssl_cert_reqs"] = int(ssl.CERT_REQUIRED)
        return options


def check_tls(
    certfile: str | None,
    keyfile: str | None,
    *,
    key_password_file: str | None = None,
    ca_file: str | None = None,
) -> Tls | None:
    """Try out the files of a certificate.

    Args:
        certfile: The certificate in PEM form, followed by those of its issuers; None for a server without TLS.
        keyfile: Its private key in PEM form; None if it is in *certfile*.
        key_password_file: A file whose first line is the password of the key.
        ca_file: Certificates in PEM form; clients must then have one that one of these has issued.

    Returns:
        The files, or None for a server without TLS.

    Raises:
        InvalidArgumentError: If a file is missing or wrong, or they do not fit together; it names the option.

    Examples:
        >>> check_tls(None, None) is None
        True
        >>> check_tls("absent.pem", None)
        Traceback (most recent call last):
            ...
        hitherto.errors.InvalidArgumentError: certfile cannot be read: absent.pem: No such file or directory
    """
    given = {"keyfile": keyfile, "key_password_file": key_password_file, "ca_file": ca_file}
    if certfile is None:
        alone = next((name for name, value in given.items() if value is not None), None)
        if alone is not None:
            raise InvalidArgumentError(f"{alone} needs a certfile too", argument=alone)
        return None
    for name, value in {"certfile": certfile, **given}.items():
        if value is not None:
            _read(name, value)
    password = None
    if key_password_file is not None:
        password = _first_line("key_password_file", key_password_file)
    tls = Tls(Path(certfile), Path(keyfile or certfile), password, Path(ca_file) if ca_file else None)
    _load_all(tls)
    return tls


def _read(name: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InvalidArgumentError(
            f"{name} cannot be read: {path}: {error.strerror}", argument=name
        ) from None


def _first_line(name: str, path: str) -> str:
    try:
        lines = _read(name, path).decode().splitlines()
    except UnicodeDecodeError:
        raise InvalidArgumentError(f"{name} must be UTF-8: {path}", argument=name) from None
    if not lines or not lines[0]:
        raise InvalidArgumentError(
            f"{name} must hold the key's password in its first line: {path}", argument=name
        )
    return lines[0]


def _load_all(tls: Tls) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    asked = False

    def password() -> str:
        # Without this, OpenSSL would ask at the terminal and wait there.
        nonlocal asked
        asked = True
        return tls.key_password or ""

    try:
        context.load_cert_chain(tls.certfile, tls.keyfile, password)
    except ssl.SSLError as error:
        if asked:
            problem = (
                "is needed: the key is encrypted" if tls.key_password is None else "holds a wrong password"
            )
            raise InvalidArgumentError(
                f"key_password_file {problem}: {tls.keyfile}", argument="key_password_file"
            ) from error
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InvalidArgumentError(
                f"keyfile must hold the key of the certificate: {tls.keyfile} is not the key of {tls.certfile}",
                argument="keyfile",
            ) from error
        raise InvalidArgumentError(
            f"certfile and keyfile must hold a certificate and its key in PEM form, got {tls.certfile} and "
            f"{tls.keyfile}",
            argument="certfile",
        ) from error
    if tls.ca_file is not None:
        try:
            context.load_verify_locations(tls.ca_file)
        except ssl.SSLError as error:
            raise InvalidArgumentError(
                f"ca_file must hold certificates in PEM form: {tls.ca_file}", argument="ca_file"
            ) from error
