"""The folder of what workers count together: it is removed by its server, or by the next one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.server.processes import serving

from hitherto.server.metrics_folder import metrics_folder

_HOLDER = """
import sys, time
from hitherto.server.metrics_folder import metrics_folder
with metrics_folder() as folder:
    print(folder, flush=True)
    time.sleep(300)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files of this test and of the processes that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_lasts_as_long_as_the_block(temporary: Path) -> None:
    """The folder is there, empty and for its owner alone, until the block ends."""
    with metrics_folder() as folder:
        assert list(Path(folder).iterdir()) == []
        assert Path(folder).parent == temporary
        assert os.name == "nt" or Path(folder).stat().st_mode & 0o777 == 0o700
        (Path(folder) / "counted.db").write_text("1")
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked there")
def test_leftovers_of_the_dead_alone_are_removed(temporary: Path) -> None:
    """The folder of a process that was killed is removed by the next; that of a living one, a link or a file is not."""
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("1")
    (temporary / "hitherto-metrics-link").symlink_to(elsewhere)
    (temporary / "hitherto-metrics-file").write_text("1")
    with subprocess.Popen([sys.executable, "-c", _HOLDER], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        (held / "counted.db").write_text("1")
        with metrics_folder():
            assert (held / "counted.db").exists()
        holder.kill()
    assert held.exists()
    with metrics_folder() as folder:
        assert {path.name for path in temporary.iterdir()} == {
            "elsewhere",
            "hitherto-metrics-file",
            "hitherto-metrics-link",
            Path(folder).name,
        }
    assert (elsewhere / "kept").exists()


@pytest.mark.skipif(os.name == "nt", reason="folders cannot be locked there")
def test_a_server_that_is_killed_leaves_nothing_for_long(temporary: Path) -> None:
    """Servers with workers use such a folder, and after the last has ended there is none."""

    def folders() -> list[Path]:
        return list(temporary.glob("hitherto-metrics-*"))

    with serving(temporary / "m.db", "--workers", "2") as server:
        (made,) = folders()
        server.kill()
    assert folders() == [made]
    with serving(temporary / "m.db", "--workers", "2") as server:
        (other,) = folders()
        assert other != made
        assert server.terminate() == 0
    assert folders() == []
