"""Responses, as OpenSearch writes them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from hitherto.server.dsl.documents import Document
from hitherto.server.dsl.fields import MESSAGES
from hitherto.server.dsl.run import Result

Profile = Literal["3.x", "2.x"]
"""Whose output and scores are given: OpenSearch 3.3 and newer, or 2.12 to 2.18."""

SHARDS: Final = {"total": 1, "successful": 1, "failed": 0}
_MEMORY_KEYS: Final = ("create_time", "updated_time", "name", "user", "additional_info")
_MESSAGE_KEYS: Final = (
    "create_time",
    "updated_time",
    "input",
    "prompt_template",
    "response",
    "origin",
    "additional_info",
    "parent_message_id",
    "trace_number",
)
_EMPTY_MESSAGE: Final[Mapping[str, Any]] = {
    "input": None,
    "prompt_template": None,
    "response": None,
    "origin": None,
    "additional_info": {},
}


def memory_object(document: Document) -> dict[str, Any]:
    """Return a memory as it is got and listed: the name also if there is none, the application never.

    Args:
        document: The memory.
    """
    shown = _chosen(document.source, _MEMORY_KEYS)
    return {"memory_id": document.id, "create_time": None, "updated_time": None, "name": None, **shown}


def message_object(document: Document, profile: Profile) -> dict[str, Any]:
    """Return a message or trace as it is got and listed.

    Args:
        document: The message.
        profile: In 2.x empty fields are shown too.
    """
    source = MESSAGES.stored(document.source, profile)
    empty = _EMPTY_MESSAGE if profile == "2.x" else {}
    shown = {
        key: empty.get(key) if source.get(key) is None else source[key]
        for key in _MESSAGE_KEYS
        if key in empty or source.get(key) is not None
    }
    return {"memory_id": source["memory_id"], "message_id": document.id, **shown}


def page(name: str, objects: list[dict[str, Any]], *, skip: int, most: int) -> dict[str, Any]:
    """Return a page of a list; a token for the next one only if this one is full.

    Args:
        name: What is listed.
        objects: The page.
        skip: How many were before it.
        most: How many fit on it.

    Examples:
        >>> page("memories", [{}], skip=2, most=1)
        {'memories': [{}], 'next_token': 3}
    """
    return {name: objects, **({"next_token": skip + most} if len(objects) == most else {})}


def update_result(index: str, document: Document) -> dict[str, Any]:
    """Return the answer to an update.

    Args:
        index: The index.
        document: The document after it.
    """
    return {
        "_index": index,
        "_id": document.id,
        "_version": document.version,
        "result": "updated",
        "forced_refresh": True,
        "_shards": dict(SHARDS),
        "_seq_no": document.seq_no,
        "_primary_term": 1,
    }


def search_result(found: Result, began: float) -> dict[str, Any]:
    """Return the answer to a search.

    Args:
        found: What was found.
        began: When it began, as time.monotonic() said.
    """
    early = {} if found.terminated_early is None else {"terminated_early": found.terminated_early}
    return {
        "took": int((time.monotonic() - began) * 1000),
        "timed_out": False,
        **early,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": found.body(),
    }


def filtered(body: Any, patterns: Iterable[str]) -> Any:
    """Return the part of a body that ``filter_path`` asks for.

    Args:
        body: The body.
        patterns: Paths with dots; ``*`` stands for any part of a key, ``**`` for any path; with ``-`` before it,
            what is left out.

    Examples:
        >>> filtered({"a": [{"b": 1, "c": 2}], "d": 3}, ["a.b"])
        {'a': [{'b': 1}]}
        >>> filtered({"a": 1, "b": {"c": 2, "d": 3}}, ["-b.c"])
        {'a': 1, 'b': {'d': 3}}
    """
    wanted = [pattern.split(".") for pattern in patterns if not pattern.startswith("-")]
    unwanted = [pattern[1:].split(".") for pattern in patterns if pattern.startswith("-")]
    kept = _kept(body, wanted) if wanted else body
    left = _dropped(kept, unwanted) if unwanted and kept is not _NOTHING else kept
    return {} if left is _NOTHING else left


_NOTHING: Final = object()


def _kept(value: Any, paths: list[list[str]]) -> Any:
    if any(not path or path == ["**"] for path in paths):
        return value
    if isinstance(value, list):
        items = [kept for item in value if (kept := _kept(item, paths)) is not _NOTHING]
        return items or _NOTHING
    if not isinstance(value, dict):
        return _NOTHING
    found = {}
    for key, item in value.items():
        rest = _below(key, paths)
        kept = _kept(item, rest) if rest else _NOTHING
        if kept is not _NOTHING:
            found[key] = kept
    return found or _NOTHING


def _dropped(value: Any, paths: list[list[str]]) -> Any:
    if isinstance(value, list):
        return [_dropped(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        rest = _below(key, paths)
        if not any(not path or path == ["**"] for path in rest):
            found[key] = _dropped(item, rest) if rest else item
    return found


def _below(key: str, paths: list[list[str]]) -> list[list[str]]:
    from fnmatch import fnmatchcase

    rest = []
    for path in paths:
        if path[0] == "**":
            rest.append(path)
            if len(path) > 1 and fnmatchcase(key, path[1]):
                rest.append(path[2:])
        elif fnmatchcase(key, path[0]):
            rest.append(path[1:])
    # Each once: "**.a.**.a" leads to the same rest in many ways, to more of them with each level.
    return [list(path) for path in dict.fromkeys(map(tuple, rest))]


def _chosen(source: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: source[key] for key in keys if source.get(key) is not None}
