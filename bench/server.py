"""Measures the server: python bench/server.py load --seconds 20, or python bench/server.py scale --messages 1000000.

``load`` starts ``hitherto serve`` and drives it with concurrent clients, four searches to one write, and kills it by
SIGKILL in the middle and starts it again. It reports throughput, latencies, errors, and how many of the messages that
were acknowledged are missing at the end. Requests that were under way when the server was killed are counted apart.

``scale`` writes messages into a file by Python, has the server's index take them in, and times searches of memories
of several lengths; their time has to depend on the memory and not on the file.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from hitherto import AgentMemory
from hitherto.server.bodies import NewMessage
from hitherto.server.index.rest_index import RestIndex
from hitherto.server.service import MemoryService

PATH = "/_plugins/_ml/memory"
BATCH = 2000


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    load = kinds.add_parser("load")
    load.add_argument("--seconds", type=float, default=20)
    load.add_argument("--clients", type=int, default=50)
    load.add_argument("--workers", type=int, default=1)
    load.add_argument("--memories", type=int, default=200)
    load.add_argument("--messages", type=int, default=50, help="in each memory at the beginning")
    load.add_argument("--embedder", action="store_true", help="with vectors of the local embedder")
    load.add_argument("--kill", action="store_true", help="kill the server in the middle")
    scale = kinds.add_parser("scale")
    scale.add_argument("--messages", type=int, default=100_000)
    scale.add_argument(
        "--file",
        type=Path,
        help="where to make the store, or where it was made",
    )
    given = parser.parse_args()
    report = asyncio.run(_load(given)) if given.kind == "load" else _scale(given)
    print(json.dumps(report, indent=1))


@dataclass
class Tally:
    """What the clients saw."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"search": [], "write": []})
    errors: list[str] = field(default_factory=list)
    interrupted: int = 0
    acknowledged: dict[str, list[str]] = field(default_factory=dict)


async def _load(given: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "load.db", given)
        server.start()
        tally = Tally()
        async with aiohttp.ClientSession(
            f"http://127.0.0.1:{server.port}", connector=aiohttp.TCPConnector(limit=given.clients)
        ) as http:
            memories = await _filled(http, given)
            until = time.monotonic() + given.seconds
            clients = [_client(http, place, memories, tally, until) for place in range(given.clients)]
            killing = _kill_and_start(server, given.seconds / 2) if given.kill else asyncio.sleep(0)
            began = time.monotonic()
            await asyncio.gather(*clients, killing)
            elapsed = time.monotonic() - began
            lost = await _missing(http, tally)
        server.end()
    every = sorted(tally.seconds["search"] + tally.seconds["write"])
    return {
        "clients": given.clients,
        "workers": given.workers,
        "embedder": given.embedder,
        "killed": given.kill,
        "requests": len(every),
        "per_second": round(len(every) / elapsed, 1),
        **{f"{kind}_ms": _quantiles(values) for kind, values in tally.seconds.items()},
        "errors": len(tally.errors),
        "first_errors": tally.errors[:3],
        "interrupted_by_the_kill": tally.interrupted,
        "acknowledged": sum(len(ids) for ids in tally.acknowledged.values()),
        "lost": lost,
    }


class Server:
    """The program under measurement."""

    def __init__(self, store: Path, given: argparse.Namespace) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [
            str(Path(sys.executable).parent / "hitherto"),
            "serve",
            str(store),
            *("--port", str(self.port), "--workers", str(given.workers)),
            *([] if given.embedder else ["--words-only"]),
        ]

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as link:
                    link.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    if b" 200 " in link.recv(100):
                        return
            except OSError:
                time.sleep(0.05)

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()


async def _kill_and_start(server: Server, after: float) -> None:
    await asyncio.sleep(after)
    server.kill()
    await asyncio.to_thread(server.start)


async def _filled(http: aiohttp.ClientSession, given: argparse.Namespace) -> list[str]:
    memories = [
        (await _ask(http, "POST", PATH, {"name": f"memory {place}"}))["memory_id"]
        for place in range(given.memories)
    ]

    async def fill(some: list[str]) -> None:
        chosen = random.Random(some[0])
        for memory_id in some:
            for _ in range(given.messages):
                await _ask(http, "POST", f"{PATH}/{memory_id}/messages", _said(chosen))

    await asyncio.gather(*(fill(memories[start::16]) for start in range(min(16, len(memories)))))
    return memories


