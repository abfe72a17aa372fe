"""Prompts as text files: named, versioned, hashed.

A prompt is a Markdown file with front matter (name, version, inputs) beside the module that uses it, so that what
changed between two versions reads as a diff.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt.

    Attributes:
        name: Its name.
        version: Its version; grows with every change of the text.
        inputs: What is filled in, or what the messages beside it hold.
        text: The text.
    """

    name: str
    version: int
    inputs: tuple[str, ...]
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text, stored with what the prompt produced."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@functools.lru_cache(maxsize=64)
def load_prompt(package: str, name: str) -> Prompt:
    """Return a prompt.

    Args:
        package: The package that holds the file.
        name: The file's name without ``.md``.

    Examples:
        >>> load_prompt("hitherto.search.prompts", "prune").inputs
        ('query', 'document')
    """
    source = files(package).joinpath(f"{name}.md").read_text(encoding="utf-8")
    _, front, text = source.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines())
    return Prompt(
        fields["name"],
        int(fields["version"]),
        tuple(part.strip() for part in fields["inputs"].split(",")),
        text.strip(),
    )
