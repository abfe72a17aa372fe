"""A server in this process over an empty store, for tests on each backend."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from hitherto import AgentMemory
from hitherto.server.app import create_app
from hitherto.server.auth import Authenticator
from hitherto.server.users_file import UsersFile

PASSWORD = "correct horse battery"


@contextmanager
def served(memory: AgentMemory, users: Path | None = None, **options: Any) -> Iterator[TestClient]:
    """Serve a client's store.

    Args:
        memory: The client.
        users: Where to make a users file with the users alice and bob; None for an open server.
        **options: As create_app() takes them.
    """
    authenticator = None
    if users is not None:
        file = UsersFile(users)
        for name in ("alice", "bob"):
            file.add(name, PASSWORD)
        authenticator = Authenticator(users)
    app = create_app(memory, authenticator=authenticator, **options)
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def basic(name: str, password: str = PASSWORD) -> dict[str, str]:
    """Return the headers of a user's request."""
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}