async def _client(
    http: aiohttp.ClientSession, place: int, memories: list[str], tally: Tally, until: float
) -> None:
    chosen = random.Random(place)
    while time.monotonic() < until:
        memory_id = chosen.choice(memories)
        kind = "write" if chosen.random() < 0.2 else "search"
        if kind == "write":
            path, body = f"{PATH}/{memory_id}/messages", _said(chosen)
        else:
            path = f"{PATH}/{memory_id}/_search"
            body = {"query": {"match": {"input": " ".join(_words(chosen, 3))}}}
        began = time.perf_counter()
        try:
            answer = await _ask(http, "POST", path, body)
        except aiohttp.ClientConnectionError:
            tally.interrupted += 1
            await asyncio.sleep(0.1)
        except RuntimeError as error:
            tally.errors.append(str(error))
        else:
            tally.seconds[kind].append(time.perf_counter() - began)
            if kind == "write":
                tally.acknowledged.setdefault(memory_id, []).append(answer["message_id"])


async def _missing(http: aiohttp.ClientSession, tally: Tally) -> int:
    missing = 0
    for memory_id, ids in tally.acknowledged.items():
        found = await _ask(http, "GET", f"{PATH}/{memory_id}/messages?max_results=10000", None)
        missing += len(set(ids) - {message["message_id"] for message in found["messages"]})
    return missing


async def _ask(http: aiohttp.ClientSession, method: str, path: str, body: object) -> dict[str, Any]:
    async with http.request(method, path, json=body) as answer:
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {await answer.text()}")
        found: dict[str, Any] = await answer.json()
        return found


def _words(chosen: random.Random, count: int) -> list[str]:
    # Few words are common and many are rare, as in a language.
    return [f"word{int(20_000 ** chosen.random())}" for _ in range(count)]


def _said(chosen: random.Random) -> dict[str, str]:
    return {"input": " ".join(_words(chosen, 25)), "response": " ".join(_words(chosen, 40))}


def _scale(given: argparse.Namespace) -> dict[str, Any]:
    lengths = [length for length in (10, 100, 1000, 10_000) if length * 20 <= given.messages]
    made = given.file is not None and given.file.exists()
    with _file(given.file) as path, AgentMemory(path, embedder=None, durability="normal") as memory:
        began = time.perf_counter()
        named = {length: f"thread-{place}" for place, length in enumerate(lengths)}
        if not made:
            _write(memory, given.messages, lengths)
        written = time.perf_counter() - began
        began = time.perf_counter()
        index = RestIndex(memory.store, progress=_show)
        taken_in = time.perf_counter() - began
        service = MemoryService(memory, index)
        report: dict[str, Any] = {
            "interactions": given.messages,
            "write_s": round(written, 1),
            "take_in_s": round(taken_in, 1),
            "file_mb": round(path.stat().st_size / 1e6),
            "searches_ms": {},
        }
        chosen = random.Random(7)
        for length, thread_id in named.items():
            bodies = [
                json.dumps({"query": {"match": {"input": " ".join(_words(chosen, 3))}}}).encode()
                for _ in range(40)
            ]
            first = _timed(lambda: service.search_messages(thread_id, bodies[0], None))  # noqa: B023
            report["searches_ms"][str(length)] = {
                "first": round(first * 1000, 1),
                "then": _quantiles(
                    [_timed(lambda: service.search_messages(thread_id, body, None)) for body in bodies]  # noqa: B023
                ),
            }
        said = [_said(chosen) for _ in range(40)]
        thread_id = named[lengths[-1]]
        report["create_ms"] = _quantiles(
            [_timed(lambda: service.create_message(thread_id, NewMessage(**one), None)) for one in said]  # noqa: B023
        )
        return report


def _write(memory: AgentMemory, count: int, lengths: list[int]) -> None:
    chosen = random.Random(1)
    waiting: list[tuple[str, dict[str, str]]] = []
    plan = [*lengths, *([50] * ((count - sum(lengths)) // 50))]
    for place, length in enumerate(plan):
        thread_id = f"thread-{place}"
        memory.store.create_thread_record(thread_id, user_id=f"user-{place % 1000}")
        waiting.extend((thread_id, _said(chosen)) for _ in range(length))
        if len(waiting) >= BATCH:
            _add(memory, waiting)
            waiting = []
    _add(memory, waiting)


def _add(memory: AgentMemory, waiting: list[tuple[str, dict[str, str]]]) -> None:
    if not waiting:
        return
    pairs = [
        (thread_id, role, said[name])
        for thread_id, said in waiting
        for role, name in (("user", "input"), ("assistant", "response"))
    ]
    memory.store.add(
        [text for _, _, text in pairs],
        "message",
        thread_ids=[thread_id for thread_id, _, _ in pairs],
        roles=[role for _, role, _ in pairs],
    )


@contextmanager
def _file(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "scale.db"


def _show(done: int, total: int) -> None:
    print(f"\r{done} of {total} taken in", end="", file=sys.stderr)


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _quantiles(seconds: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(seconds, n=100) if len(seconds) > 1 else seconds * 99
    return {"p50": round(cuts[49] * 1000, 1), "p99": round(cuts[98] * 1000, 1)}


if __name__ == "__main__":
    main()
