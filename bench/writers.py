"""Measures how many records processes add side by side: python bench/writers.py [--url URL] [--processes 1 4 16].

Each process adds one message after another, each in a transaction of its own, to a thread and for a user of its own;
with ``--one-user`` all for the same user. Without a URL the store is a SQLite file in a temporary folder. In PostgreSQL
the tables are made anew in the schema that the URL leads to.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from hitherto.store.opening import open_store

WRITER = """
import json, sys, time
from hitherto.store.opening import open_store

where, user, thread, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
store = open_store(where, embedder=None, schema_policy="require_existing")
store.add(["warm"], "message", user_ids=user, thread_ids=thread)
print("ready", flush=True)
input()
took, end, n = [], time.perf_counter() + seconds, 0
while (start := time.perf_counter()) < end:
    store.add([f"message {n} about the weather in spring"], "message", user_ids=user, thread_ids=thread)
    took.append(time.perf_counter() - start)
    n += 1
print(json.dumps(took))
"""


def measure(where: str, count: int, *, seconds: float, one_user: bool) -> dict[str, float]:
    """Return how many records processes add in a second, and how long one takes, in milliseconds.

    Args:
        where: The store.
        count: How many processes.
        seconds: For how long.
        one_user: Whether they all write for the same user.
    """
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, where, "u" if one_user else f"u{n}", f"t{n}", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for n in range(count)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    took = np.concatenate([json.loads(writer.communicate()[0]) for writer in writers]) * 1000
    return {
        "processes": count,
        "records_per_s": round(took.size / seconds, 1),
        "p50_ms": round(float(np.percentile(took, 50)), 1),
        "p99_ms": round(float(np.percentile(took, 99)), 1),
    }


def main() -> None:
    """Run the measurement that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a PostgreSQL database; without it SQLite")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4, 16], help="how many write at once")
    parser.add_argument("--seconds", type=float, default=5.0, help="for how long each time")
    parser.add_argument("--one-user", action="store_true", help="all write for the same user")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = given.url or str(Path(folder) / "store.db")
        open_store(where, embedder=None, schema_policy="recreate").close()
        lines = [
            measure(where, count, seconds=given.seconds, one_user=given.one_user) for count in given.processes
        ]
    if given.json:
        print(json.dumps(lines, indent=1))
        return
    print("| processes | records/s | p50 ms | p99 ms |\n|---|---|---|---|")
    for line in lines:
        print(f"| {line['processes']} | {line['records_per_s']} | {line['p50_ms']} | {line['p99_ms']} |")


if __name__ == "__main__":
    main()
