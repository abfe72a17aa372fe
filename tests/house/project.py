"""Where the project's own files are, for the tests that read them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "hitherto"

_TEXT_SUFFIXES = {
    ".cfg",
    ".css",
    ".html",
    ".js",
    ".json",
    ".md",
    ".py",
    ".sh",
    ".sql",
    ".toml",
    ".txt",
    ".yaml",
    ".yml",
}
_FOLDERS = ("src", "tests", "docs", "bench", "examples", ".ci")


def python_files(folder: Path) -> list[Path]:
    """Return the Python files under *folder*, sorted."""
    return sorted(folder.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return a path as the project's reader knows it."""
    return path.relative_to(ROOT).as_posix()


def text_files() -> Iterator[Path]:
    """Yield every text file that the project publishes."""
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and (path.suffix in _TEXT_SUFFIXES or path.name == "Makefile"):
            yield path
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and (path.suffix in _TEXT_SUFFIXES or not path.suffix):
                yield path
