"""A provider of models on loopback that answers from a script: for tests of what talks to one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Reply:
    """What the provider answers to one request.

    Attributes:
        body: A JSON value, or the text itself.
        status: The HTTP status.
        delay_s: How long it takes, in seconds.
        headers: Further headers.
        cut: Whether the connection is cut in the middle of the body.
    """

    body: Any = field(default_factory=dict)
    status: int = 200
    delay_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What was sent to the provider.

    Attributes:
        path: The path.
        headers: The headers, names in lower case.
        body: The decoded JSON.
    """

    path: str
    headers: dict[str, str]
    body: Any


def chat_reply(text: str | None, **fields: Any) -> Reply:
    """Return a reply of a chat completion.

    Args:
        text: What the model says.
        **fields: Further fields of the reply.

    Examples:
        >>> chat_reply("hello").body["choices"][0]["message"]["content"]
        'hello'
    """
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return Reply(body, **fields)


class ScriptedProvider:
    """A server on a free port of 127.0.0.1.

    Args:
        script: The replies in order, the last one again and again, or a function of the request.

    Examples:
        >>> import urllib.request
        >>> with ScriptedProvider([Reply({"ok": True})]) as provider:
        ...     request = urllib.request.Request(f"{provider.url}/x", data=b"{}")
        ...     json.load(urllib.request.urlopen(request)), provider.requests[0].path
        ({'ok': True}, '/v1/x')
    """

    def __init__(self, script: Sequence[Reply] | Callable[[Request], Reply]) -> None:
        self._script = script if callable(script) else list(script)
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = json.loads(self.rfile.read(length) or b"null")
                names = {name.lower(): value for name, value in self.headers.items()}
                provider._answer(self, Request(self.path, names, body))

            def log_message(self, format: str, *args: Any) -> None:
                """Stay silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The URL up to ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            if callable(self._script):
                reply = self._script(request)
            else:
                reply = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        if reply.delay_s:
            time.sleep(reply.delay_s)
        body = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
        try:
            handler.send_response(reply.status)
            handler.send_header("content-type", "application/json")
            handler.send_header("content-length", str(len(body)))
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(body[: len(body) // 2] if reply.cut else body)
        except OSError:
            return  # whoever asked did not wait
        if reply.cut:
            handler.close_connection = True
