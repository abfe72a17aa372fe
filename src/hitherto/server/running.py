"""Running the application: one or several workers on one store, until they are told to end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from hitherto._optional import require
from hitherto.server.metrics_folder import metrics_folder

if TYPE_CHECKING:
    from fastapi import FastAPI

    from hitherto.memory import AgentMemory
    from hitherto.server.envelope import Profile
    from hitherto.server.tls import Tls

DEFAULT_PORT: Final = 9200
GRACE_S: Final = 30
"""How long requests that are being answered may take when the server is told to end, in seconds."""
_ENVIRONMENT: Final = "HITHERTO_SERVER_SETTINGS"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What a worker needs to know; handed to it as JSON in its environment, which its own user alone can read.

    Attributes:
        store: The store's path or URL.
        users: The users file, or None for an open server.
        profile: Whose output and scores are given.
        most_body_bytes: How long a request's body may be.
        read_timeout_s: How long its head may take to arrive, and how long its body, in seconds.
        most_connections: How many connections may be open in one worker.
        audit: The audit log: a file, "-" for standard error, None for none.
        words_only: Whether to do without vectors.
        local_only: Whether only requests to a name of this machine are answered.
        model: The language model that extracts memories, or None.
        api_base: Where it is served.
    """

    store: str
    users: str | None = None
    profile: Profile = "3.x"
    most_body_bytes: int = 10 * 1024 * 1024
    read_timeout_s: float = 60.0
    most_connections: int = 500
    audit: str | None = None
    words_only: bool = False
    local_only: bool = False
    model: str | None = None
    api_base: str | None = None


def open_memory(settings: ServerSettings) -> AgentMemory:
    """Open the client that a worker serves.

    Args:
        settings: What to open.
    """
    from hitherto import AgentMemory

    options: dict[str, Any] = {"embedder": None} if settings.words_only else {}
    if settings.model is not None and settings.api_base is not None:
        from hitherto.models.openai_compatible import OpenAICompatibleLLM

        options["llm"] = OpenAICompatibleLLM(
            settings.model, settings.api_base, api_key=os.environ.get("HITHERTO_API_KEY")
        )
    return AgentMemory(settings.store, **options)


def prepare_store(settings: ServerSettings, progress: Callable[[int, int], None] | None = None) -> None:
    """Take in what is stored already, once for all workers.

    Args:
        settings: What to open.
        progress: Called with how much is done, and how much there is.

    Raises:
        HithertoError: If the store cannot be opened.
    """
    from hitherto.server.app import check_store
    from hitherto.server.index.rest_index import RestIndex

    with open_memory(settings) as memory:
        RestIndex(check_store(memory), progress=progress)


def application() -> FastAPI:
    """Return a worker's application; its settings come from the environment."""
    from hitherto.server.app import create_app
    from hitherto.server.audit import AuditLog
    from hitherto.server.auth import Authenticator

    settings = ServerSettings(**json.loads(os.environ[_ENVIRONMENT]))
    return create_app(
        open_memory(settings),
        authenticator=None if settings.users is None else Authenticator(settings.users),
        profile=settings.profile,
        most_body_bytes=settings.most_body_bytes,
        read_timeout_s=settings.read_timeout_s,
        most_connections=settings.most_connections,
        audit=AuditLog(settings.audit),
        local_only=settings.local_only,
        close_memory=True,
    )


def run(
    settings: ServerSettings,
    *,
    host: str,
    port: int,
    unix_socket: str | None = None,
    workers: int = 1,
    tls: Tls | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; what is being answered then is answered still.

    Args:
        settings: What each worker serves.
        host: Where to listen.
        port: At which port; 0 for any.
        unix_socket: The path of a Unix socket, instead of host and port.
        workers: How many processes.
        tls: The certificate, or None for plain HTTP.

    Raises:
        MissingExtraError: If uvicorn is not installed.
    """
    uvicorn = require("uvicorn", extra="server")
    from hitherto.server.connections import BoundedConnection

    # When uvicorn has ended it raises the signal again that told it to; to have been told is no failure.
    signal.signal(signal.SIGTERM, lambda *_: None)
    os.environ[_ENVIRONMENT] = json.dumps(asdict(settings))
    with ExitStack() as stack:
        if workers > 1 and "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            # Read by prometheus-client when it is imported: a scrape meets one worker and sees what all count.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = stack.enter_context(metrics_folder())
        uvicorn.run(
            "hitherto.server.running:application",
            factory=True,
            host="" if host == "*" else host,
            port=port,
            uds=unix_socket,
            workers=workers,
            # On h11: strict, and with a bound on headers; httptools, which is taken where it is installed, has none.
            http=BoundedConnection,
            log_level="warning",
            access_log=False,
            server_header=False,
            # Addresses are those of the sockets: a header that anybody can send names nobody in the audit log.
            proxy_headers=False,
            timeout_graceful_shutdown=GRACE_S,
            **({} if tls is None else tls.uvicorn_options()),
        )
