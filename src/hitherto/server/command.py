"""hitherto serve: OpenSearch's Memory API over a store."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hitherto.errors import InvalidArgumentError, shown

if TYPE_CHECKING:
    from hitherto.server.running import ServerSettings

DEFAULT_STORE = "hitherto.db"


File = Annotated[
    str, typer.Argument(metavar="[FILE]", help="The store: a file, made if there is none, or a URL.")
]
Host = Annotated[str, typer.Option(help="Where to listen.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="At which port.")]
Socket = Annotated[str | None, typer.Option(metavar="PATH", help="Listen at a Unix socket instead.")]
Users = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The users file; by default $HITHERTO_USERS, or FILE.users.json if there is one."
    ),
]
ForceOpen = Annotated[
    bool, typer.Option("--force-open", help="Without users, listen also where other machines reach it.")
]
Workers = Annotated[int, typer.Option(min=1, help="How many processes.")]
Compat = Annotated[
    str, typer.Option("--opensearch-compat", help="Whose output and scores to give: 3.x or 2.x.")
]
Pem = Annotated[str | None, typer.Option(metavar="PEM", help="The certificate, for HTTPS.")]
Key = Annotated[str | None, typer.Option(metavar="PEM", help="Its private key.")]
KeyPassword = Annotated[str | None, typer.Option(metavar="FILE", help="A file with the key's password.")]
ClientCa = Annotated[str | None, typer.Option(metavar="PEM", help="Whose certificates clients must have.")]
Audit = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Write down who touched which memory; - for standard error."),
]
MaxBody = Annotated[int, typer.Option(min=1024, help="How long a request's body may be.")]
ReadTimeout = Annotated[
    int,
    typer.Option(
        "--read-timeout",
        metavar="SECONDS",
        min=1,
        help="How long a request's head may take to arrive, and its body.",
    ),
]
MaxConnections = Annotated[
    int, typer.Option("--max-connections", min=1, help="How many connections a process has open at most.")
]
WordsOnly = Annotated[
    bool, typer.Option("--words-only", help="Do without vectors, which saves time on writing.")
]
Model = Annotated[
    str | None, typer.Option(help="A language model that extracts memories from what is written.")
]
ApiBase = Annotated[str | None, typer.Option(help="Where it is served; its key comes from HITHERTO_API_KEY.")]


def serve(
    file: File = DEFAULT_STORE,
    host: Host = "127.0.0.1",
    port: Port = 9200,
    unix_socket: Socket = None,
    users: Users = None,
    force_open: ForceOpen = False,
    workers: Workers = 1,
    compat: Compat = "3.x",
    certfile: Pem = None,
    keyfile: Key = None,
    key_password_file: KeyPassword = None,
    ca_file: ClientCa = None,
    audit_log: Audit = None,
    max_body_bytes: MaxBody = 10 * 1024 * 1024,
    read_timeout_s: ReadTimeout = 60,
    most_connections: MaxConnections = 500,
    words_only: WordsOnly = False,
    model: Model = None,
    api_base: ApiBase = None,
) -> None:
    """Serve a store to clients of OpenSearch's Memory API, on this machine unless told otherwise."""
    _require_packages()
    from hitherto.server.binding import check_binding, clear_socket, free_port
    from hitherto.server.running import ServerSettings, run
    from hitherto.server.tls import check_tls

    if "://" not in file and Path(file).is_dir():
        raise InvalidArgumentError(f"FILE must be a file, got the folder {shown(file)}", argument="file")
    found = _users_file(users, file)
    warning = check_binding(
        None if unix_socket else host, unix_socket=unix_socket, has_users=found is not None, forced=force_open
    )
    tls = check_tls(certfile=certfile, keyfile=keyfile, key_password_file=key_password_file, ca_file=ca_file)
    if (model is None) != (api_base is None):
        raise InvalidArgumentError("--model and --api-base must be given together", argument="model")
    settings = ServerSettings(
        store=file,
        users=found,
        profile=_profile(compat),
        most_body_bytes=max_body_bytes,
        read_timeout_s=read_timeout_s,
        most_connections=most_connections,
        audit=audit_log,
        words_only=words_only,
        local_only=found is None and not force_open and unix_socket is None,
        model=model,
        api_base=api_base,
    )
    if unix_socket is None:
        port = free_port(host, port)
    else:
        clear_socket(unix_socket)
    _prepare(settings)
    where = f"unix:{unix_socket}" if unix_socket else f"{'https' if tls else 'http'}://{_host(host)}:{port}"
    _say(f"hitherto serves {_shown_store(file)} at {where}")
    if warning is not None:
        _say(warning)
    run(settings, host=host, port=port, unix_socket=unix_socket, workers=workers, tls=tls)


def _require_packages() -> None:
    from hitherto._optional import require

    for package in ("fastapi", "uvicorn", "argon2", "prometheus_client", "regex"):
        require(package, extra="server")


def _prepare(settings: ServerSettings) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from hitherto.server.audit import AuditLog
    from hitherto.server.auth import Authenticator
    from hitherto.server.running import prepare_store
    from hitherto.server.users_file import check_rights

    # What is wrong is told here, and not by each worker.
    if settings.users is not None:
        warning = check_rights(settings.users)
        if warning is not None:
            _say(warning)
        Authenticator(settings.users)
    try:
        AuditLog(settings.audit).close()
    except OSError as error:
        raise InvalidArgumentError(
            f"--audit-log cannot be written: {settings.audit}: {error.strerror}", argument="audit_log"
        ) from error
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading what is stored", total=None)
        prepare_store(settings, lambda done, total: progress.update(task, completed=done, total=total))


def _profile(text: str) -> Any:
    if text not in ("3.x", "2.x"):
        raise InvalidArgumentError(
            f"--opensearch-compat must be 3.x or 2.x, got {shown(text)}", argument="compat"
        )
    return text


def _users_file(given: str | None, store: str) -> str | None:
    named = given or os.environ.get("HITHERTO_USERS")
    if named:
        return named
    if "://" in store:
        return None
    from hitherto.server.users_file import users_file_beside

    beside = users_file_beside(store)
    return str(beside) if Path(beside).exists() else None


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _shown_store(store: str) -> str:
    # A URL may hold a password.
    return store.rpartition("@")[2] if "://" in store else store


def _say(text: str) -> None:
    typer.echo(text, err=True)
