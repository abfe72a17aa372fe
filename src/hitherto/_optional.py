"""Optional dependencies: imported when used, and missed with a message that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from hitherto.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType


def require(module: str, *, extra: str) -> ModuleType:
    """Import a module that only an extra installs.

    Args:
        module: The module's full name.
        extra: The extra of this package that installs it.

    Returns:
        The module.

    Raises:
        MissingExtraError: If the module is not installed.

    Examples:
        >>> require("json", extra="server").loads("1")
        1
        >>> require("no_such_module", extra="server")
        Traceback (most recent call last):
            ...
        hitherto.errors.MissingExtraError: no_such_module is not installed; run: pip install 'hitherto[server]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, but something that it needs is not
        raise MissingExtraError(f"{module} is not installed; run: pip install 'hitherto[{extra}]'") from error
