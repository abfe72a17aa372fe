"""Letting ``import oracleagentmemory`` find what is here."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from hitherto.errors import ConflictError

NAME: Final = "oracleagentmemory"
OURS: Final = "hitherto.compat.oracle"


class _Finder(MetaPathFinder, Loader):
    """Finds our module under the other name; both names are one and the same module."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the other package and what is in it."""
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        ours = OURS + fullname.removeprefix(NAME)
        if importlib.util.find_spec(ours) is None:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return our module."""
        return importlib.import_module(OURS + spec.name.removeprefix(NAME))

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: our module is loaded already."""


def activate() -> None:
    """Make ``import oracleagentmemory`` find what is here, if the original is not installed.

    Calling it again does nothing.

    Raises:
        ConflictError: If the original is installed: a program must not get the one where it expects the other.

    Examples:
        >>> activate()  # doctest: +SKIP
        >>> from oracleagentmemory.core import OracleAgentMemory  # doctest: +SKIP
        >>> OracleAgentMemory.__module__  # doctest: +SKIP
        'hitherto.compat.oracle.core.oracleagentmemory'
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if NAME in sys.modules or importlib.util.find_spec(NAME) is not None:
        raise ConflictError(f"{NAME} is installed; uninstall it, or import {OURS} by its own name")
    sys.meta_path.insert(0, _Finder())


def deactivate() -> None:
    """Undo :func:`activate`; calling it again does nothing."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    # The original's own modules stay.
    ours = [name for name, module in sys.modules.items() if _is_ours(name, module)]
    for name in ours:
        del sys.modules[name]


def _is_ours(name: str, module: ModuleType | None) -> bool:
    known = getattr(module, "__name__", "")
    return (name == NAME or name.startswith(f"{NAME}.")) and known.startswith(OURS)
