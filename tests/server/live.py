"""A server at a socket of this machine, for clients that know nothing but an address."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from tests.server.made import CountedPasswords

from hitherto import AgentMemory
from hitherto.server.app import create_app
from hitherto.server.auth import Authenticator
from hitherto.server.connections import BoundedConnection
from hitherto.server.tls import Tls


@contextmanager
def live(
    memory: AgentMemory, *, users: Path | None = None, tls: Tls | None = None, **options: Any
) -> Iterator[str]:
    """Serve a client's store at a free port until the block ends.

    Args:
        memory: The client.
        users: A users file, made with cheap hashes; None for an open server.
        tls: The certificate; None for plain HTTP.
        **options: As create_app() takes them.

    Returns:
        The server's URL.
    """
    authenticator = None
    if users is not None:
        authenticator = Authenticator(users, passwords=CountedPasswords())
    app = create_app(memory, authenticator=authenticator, **options)
    config = uvicorn.Config(
        app,
        http=BoundedConnection,
        log_config=None,
        ws="none",
        timeout_graceful_shutdown=5,
        **({} if tls is None else tls.uvicorn_options()),
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="uvicorn")
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server ended before it listened"
                time.sleep(0.01)
            yield f"{'http' if tls is None else 'https'}://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive(), "the server did not end"
