"""Who touched which memory: one line of JSON for each request, never with content.

Lines are only ever appended, each by one write to a file opened for appending, so that several workers may share a
file, and what one wrote never ends up inside the line of another. A file that was moved away, as by logrotate, is
opened anew at the next line.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hitherto.enums import TextEnum
from hitherto.lifetime import Clock, format_time, utc_now

log = logging.getLogger("hitherto.server")

_MEMORY: Final = "cluster:admin/opensearch/ml/memory"
_MOST_CHARACTERS: Final = 256


class Action(TextEnum):
    """What a request does, by the name that the original knows it by."""

    CREATE_MEMORY = f"{_MEMORY}/conversation/create"
    GET_MEMORY = f"{_MEMORY}/conversation/get"
    LIST_MEMORIES = f"{_MEMORY}/conversation/list"
    UPDATE_MEMORY = f"{_MEMORY}/conversation/update"
    DELETE_MEMORY = f"{_MEMORY}/conversation/delete"
    SEARCH_MEMORIES = f"{_MEMORY}/conversation/search"
    CREATE_MESSAGE = f"{_MEMORY}/interaction/create"
    GET_MESSAGE = f"{_MEMORY}/interaction/get"
    LIST_MESSAGES = f"{_MEMORY}/interaction/list"
    UPDATE_MESSAGE = f"{_MEMORY}/interaction/update"
    SEARCH_MESSAGES = f"{_MEMORY}/conversation/interaction/search"
    LIST_TRACES = f"{_MEMORY}/trace/get"


class AuditLog:
    """Writes a line for each request.

    A line that cannot be written, as on a full disk, is told to the log and counted; the request goes on.

    Args:
        target: A file; "-" for standard error; None for no audit.
        clock: The present time.

    Attributes:
        lost: How many lines could not be written.

    Raises:
        OSError: If the file cannot be opened.

    Examples:
        >>> audit = AuditLog("audit.jsonl")
        >>> audit.record(Action.GET_MEMORY, status=200, user="mia", address="192.0.2.1", memory_id="m1")
        >>> audit.close()
        >>> print(Path("audit.jsonl").read_text(), end="")
        {"time": "...", "user": "mia", "address": "192.0.2.1",
        "action": "cluster:admin/opensearch/ml/memory/conversation/get",
        "memory_id": "m1", "message_id": null, "status": 200}
    """

    def __init__(self, target: str | os.PathLike[str] | None, *, clock: Clock = utc_now) -> None:
        self.lost = 0
        self._clock = clock
        self._write: Callable[[bytes], None] | None = None
        self._file: _AppendedFile | None = None
        if target == "-":
            self._write = _to_stderr
        elif target is not None:
            self._file = _AppendedFile(Path(target))
            self._write = self._file.write

    def record(
        self,
        action: Action,
        *,
        status: int,
        user: str | None = None,
        address: str | None = None,
        memory_id: str | None = None,
        message_id: str | None = None,
    ) -> None:
        """Write a line. Safe to call from any thread.

        Args:
            action: What was asked for.
            status: The HTTP status that answered it.
            user: Who asked; None where users are not told apart, or were not let in.
            address: The peer's address; None for a Unix socket.
            memory_id: The memory that is concerned, as it was named.
            message_id: The message that is concerned, as it was named.
        """
        if self._write is None:
            return
        line = {
            "time": format_time(self._clock()),
            "user": _short(user),
            "address": _short(address),
            "action": action.value,
            "memory_id": _short(memory_id),
            "message_id": _short(message_id),
            "status": status,
        }
        try:
            # Everything but ASCII is escaped: nothing in an id can end the line or move a terminal's cursor.
            self._write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
        except OSError as error:
            self.lost += 1
            log.error("a line of the audit log was lost: %s", error.strerror)  # noqa: TRY400  a trace tells no more

    def close(self) -> None:
        """Close the file. What is recorded afterwards is an error."""
        if self._file is not None:
            self._file.close()


def _short(text: str | None) -> str | None:
    # An id that was asked for need not be one: it may be as long as an address may be.
    return text if text is None or len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"


def _to_stderr(line: bytes) -> None:
    sys.stderr.write(line.decode())
    sys.stderr.flush()


class _AppendedFile:
    """A file that is only appended to, and opened anew when it was moved away."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._torn = False
        self._descriptor = self._opened()

    def write(self, line: bytes) -> None:
        with self._lock:
            if not self._is_in_place():
                descriptor = self._opened()
                os.close(self._descriptor)
                self._descriptor, self._torn = descriptor, False
            if self._torn:  # a full disk has cut the line before
                line = b"\n" + line
            written = os.write(self._descriptor, line)
            self._torn = written < len(line) if written else self._torn
            if written < len(line):
                raise OSError(None, "the disk took only a part of it")

    def close(self) -> None:
        with self._lock:
            os.close(self._descriptor)

    def _opened(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def _is_in_place(self) -> bool:
        with contextlib.suppress(OSError):
            return os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        return False
