"""What commands print: tables for people, one JSON document for programs, complaints on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from hitherto.messages import content_text
from hitherto.records import Record, ScopedRecord

if TYPE_CHECKING:
    from hitherto.search.result import SearchResult

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2


def complain(problem: object) -> None:
    """Print a problem on standard error."""
    typer.secho(f"hitherto: {problem}", err=True, fg=typer.colors.RED)


def existing_store(path: str) -> str:
    """Return a store's path or URL, refusing a file that is not there or holds something else.

    Raises:
        typer.Exit: With the usage code, if there is no store in the file: a misspelt name must neither make a new
            store nor put one into the database of another program.
        StoreError: If the file is no database.
    """
    from hitherto.errors import SchemaError
    from hitherto.store.sql.migrate import SchemaPolicy
    from hitherto.store.sqlite.store import SQLiteStore

    file = path.removeprefix("sqlite:///")
    if "://" in file:
        return path
    if not Path(file).is_file():
        complain(f"FILE must be a store that exists, got {path!r}")
        raise typer.Exit(EXIT_USAGE)
    try:
        SQLiteStore(file, schema_policy=SchemaPolicy.NO_CHECK, read_only=True).close()
    except SchemaError:
        complain(f"FILE must be a store that exists, got {path!r}, in which there is none")
        raise typer.Exit(EXIT_USAGE) from None
    return path


def print_json(value: Any) -> None:
    """Print a JSON document."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def record_json(record: Record) -> dict[str, Any]:
    """Return a record as a JSON object."""
    owner = record if isinstance(record, ScopedRecord) else None
    return {
        "id": record.id,
        "type": record.record_type,
        "content": record.content if isinstance(record.content, dict) else content_text(record.content),
        "timestamp": record.timestamp,
        "status": str(getattr(record.status, "value", record.status)),
        "role": getattr(record, "role", None),
        "user_id": owner and owner.user_id,
        "agent_id": owner and owner.agent_id,
        "thread_id": owner and owner.thread_id,
        "metadata": record.metadata,
    }


def result_json(result: SearchResult) -> dict[str, Any]:
    """Return a search result as a JSON object, with what is linked to it."""
    return {
        **record_json(result.record),
        "distance": result.distance,
        "relevance": 1.0 - result.distance,
        "linked": [
            {"relation": relation.relation_type, "from": relation.source_record_id, **result_json(child)}
            for relation, child in result.linked_results
        ],
    }


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Print a table, as wide as the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    # Cut off from a terminal, rich would assume 80 columns and break ids.
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def print_results(results: Sequence[SearchResult], *, title: str | None = None) -> None:
    """Print search results as a table."""
    print_table(
        ["relevance", "type", "user", "thread", "when", "content"],
        [
            (
                f"{1.0 - result.distance:.2f}",
                result.record.record_type,
                getattr(result.record, "user_id", None),
                getattr(result.record, "thread_id", None),
                (result.timestamp or "")[:10],
                _spoken(result),
            )
            for result in results
        ],
        title=title,
    )


def _spoken(result: SearchResult) -> str:
    name = (result.metadata or {}).get("name") or getattr(result.record, "role", None)
    return f"{name}: {result.content}" if name else result.content


def print_linked(results: Sequence[SearchResult]) -> None:
    """Print results with what is linked to them, as a tree."""
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    def grow(tree: Tree, result: SearchResult) -> None:
        for relation, child in result.linked_results:
            # The relation reads from its source; seen from the target it is the opposite.
            incoming = relation.target_record_id == result.record.id
            label = relation.opposite_relation_type if incoming else relation.relation_type
            grow(tree.add(Text(f"{label} → {child.content} [{_status(child)}]")), child)

    console = Console(width=None if sys.stdout.isatty() else 120)
    for result in results:
        tree = Tree(Text(f"{result.content} [{_status(result)}]", style="bold"))
        grow(tree, result)
        console.print(tree)


def _status(result: SearchResult) -> str:
    return str(getattr(result.status, "value", result.status))
