"""The command line: `hitherto …`.

Exit codes: 0 done; 1 something was not found, or the store refused; 2 the command line or its input is wrong. With
``--json`` a command prints one JSON document and nothing else.
"""

from __future__ import annotations

from typing import Final

import typer

from hitherto.cli import extraction, memories, stores, users
from hitherto.cli.demo import demo
from hitherto.cli.output import EXIT_FAILED, EXIT_USAGE, complain
from hitherto.errors import ArgumentTypeError, HithertoError, InvalidArgumentError
from hitherto.server.command import serve

app = typer.Typer(
    name="hitherto",
    help="Memory for AI agents, in one file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo)
app.command("add")(memories.add)
app.command("search")(memories.search)
app.command("list")(memories.list_)
app.command("delete")(memories.delete)
app.command("stats")(stores.stats)
app.command("reembed")(stores.reembed)
app.command("copy")(stores.copy)
app.command("purge")(stores.purge)
app.command("erase")(stores.erase)
app.command("serve")(serve)
app.add_typer(extraction.app, name="extraction")
app.add_typer(users.app, name="user")


def _print_version(wanted: bool) -> None:
    if wanted:
        from hitherto import __version__

        typer.echo(f"hitherto {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    """Memory for AI agents, in one file."""


_OPTIONS: Final = {
    "agent_id": "--agent",
    "limit": "--limit",
    "max_results": "--limit",
    "memory_type": "--type",
    "metadata": "--metadata",
    "metadata_filter": "--where",
    "num_hops": "--hops",
    "record_types": "--type",
    "thread_id": "--thread",
    "ttl_days": "--ttl-days",
    "user_id": "--user",
}
"""What an argument is called on the command line."""


def main() -> None:
    """Run the command line and exit with its code."""
    from hitherto.store.checks import named_as

    try:
        with named_as(_OPTIONS):
            app()
    except (InvalidArgumentError, ArgumentTypeError) as error:
        complain(error)
        raise SystemExit(EXIT_USAGE) from None
    except HithertoError as error:
        complain(error)
        raise SystemExit(EXIT_FAILED) from None
