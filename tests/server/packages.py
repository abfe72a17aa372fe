"""The client for JavaScript, from npm."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from shutil import which

import pytest

PACKAGE = "@opensearch-project/opensearch@3"
NO_NETWORK = re.compile(r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b")


def install_opensearch_js(folders: pytest.TempPathFactory) -> Path:
    """Install opensearch-js once into a folder of this run, and return where node finds it.

    Skips the test where there is no node or npm, or no network to install it from.
    """
    if which("node") is None or which("npm") is None:
        pytest.skip("opensearch-js needs node and npm")
    folder = folders.getbasetemp() / "opensearch-js"
    packages = folder / "node_modules"
    if packages.is_dir():
        return packages
    folder.mkdir(exist_ok=True)
    (folder / "package.json").write_text("{}")
    words = ["npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", PACKAGE]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240)
    if done.returncode and NO_NETWORK.search(done.stderr):
        pytest.skip("no network to install opensearch-js from")
    assert done.returncode == 0, done.stderr
    return packages
