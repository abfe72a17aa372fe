"""Every public name, parameter, default and enum value of the reference is here, but for a table of differences."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hitherto.compat.oracle.differences import DIFFERENT_DEFAULTS, NOT_HERE
from hitherto.notset import NOT_SET

reference = pytest.importorskip("oracleagentmemory", reason="the reference package is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


def modules() -> list[str]:
    """Return the public modules of the reference, without its name in front."""
    found = [""]
    for item in pkgutil.walk_packages(reference.__path__, "oracleagentmemory."):
        parts = item.name.split(".")[1:]
        if not any(part.startswith("_") for part in parts):
            found.append(".".join(parts))
    return found


def public(module: types.ModuleType) -> dict[str, Any]:
    """Return what a module of the reference offers: what it lists, or else what it defines."""
    listed = getattr(module, "__all__", None)
    names = listed if listed is not None else [name for name in vars(module) if not name.startswith("_")]
    return {
        name: getattr(module, name)
        for name in names
        if listed is not None or getattr(getattr(module, name), "__module__", None) == module.__name__
    }


def pair(module: str) -> tuple[types.ModuleType, types.ModuleType]:
    """Return a module of the reference and ours of the same path."""
    tail = f".{module}" if module else ""
    return importlib.import_module(f"oracleagentmemory{tail}"), importlib.import_module(
        f"hitherto.compat.oracle{tail}"
    )


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods, properties and enum values of a class of the reference."""
    for name in dir(cls):
        if not name.startswith("_") and getattr(cls, name, None) is not getattr(object, name, None):
            yield name, inspect.getattr_static(cls, name)


def differences_of(path: str, theirs: Any, ours: Any) -> list[str]:
    """Return what is missing of a callable's parameters and defaults."""
    try:
        wanted = inspect.signature(theirs).parameters
        offered = inspect.signature(ours).parameters
    except (TypeError, ValueError):
        return []
    takes_any = any(one.kind is one.VAR_KEYWORD for one in offered.values())
    found = []
    for name, parameter in wanted.items():
        if name in ("self", "cls") or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if name not in offered:
            if not takes_any:
                found.append(f"{path}({name})")
            continue
        if parameter.default is not parameter.empty and not same(parameter.default, offered[name].default):
            found.append(f"{path}({name}) default")
    return found


def same(theirs: Any, ours: Any) -> bool:
    """Return whether two defaults mean the same."""
    if type(theirs).__name__ == "_NotSetMarker":
        return ours is NOT_SET
    if isinstance(theirs, enum.Enum):
        return isinstance(ours, enum.Enum) and theirs.value == ours.value
    if dataclasses.is_dataclass(theirs) or "factory" in repr(theirs):
        return ours is not inspect.Parameter.empty
    return bool(theirs == ours)


def walk() -> list[str]:
    """Return every name that is missing or different."""
    found = []
    for module in modules():
        try:
            theirs, ours = pair(module)
        except ModuleNotFoundError as error:
            found.append(f"{module}: {error}")
            continue
        for name, value in public(theirs).items():
            found += compared(f"{module}.{name}".lstrip("."), value, getattr(ours, name, None))
    return found


def compared(path: str, theirs: Any, ours: Any) -> list[str]:
    """Return what is missing or different of one name."""
    if ours is None:
        return [path]
    if not isinstance(theirs, type):
        return differences_of(path, theirs, ours) if callable(theirs) else []
    if issubclass(theirs, enum.Enum):
        values = {one.name: one.value for one in ours}
        return [f"{path}.{one.name}" for one in theirs if values.get(one.name) != one.value]
    found = differences_of(path, theirs, ours)
    for member, static in members(theirs):
        if not hasattr(ours, member) and member not in getattr(ours, "__annotations__", {}):
            found.append(f"{path}.{member}")
        elif inspect.isfunction(static):
            found += differences_of(f"{path}.{member}", static, getattr(ours, member))
    return found


def entry(found: str) -> str:
    """Return the entry of the table that covers a difference, or the difference itself."""
    table = DIFFERENT_DEFAULTS if found.endswith(" default") else NOT_HERE
    path = found.removesuffix(" default")
    return next((name for name in table if f".{path}".endswith(f".{name}")), found)


def test_every_name_is_here() -> None:
    """The walk finds what the table of differences names, and nothing else."""
    assert {entry(found) for found in walk()} == {*NOT_HERE, *DIFFERENT_DEFAULTS}


def test_the_walk_sees_what_is_missing() -> None:
    """Taking a parameter away, or another default, is found."""

    def theirs(one: int, two: str = "a") -> None: ...
    def without(one: int) -> None: ...
    def other(one: int, two: str = "b") -> None: ...

    assert differences_of("f", theirs, without) == ["f(two)"]
    assert differences_of("f", theirs, other) == ["f(two) default"]
    assert differences_of("f", theirs, theirs) == []


def test_a_new_name_is_in_no_entry() -> None:
    """An entry covers the one name that it spells out, and a default or a missing name, not both."""
    for found in (
        "core.OracleThread(something_new)",
        "core.OracleThread(user_id) default",
        "core.OracleMemoryStore.search(something_new) default",
        "core.OracleAgentMemory.search(user_id) default",
    ):
        assert entry(found) == found


def test_the_documentation_shows_the_table() -> None:
    """Every difference stands in the guide with its reason."""
    guide = (Path(__file__).parents[3] / "docs" / "migrating-from-oracle.md").read_text()
    for name, reason in {**NOT_HERE, **DIFFERENT_DEFAULTS}.items():
        shown = name.partition("(")[0].rpartition(".")[2]
        assert any(f"`{shown}`" in line and reason in line for line in guide.splitlines()), name
