"""Commands on a store as a whole: stats, reembed, copy, purge, erase."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hitherto.cli.memories import AsJson, File
from hitherto.cli.output import EXIT_FAILED, EXIT_USAGE, complain, existing_store, print_json, print_table

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def _opened(file: str, **options: Any) -> Any:
    from hitherto.store.opening import open_store

    return open_store(existing_store(file), **options)


def stats(file: File, as_json: AsJson = False) -> None:
    """Count what is stored, and say which embedder its vectors are of."""
    with _opened(file) as store:
        found = store.statistics()
    if as_json:
        print_json(found)
        return
    print_table(["what", "how many"], found["records"].items())
    typer.echo(f"users: {found['users']}   embedder: {found['embedder'] or 'none'}")


def reembed(
    file: File,
    embedder: Annotated[str, typer.Option(help='"local", or a folder with an ONNX model.')] = "local",
    as_json: AsJson = False,
) -> None:
    """Make all vectors anew with another embedder. What was interrupted is resumed."""
    from rich.progress import Progress

    from hitherto.models.local import LocalEmbedder

    model = LocalEmbedder() if embedder == "local" else LocalEmbedder(embedder)
    with _opened(file, embedder=model, check_embedder=False) as store:
        total = sum(store.statistics()["records"].values())
        with Progress(disable=as_json, transient=True) as progress:
            task = progress.add_task("embedding", total=total)
            count = store.reembed(lambda done: progress.update(task, completed=done))
    if as_json:
        print_json({"reembedded": count, "embedder": str(model.fingerprint)})
    else:
        typer.echo(f"{count} records now have vectors of {model.fingerprint}")


def copy(
    source: Annotated[str, typer.Argument(help="The store that is read: a file, or postgresql://…")],
    target: Annotated[str, typer.Argument(help="A store that does not exist yet, or is empty.")],
    as_json: AsJson = False,
) -> None:
    """Copy a store into another one, and compare both. What was interrupted is resumed."""
    from rich.progress import Progress

    from hitherto.store.opening import open_store
    from hitherto.store.sql.copy import copy_store

    with (
        _opened(source, embedder=None) as old,
        open_store(target, embedder=None) as new,
        Progress(disable=as_json, transient=True) as progress,
    ):
        tasks: dict[str, Any] = {}

        def show(table: str, done: int, total: int) -> None:
            if table not in tasks:
                tasks[table] = progress.add_task(table, total=total)
            progress.update(tasks[table], completed=done)

        counts = copy_store(old, new, show)
    if as_json:
        print_json({"copied": counts, "verified": True})
    else:
        typer.echo(f"{counts['records']} records copied; counts and checksums of all tables are equal")


def purge(file: File, as_json: AsJson = False) -> None:
    """Delete for good what has expired; it is invisible already."""
    with _opened(file) as store:
        count = store.purge_expired()
    print_json({"purged": count}) if as_json else typer.echo(f"{count} expired records deleted")


def erase(
    file: File,
    user: Annotated[str, typer.Option("--user", help="Whose records.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase all of one user's records, so that no trace of them is left in the file."""
    if not yes:
        if as_json:
            complain("erase needs --yes with --json")
            raise typer.Exit(EXIT_USAGE)
        if not typer.confirm(f"Erase everything of user {user!r} for good?"):
            raise typer.Exit(EXIT_FAILED)
    with _opened(file) as store:
        count = store.erase_user(user)
    print_json({"erased": count}) if as_json else typer.echo(f"{count} records erased")
    if not count:
        raise typer.Exit(EXIT_FAILED)
