"""Commands on the users of the server: add, list, remove, password, and their API keys."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from hitherto.cli.memories import AsJson
from hitherto.cli.output import EXIT_USAGE, complain, print_json, print_table
from hitherto.errors import InvalidArgumentError

if TYPE_CHECKING:
    from hitherto.server.users_file import UsersFile

app = typer.Typer(no_args_is_help=True, help="Say who may use the server.")
keys = typer.Typer(no_args_is_help=True, help="Make and remove a user's API keys.")
app.add_typer(keys, name="key")

_MOST_READ: Final = 4096

Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.")]
Users = Annotated[
    str | None, typer.Option("--users", metavar="FILE", help="The users file; by default $HITHERTO_USERS.")
]
Store = Annotated[
    str | None,
    typer.Option("--store", metavar="FILE", help="The users file is the one beside this store."),
]
FromStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input, do not ask for it.")
]


def _users_file(users: str | None, store: str | None) -> UsersFile:
    from hitherto.server.users_file import UsersFile, users_file_beside

    if users is None and store is not None:
        return UsersFile(users_file_beside(store))
    path = users or os.environ.get("HITHERTO_USERS")
    if path:
        return UsersFile(path)
    complain("say which users file: --users FILE, --store FILE or HITHERTO_USERS")
    raise typer.Exit(EXIT_USAGE)


def _password(from_stdin: bool) -> str:
    from hitherto.server.credentials import check_password

    if from_stdin:
        return check_password(_line_of_stdin())
    if not sys.stdin.isatty():
        # Without a terminal the question would be answered by a pipe, or echo what is typed.
        complain("there is no terminal to ask for the password at; give it with --password-stdin")
        raise typer.Exit(EXIT_USAGE)
    return check_password(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


def _line_of_stdin() -> str:
    raw = sys.stdin.buffer.read(_MOST_READ)
    try:
        return raw.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidArgumentError("password must come as UTF-8", argument="password") from None


@app.command("add")
def add(
    name: Name,
    users: Users = None,
    store: Store = None,
    from_stdin: FromStdin = False,
    no_password: Annotated[
        bool, typer.Option("--no-password", help="A user who has API keys alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a user; the password is asked for. Makes the users file if there is none."""
    from hitherto.errors import ConflictError
    from hitherto.server.users import check_user_name

    if no_password and from_stdin:
        complain("--no-password and --password-stdin exclude each other")
        raise typer.Exit(EXIT_USAGE)
    file = _users_file(users, store)
    if check_user_name(name) in (file.read() if file.path.exists() else {}):
        raise ConflictError(
            f"{file.path}: there is a user {name!r} already"
        )  # before the password is asked for
    account = file.add(name, None if no_password else _password(from_stdin))
    _told(as_json, f"user {account.name!r} was added to {file.path}", name=account.name)


@app.command("list")
def list_(users: Users = None, store: Store = None, as_json: AsJson = False) -> None:
    """List the users."""
    accounts = _users_file(users, store).read().values()
    if as_json:
        print_json(
            [
                {
                    "name": account.name,
                    "password": account.password is not None,
                    "keys": len(account.keys),
                    "created_at": account.created_at.isoformat(),
                }
                for account in accounts
            ]
        )
        return
    print_table(
        ["name", "password", "keys", "since"],
        [
            (
                account.name,
                "yes" if account.password else "no",
                len(account.keys),
                account.created_at.date(),
            )
            for account in accounts
        ],
    )


@app.command("remove")
def remove(name: Name, users: Users = None, store: Store = None, as_json: AsJson = False) -> None:
    """Remove a user and the user's keys. What the user has stored stays; `hitherto erase` erases it."""
    _users_file(users, store).remove(name)
    _told(as_json, f"user {name!r} was removed", removed=name)


@app.command("password")
def password(
    name: Name,
    users: Users = None,
    store: Store = None,
    from_stdin: FromStdin = False,
    as_json: AsJson = False,
) -> None:
    """Give a user a new password, which is asked for."""
    file = _users_file(users, store)
    file.account(name)
    file.set_password(name, _password(from_stdin))
    _told(as_json, f"user {name!r} has a new password", name=name)


@keys.command("add")
def add_key(
    name: Name,
    users: Users = None,
    store: Store = None,
    label: Annotated[str, typer.Option(help="What the key is for.")] = "",
    ttl_days: Annotated[float | None, typer.Option(help="Let the key expire after so many days.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make an API key and print it. It cannot be shown again."""
    key = _users_file(users, store).add_key(name, label, ttl_days=ttl_days)
    if as_json:
        until = key.expires_at and key.expires_at.isoformat()
        print_json({"id": key.id, "key": key.text, "expires_at": until})
    else:
        typer.echo(key.text)


@keys.command("list")
def list_keys(name: Name, users: Users = None, store: Store = None, as_json: AsJson = False) -> None:
    """List a user's API keys, without their secrets."""
    found = _users_file(users, store).account(name).keys
    rows: list[dict[str, Any]] = [
        {
            "id": key.id,
            "label": key.label,
            "created_at": key.created_at.isoformat(),
            "expires_at": key.expires_at and key.expires_at.isoformat(),
        }
        for key in found
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(["id", "label", "since", "until"], [tuple(row.values()) for row in rows])


@keys.command("remove")
def remove_key(
    name: Name,
    key_id: Annotated[str, typer.Argument(metavar="ID", help="The key's id, as `key list` shows it.")],
    users: Users = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Remove an API key; a running server refuses it within a second."""
    _users_file(users, store).remove_key(name, key_id)
    _told(as_json, f"key {key_id} of user {name!r} was removed", removed=key_id)


def _told(as_json: bool, words: str, **result: str) -> None:
    print_json(result) if as_json else typer.echo(words)
