"""Requests to a provider of models: bounded in time and number, and silent about the key."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hitherto._optional import require
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, ModelError, ModelOutputError, shown

if TYPE_CHECKING:
    import httpx

DEFAULT_TIMEOUT_S: Final = 60.0
DEFAULT_ATTEMPTS: Final = 3
_LONGEST_PAUSE_S: Final = 30.0
_FIRST_PAUSE_S: Final = 0.5
_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Provider:
    """An HTTP API that answers JSON with JSON.

    Args:
        api_base: Its URL, such as ``http://127.0.0.1:8080/v1``.
        api_key: What goes into the ``Authorization`` header as a bearer token; None for nothing.
        timeout_s: How long to wait for one answer, in seconds.
        max_attempts: How often one request is sent at most: again after a time-out, a lost connection, 429 or 5xx.
        headers: Further headers.
        extra: The extra that installs what is needed, for the error.

    Raises:
        ArgumentTypeError: If api_key is no str.
        InvalidArgumentError: If a value is not allowed.
        MissingExtraError: If httpx is not installed.
    """

    def __init__(
        self,
        api_base: str,
        *,
        api_key: str | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_attempts: int = DEFAULT_ATTEMPTS,
        headers: Mapping[str, str] | None = None,
        extra: str,
    ) -> None:
        _check(api_base, timeout_s, max_attempts)
        if api_key is not None and not isinstance(api_key, str):
            raise ArgumentTypeError(
                f"api_key must be a str or None, got {type(api_key).__name__}", argument="api_key"
            )
        self._httpx = require("httpx", extra=extra)
        self._base = api_base.rstrip("/")
        self._attempts = max_attempts
        sent = dict(headers or {})
        if api_key is not None:
            sent["Authorization"] = f"Bearer {api_key}"
        self._client: httpx.Client = self._httpx.Client(headers=sent, timeout=timeout_s)

    def __repr__(self) -> str:
        """Return the URL; never the key."""
        return f"{type(self).__name__}({self._base!r})"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send JSON and return the JSON of the answer.

        Args:
            path: The path below the URL.
            body: What is sent.

        Raises:
            ModelError: If the provider refuses the request, or fails at every attempt.
            ModelOutputError: If the answer is no JSON.
        """
        problem = ""
        for attempt in range(1, self._attempts + 1):
            try:
                response = self._client.post(f"{self._base}{path}", json=dict(body))
            except self._httpx.TimeoutException:
                problem, pause = "did not answer in time", None
            except self._httpx.TransportError as error:
                problem, pause = f"could not be reached ({type(error).__name__})", None
            else:
                if response.status_code < 400:
                    return _json(response)
                problem, pause = f"answered {response.status_code}{_reason(response)}", _asked_pause(response)
                if response.status_code not in _AGAIN:
                    raise RefusedError(f"{self._base} {problem}", status=response.status_code)
            if attempt < self._attempts:
                time.sleep(_pause(attempt) if pause is None else pause)
        raise ModelError(f"{self._base} {problem}, {self._attempts} times")


def _check(api_base: Any, timeout_s: Any, max_attempts: Any) -> None:
    if not isinstance(api_base, str) or not api_base.startswith(("http://", "https://")):
        raise InvalidArgumentError(
            f"api_base must be an http or https URL, got {shown(api_base)}", argument="api_base"
        )
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or timeout_s <= 0:
        raise InvalidArgumentError(
            f"timeout_s must be a number of seconds above 0, got {shown(timeout_s)}", argument="timeout_s"
        )
    if type(max_attempts) is not int or max_attempts < 1:
        raise InvalidArgumentError(
            f"max_attempts must be an int of at least 1, got {shown(max_attempts)}", argument="max_attempts"
        )


class RefusedError(ModelError):
    """A provider refused a request; sending it again would not help.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, message: str, *, status: int) -> None:
        super().__init__(message)
        self.status = status


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        raise ModelOutputError(f"the provider must answer with JSON, got {shown(response.text)}") from None


def _reason(response: httpx.Response) -> str:
    # Providers say what was wrong in error.message; some repeat the key in it, so what looks like one is left out.
    try:
        error = response.json().get("error")
    except (ValueError, AttributeError):
        return ""
    text = error.get("message") if isinstance(error, dict) else error
    if not isinstance(text, str) or "key" in text.lower() or "sk-" in text:
        return ""
    return f" ({shown(text)})"


def _asked_pause(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    try:
        return min(_LONGEST_PAUSE_S, max(0.0, float(value)))
    except ValueError:
        return None


def _pause(attempt: int) -> float:
    # Full jitter, so that many clients do not come back at the same moment.
    return random.uniform(0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (attempt - 1)))
