"""A program for a bare installation: store, close, open again, find; no socket, no SQLite extension.

It is run by a test in the present environment, and by ``make base`` in one that holds nothing but the base install.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

_FORBIDDEN = (
    "socket.connect",
    "socket.getaddrinfo",
    "sqlite3.enable_load_extension",
    "sqlite3.load_extension",
)


def _refuse(event: str, args: tuple[object, ...]) -> None:
    """Fail when the interpreter is about to leave the machine or to load an extension."""
    if event in _FORBIDDEN:
        raise RuntimeError(f"{event}{args!r} is not allowed here")


def main() -> None:
    """Store a conversation and a fact, and find both in a second client."""
    sys.addaudithook(_refuse)
    from hitherto import AgentMemory

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.db")
        with AgentMemory(path) as memory:
            thread = memory.create_thread(user_id="mia")
            thread.add_messages([{"role": "user", "content": "The tram bell wakes the dog"}])
            memory.add_memory("Mia is allergic to walnuts", memory_type="fact", user_id="mia")
        with AgentMemory(path) as memory:
            found = [memory.search(query, user_id="mia")[0].content for query in ("walnuts", "tram bell")]
    if found != ["Mia is allergic to walnuts", "The tram bell wakes the dog"]:
        raise SystemExit(f"the wrong records came back: {found!r}")
    sys.stdout.write("stored, opened again, found\n")


if __name__ == "__main__":
    main()
