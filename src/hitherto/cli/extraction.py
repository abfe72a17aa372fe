"""Commands on what is still to be extracted: status, retry, cancel, run."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from hitherto.cli.memories import AsJson, File
from hitherto.cli.output import EXIT_FAILED, existing_store, print_json, print_table

app = typer.Typer(no_args_is_help=True, help="See and run what is still to be extracted from messages.")

User = Annotated[str | None, typer.Option("--user", help="Only this user's.")]
ThreadId = Annotated[str | None, typer.Option("--thread", help="Only this thread's.")]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; by default all.")]


def _opened(file: str, **options: Any) -> Any:
    from hitherto import AgentMemory

    return AgentMemory(existing_store(file), **options)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None and value != []}


@app.command("status")
def status(
    file: File,
    user: User = None,
    thread: ThreadId = None,
    state: Annotated[
        list[str] | None,
        typer.Option("--state", help="Only in this state: gathering, waiting, running, failed, cancelled."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what is still to be extracted, or could not be, and why. The exit code is 1 if something failed."""
    with _opened(file) as memory:
        found = memory.list_extractions(**_given(user_id=user, thread_id=thread, states=state))
    if as_json:
        print_json(
            [
                {
                    "id": item.id,
                    "kind": item.kind,
                    "state": item.state.value,
                    "thread_id": item.thread_id,
                    "user_id": item.user_id,
                    "message_ids": list(item.message_ids),
                    "attempts": item.attempts,
                    "error": item.error,
                    "created_at": item.created_at.isoformat(),
                    "updated_at": item.updated_at.isoformat(),
                }
                for item in found
            ]
        )
    elif found:
        rows = [
            (item.id, item.kind, item.state.value, item.thread_id, len(item.message_ids), item.error or "")
            for item in found
        ]
        print_table(["id", "kind", "state", "thread", "messages", "error"], rows)
    else:
        typer.echo("nothing is left to extract")
    if any(item.state.value == "failed" for item in found):
        raise typer.Exit(EXIT_FAILED)


@app.command("retry")
def retry(
    file: File, ids: Ids = None, user: User = None, thread: ThreadId = None, as_json: AsJson = False
) -> None:
    """Let what failed wait again; a program with a language model, or `extraction run`, then extracts it."""
    with _opened(file) as memory:
        count = memory.retry_extractions(**_given(extraction_ids=ids, user_id=user, thread_id=thread))
    _told(count, "retried", "wait again", as_json)


@app.command("cancel")
def cancel(
    file: File, ids: Ids = None, user: User = None, thread: ThreadId = None, as_json: AsJson = False
) -> None:
    """Cancel what is still to come; what runs stores nothing any more."""
    with _opened(file) as memory:
        count = memory.cancel_extractions(**_given(extraction_ids=ids, user_id=user, thread_id=thread))
    _told(count, "cancelled", "cancelled", as_json)


@app.command("run")
def run(
    file: File,
    model: Annotated[str, typer.Option(help="The model's name, as the server knows it.")],
    api_base: Annotated[str, typer.Option(help="The URL of an OpenAI-compatible server, up to /v1.")],
    timeout: Annotated[float, typer.Option(help="Seconds to work at most.")] = 3600.0,
    as_json: AsJson = False,
) -> None:
    """Extract what waits, with a language model; its key comes from the environment, as HITHERTO_API_KEY."""
    from rich.progress import Progress

    from hitherto.models.openai_compatible import OpenAICompatibleLLM

    llm = OpenAICompatibleLLM(model, api_base, api_key=os.environ.get("HITHERTO_API_KEY"))
    before = 0
    with Progress(disable=as_json, transient=True) as progress, _opened(file, llm=llm) as memory:
        before = len(memory.list_extractions(states=["waiting", "running"]))
        progress.add_task("extracting", total=None)
        memory.wait_for_memory_extraction(timeout)
        failed = len(memory.list_extractions(states=["failed"]))
    if as_json:
        print_json({"done": max(0, before - failed), "failed": failed})
    else:
        typer.echo(f"{max(0, before - failed)} done, {failed} failed")
    if failed:
        raise typer.Exit(EXIT_FAILED)


def _told(count: int, key: str, words: str, as_json: bool) -> None:
    print_json({key: count}) if as_json else typer.echo(f"{count} {words}")
    if not count:
        raise typer.Exit(EXIT_FAILED)
