"""Certificates for servers of this machine, made with openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path


def openssl(*words: str) -> None:
    """Run openssl."""
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a certificate that signs itself, for this machine's names, and return it with its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(certificate))
    openssl("req", "-x509", "-days", "2", *curve, *names, *files)
    return certificate, key
