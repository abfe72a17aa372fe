"""Changing a small file while others read and change it: one writer at a time, and readers see all or nothing."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hitherto.errors import BusyError

_PATIENCE_S: Final = 10.0
_OWNER_ONLY: Final = 0o600


@contextlib.contextmanager
def locked(path: Path, *, patience_s: float = _PATIENCE_S) -> Iterator[None]:
    """Keep all other writers of a file out, in this process and in others.

    Args:
        path: The file that is going to change. The lock is on a file beside it, because the file itself is replaced.
        patience_s: Seconds to wait for another writer.

    Raises:
        BusyError: If another writer does not end.

    Examples:
        >>> with locked(Path("users.json")):
        ...     replace_text(Path("users.json"), "{}")
    """
    target = Path(os.path.realpath(path))  # however many links lead to it, there is one lock
    lock_path = target.with_name(target.name + ".lock")
    descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT, _OWNER_ONLY)
    try:
        deadline = time.monotonic() + patience_s
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise BusyError(f"{path} is being changed by another process; try again")
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)  # which also unlocks


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def replace_text(path: Path, text: str) -> None:
    """Give a file a new text at one stroke: after a crash it holds the old one or the new one.

    A new file belongs to its owner alone. One that is there keeps its mode and, as far as the system lets us, its
    owner: a file changed by root must stay readable to the server.

    Args:
        path: The file; a symbolic link stays one.
        text: The whole text.
    """
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            _take_over_rights(target, name)
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _take_over_rights(target: Path, name: str) -> None:
    try:
        old = target.stat()
    except FileNotFoundError:
        return  # mkstemp has made it readable to its owner alone
    if sys.platform != "win32":
        with contextlib.suppress(PermissionError):
            os.chown(name, old.st_uid, old.st_gid)
    os.chmod(name, old.st_mode & 0o777)


def _sync_folder(folder: Path) -> None:
    if sys.platform != "win32":  # where a folder cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
