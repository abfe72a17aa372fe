"""The folder in which the workers of one server count together; what killed servers left is removed."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_PREFIX: Final = "hitherto-metrics-"


@contextmanager
def metrics_folder() -> Iterator[str]:
    """Make an empty folder that lasts as long as the block, and remove those of servers that were killed.

    Yields:
        Its path.

    Examples:
        >>> with metrics_folder() as folder:
        ...     os.listdir(folder)
        []
    """
    _remove_leftovers(Path(tempfile.gettempdir()))
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


if sys.platform == "win32":

    def _made() -> tuple[str, int | None]:
        return tempfile.mkdtemp(prefix=_PREFIX), None

    def _remove_leftovers(where: Path) -> None:
        """Remove nothing: whether a folder is in use cannot be told where folders cannot be locked."""

else:
    import fcntl

    def _made() -> tuple[str, int | None]:
        # A lock and not the process's number: numbers are used again, and mean nothing in another container.
        while True:
            folder = tempfile.mkdtemp(prefix=_PREFIX)
            with suppress(FileNotFoundError):
                lock = os.open(folder, os.O_RDONLY)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if os.path.isdir(folder):
                    return folder, lock
                os.close(lock)  # another server took it for a leftover, in the moment before it was locked

    def _remove_leftovers(where: Path) -> None:
        for path in where.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                found = path.lstat()
                if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
                    _remove_unless_locked(path)

    def _remove_unless_locked(path: Path) -> None:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
        finally:
            os.close(lock)
