"""Commands on what is remembered: add, search, list, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hitherto.cli.output import (
    EXIT_FAILED,
    complain,
    existing_store,
    print_json,
    print_linked,
    print_results,
    print_table,
    record_json,
    result_json,
)
from hitherto.errors import InvalidArgumentError

if TYPE_CHECKING:
    from hitherto.records import Record

File = Annotated[str, typer.Argument(metavar="FILE", help="The store: a file, or a URL.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
User = Annotated[
    str | None, typer.Option("--user", help="The user's id; without it, records without a user.")
]
Agent = Annotated[str | None, typer.Option("--agent", help="The agent's id.")]
Thread = Annotated[str | None, typer.Option("--thread", help="The thread's id.")]


def _given(**values: str | None) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _json_object(text: str | None, option: str) -> dict[str, Any] | None:
    import json

    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidArgumentError(f"{option} must be a JSON object, got {text!r}: {error}") from None
    if not isinstance(value, dict):
        raise InvalidArgumentError(f"{option} must be a JSON object, got {text!r}")
    return value


def add(
    file: File,
    content: Annotated[str, typer.Argument(help="What to remember.")],
    memory_type: Annotated[
        str, typer.Option("--type", help="memory, fact, guideline or preference.")
    ] = "memory",
    user: User = None,
    agent: Agent = None,
    thread: Thread = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object to keep with it.")] = None,
    ttl_days: Annotated[float | None, typer.Option(help="Forget it after so many days.")] = None,
    as_json: AsJson = False,
) -> None:
    """Remember something. Makes the store if there is none."""
    from hitherto import AgentMemory

    options: dict[str, Any] = _given(user_id=user, agent_id=agent, thread_id=thread)
    options["memory_type"] = memory_type
    if ttl_days is not None:
        options["ttl_days"] = ttl_days
    kept = _json_object(metadata, "--metadata")
    with AgentMemory(file) as memory:
        memory_id = memory.add_memory(content, metadata=kept, **options)
    if as_json:
        print_json({"id": memory_id})
    else:
        typer.echo(memory_id)


def search(
    file: File,
    query: Annotated[str, typer.Argument(help="What to look for, in plain words.")],
    user: User = None,
    agent: Agent = None,
    thread: Annotated[str | None, typer.Option(help="Only this thread.")] = None,
    limit: Annotated[int, typer.Option(help="The most results.")] = 10,
    record_type: Annotated[
        list[str] | None, typer.Option("--type", help="Only this type; may be repeated.")
    ] = None,
    where: Annotated[str | None, typer.Option(help="A metadata filter, as a JSON object.")] = None,
    hops: Annotated[int, typer.Option(help="How far links are followed, 0 to 5.")] = 0,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the text for a prompt.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find what is remembered, by meaning and by words."""
    from hitherto import AgentMemory

    options: dict[str, Any] = _given(agent_id=agent)
    if thread is not None:
        options.update(thread_id=thread, exact_thread_match=True)
    if record_type:
        options["record_types"] = record_type
    with AgentMemory(existing_store(file)) as memory:
        results = memory.search(
            query,
            user_id=user,
            max_results=limit,
            metadata_filter=_json_object(where, "--where"),
            num_hops=hops,
            **options,
        )
    if as_json:
        print_json([result_json(result) for result in results])
    elif prompt:
        for result in results:
            typer.echo(result.formatted_content)
    else:
        print_results(results)
        if hops:
            print_linked([result for result in results if result.linked_results])


def list_(
    file: File,
    user: User = None,
    agent: Agent = None,
    thread: Thread = None,
    kind: Annotated[
        str, typer.Option("--kind", help="memories, messages, threads, users or agents.")
    ] = "memories",
    limit: Annotated[int | None, typer.Option(help="The newest so many.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what is stored, oldest first."""
    from hitherto import AgentMemory

    with AgentMemory(existing_store(file)) as memory:
        scope = _given(agent_id=agent, thread_id=thread)
        found: list[Record]
        if kind == "users":
            found = list(memory.list_users(limit=limit))
        elif kind == "agents":
            found = list(memory.list_agents(limit=limit))
        elif kind == "threads":
            found = list(memory.list_threads(user, limit=limit, **_given(agent_id=agent)))
        elif kind == "messages":
            found = list(memory.list_messages(limit=limit, user_id=user, **scope))
        elif kind == "memories":
            found = list(memory.list_memories(limit=limit, user_id=user, **scope))
        else:
            raise InvalidArgumentError(
                f"--kind must be memories, messages, threads, users or agents, got {kind!r}", argument="kind"
            )
    items = [record_json(record) for record in found]
    if as_json:
        print_json(items)
    else:
        print_table(
            ["id", "type", "when", "status", "content"],
            [
                (item["id"], item["type"], item["timestamp"], item["status"], item["content"])
                for item in items
            ],
        )


def delete(
    file: File,
    memory_id: Annotated[str, typer.Argument(help="The memory's id.")],
) -> None:
    """Delete one memory."""
    from hitherto import AgentMemory

    with AgentMemory(existing_store(file)) as memory:
        count = memory.delete_memory(memory_id)
    if not count:
        complain(f"there is no memory {memory_id!r}")
        raise typer.Exit(EXIT_FAILED)
