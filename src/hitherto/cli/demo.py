"""The demo: one process stores a conversation and ends, another opens the file and is asked about it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from hitherto.cli import locomo
from hitherto.cli.conversation import AGENT, FACTS, LINKED_QUESTION, QUESTIONS, SESSIONS, USER
from hitherto.cli.output import (
    EXIT_USAGE,
    complain,
    print_json,
    print_linked,
    print_results,
    result_json,
)

STEPS = ("store", "ask")


def demo(
    file: Annotated[str | None, typer.Option(help="Where to store; without it, a temporary file.")] = None,
    locomo_file: Annotated[
        str | None, typer.Option("--locomo", help="A LoCoMo conversation to store and measure recall on.")
    ] = None,
    step: Annotated[str | None, typer.Option(hidden=True)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Store a conversation, end the process, open the file in another one, and ask."""
    if locomo_file is not None and not Path(locomo_file).is_file():
        complain(f"--locomo must be a file that exists, got {locomo_file!r}")
        raise typer.Exit(EXIT_USAGE)
    if step is not None:
        _run_step(step, file, locomo_file, as_json)
        return
    if file is not None and Path(file).exists():
        complain(f"--file must not exist yet, so that nothing of yours is mixed with the demo, got {file!r}")
        raise typer.Exit(EXIT_USAGE)
    with tempfile.TemporaryDirectory(prefix="hitherto-") as folder:
        target = file or str(Path(folder) / "memory.db")
        replies = [_spawn(name, target, locomo_file, as_json) for name in STEPS]
    if as_json:
        print_json({name: json.loads(reply) for name, reply in zip(STEPS, replies, strict=True)})


def _spawn(step: str, file: str, locomo_file: str | None, as_json: bool) -> str:
    command = [sys.executable, "-m", "hitherto", "demo", "--step", step, "--file", file]
    if locomo_file is not None:
        command += ["--locomo", locomo_file]
    if as_json:
        command.append("--json")
    else:
        typer.secho(f"\n— {'first' if step == 'store' else 'second'} process: {step}", bold=True)
    # The command is this very interpreter with our own words.
    done = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE if as_json else None)  # noqa: S603
    if done.returncode:
        raise typer.Exit(done.returncode)
    return done.stdout or ""


def _run_step(step: str, file: str | None, locomo_file: str | None, as_json: bool) -> None:
    if step not in STEPS or file is None:
        complain(f"--step must be one of {', '.join(STEPS)} and needs --file, got {step!r}")
        raise typer.Exit(EXIT_USAGE)
    if locomo_file is not None:
        conversation = locomo.load(locomo_file)
        run = locomo.store if step == "store" else locomo.ask
        found = run(conversation, file, quiet=as_json)
    else:
        found = _store(file, quiet=as_json) if step == "store" else _ask(file, quiet=as_json)
    if as_json:
        print_json(found)


def _store(file: str, *, quiet: bool) -> dict[str, Any]:
    from hitherto import AgentMemory

    messages = 0
    with AgentMemory(file) as memory:
        memory.add_user(USER, "Mia, a traveller from Hamburg with a seven-year-old daughter")
        for session in SESSIONS:
            thread = memory.create_thread(thread_id=session.thread_id, user_id=USER, agent_id=AGENT)
            thread.add_messages(
                [
                    {"role": role, "content": text, "timestamp": f"{session.date}T09:{minute:02}:00Z"}
                    for minute, (role, text) in enumerate(session.turns)
                ]
            )
            messages += len(session.turns)
        for fact in FACTS:
            options: dict[str, Any] = {"memory_type": fact.kind, "memory_id": fact.id}
            if fact.link:
                options["link_type"], options["memory_id_to_link"] = fact.link
            memory.add_memory(fact.text, user_id=USER, agent_id=AGENT, **options)
        # Somebody else's memory, which no search for Mia may ever show.
        memory.add_memory("Ivo eats shellfish every Friday", memory_type="fact", user_id="ivo")
    stored = {"file": file, "messages": messages, "memories": len(FACTS) + 1, "threads": len(SESSIONS)}
    if not quiet:
        typer.echo(
            f"stored {messages} messages in {len(SESSIONS)} threads and {len(FACTS) + 1} memories in {file}; "
            "this process ends now"
        )
    return stored


def _ask(file: str, *, quiet: bool) -> dict[str, Any]:
    from hitherto import AgentMemory

    with AgentMemory(file) as memory:
        answers = {question: memory.search(question, user_id=USER, max_results=3) for question in QUESTIONS}
        linked = memory.search(
            LINKED_QUESTION,
            user_id=USER,
            max_results=2,
            num_hops=2,
            record_types=["preference"],
        )
        strangers = memory.search(QUESTIONS[0], user_id="ivo", max_results=3)
    if not quiet:
        for question, results in answers.items():
            print_results(results, title=f"{question}  (user {USER!r})")
        print_results(strangers, title=f"{QUESTIONS[0]}  (user 'ivo' sees only what is his)")
        typer.secho(f"\n{LINKED_QUESTION}  (with what is linked)", bold=True)
        print_linked(linked)
        if linked:
            typer.secho("\nThe first of these as prompt text:", bold=True)
            typer.echo(linked[0].formatted_content)
    return {
        "answers": {
            question: [result_json(item) for item in results] for question, results in answers.items()
        },
        "strangers": [result_json(item) for item in strangers],
        "linked": [result_json(item) for item in linked],
    }
