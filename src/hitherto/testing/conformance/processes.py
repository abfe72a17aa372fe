"""Processes: several on one place, and one that is killed in the middle of its work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hitherto.testing.conformance.base import ConformanceBase, ids

_PROGRAM = """
import sys
from pathlib import Path

folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
{opening}
for batch in range(count):
    store.add(
        [f"{{name}} says {{batch}}", f"{{name}} says {{batch}} again"],
        "message",
        record_ids=[f"{{name}}-{{batch}}-0", f"{{name}}-{{batch}}-1"],
        thread_ids="shared",
        user_ids=name,
        roles="user",
    )
    print(batch, flush=True)
"""
PROCESSES = 4
WRITES = 200


class ProcessConformance(ConformanceBase):
    """More than one process."""

    @pytest.fixture
    def command(self, tmp_path: Path) -> list[str]:
        """Return the command of another process that writes; it takes a name and how many batches."""
        if self.program is None:
            pytest.skip("only one process opens this store")
        return [sys.executable, "-c", _PROGRAM.format(opening=self.program), str(tmp_path)]

    def test_processes_that_write_at_once_lose_nothing(self, command: list[str], tmp_path: Path) -> None:
        """4 processes with 200 writes each to one new place: no lock error, nothing lost, each number once."""
        names = [f"p{number}" for number in range(PROCESSES)]
        writers = [
            subprocess.Popen([*command, name, str(WRITES)], stdout=subprocess.DEVNULL)  # noqa: S603  our own program
            for name in names
        ]
        assert [writer.wait() for writer in writers] == [0] * PROCESSES
        with self.make_store(tmp_path) as store:
            messages = store.list_thread_messages("shared")
            assert len({message.seq_no for message in messages}) == 2 * PROCESSES * WRITES
            for name in names:
                wanted = [f"{name}-{batch}-{part}" for batch in range(WRITES) for part in range(2)]
                assert [message.id for message in messages if message.user_id == name] == wanted

    def test_what_was_acknowledged_survives_a_kill(self, command: list[str], tmp_path: Path) -> None:
        """After kill -9 every acknowledged batch is there and is found, and no batch is there in part."""
        with subprocess.Popen([*command, "p", "1000000"], stdout=subprocess.PIPE, text=True) as writer:  # noqa: S603
            assert writer.stdout is not None
            for _ in range(20):
                assert writer.stdout.readline()
            writer.kill()
            acknowledged = 20 + len(writer.stdout.read().splitlines())
        with self.make_store(tmp_path) as store:
            stored = [message.id for message in store.list_thread_messages("shared")]
            # The batch that was being written may be there or not, but whole.
            assert len(stored) in (2 * acknowledged, 2 * acknowledged + 2)
            assert stored == [f"p-{batch}-{part}" for batch in range(len(stored) // 2) for part in range(2)]
            assert len(
                ids(store.search("says again", len(stored), user_id="p", exact_user_match=True))
            ) == len(stored)
            assert self.leftovers(store) == []
