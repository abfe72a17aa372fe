"""The public names: listed, sorted, resolvable, documented, and twins of each other."""

from __future__ import annotations

import importlib
import inspect
import re

import pytest
from tests.house.project import ROOT

import hitherto

_CLASSES = sorted(
    name for name in hitherto.__all__ if (name[0].isupper() and not name.isupper()) or name == "LLM"
)

#: Blocking methods without a twin, and why.
NO_TWIN = {
    "add_write_step": "it only notes what is to be called",
    "change_within": "it runs inside a transaction, which is one thread's",
    "close": "it only lets go of handles, and must work where no event loop runs any more",
    "format_content": "it renders what is already in memory",
    "fingerprint": "it only names the model",
}


def _class(name: str) -> type:
    value = getattr(hitherto, name)
    assert isinstance(value, type)
    return value


def _methods(cls: type) -> dict[str, object]:
    """Return the public functions of a class, inherited ones too, but not its properties or class methods."""
    return {
        name: member
        for name, member in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_")
    }


def _sort_key(name: str) -> tuple[int, str]:
    """Order names as the linter orders ``__all__``: constants, then classes, then functions."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, name


def test_all_is_the_table() -> None:
    """``__all__`` lists exactly the names of the lazy table and the version, each once."""
    assert set(hitherto.__all__) == {*hitherto._MODULE_OF, "__version__"}
    assert len(hitherto.__all__) == len(set(hitherto.__all__))


def test_all_is_sorted() -> None:
    """Public names are sorted, so that two people who add one do not meet."""
    assert list(hitherto.__all__) == sorted(hitherto.__all__, key=_sort_key)
    assert list(hitherto._MODULE_OF) == sorted(hitherto._MODULE_OF)


@pytest.mark.parametrize("name", hitherto.__all__)
def test_name_resolves(name: str) -> None:
    """Every public name can be had, and is listed by ``dir``."""
    assert getattr(hitherto, name) is not None
    assert name in dir(hitherto)


def test_unknown_name_is_an_attribute_error() -> None:
    """A name that does not exist is refused like in any other module."""
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = hitherto.Nothing


def test_version_is_the_one_of_the_project() -> None:
    """The version in the package is the one that is built."""
    declared = re.search(
        r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert declared is not None
    assert hitherto.__version__ == declared[1]


@pytest.mark.parametrize("name", _CLASSES)
def test_public_class_has_a_docstring(name: str) -> None:
    """Every public class says what it is."""
    assert inspect.cleandoc(_class(name).__doc__ or "")


@pytest.mark.parametrize("module", sorted(set(hitherto._MODULE_OF.values())))
def test_public_module_is_in_the_reference(module: str) -> None:
    """Every module with public names is shown by a page of the reference."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = {
        f"hitherto.{module}",
        *(f"hitherto.{module}.{n}" for n, m in hitherto._MODULE_OF.items() if m == module),
    }
    assert shown & set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))


@pytest.mark.parametrize("name", _CLASSES)
def test_every_blocking_method_has_a_twin(name: str) -> None:
    """A class with one awaitable method has one for each blocking method."""
    methods = _methods(_class(name))
    if not any(method.endswith("_async") for method in methods):
        assert name not in {"AgentMemory", "Embedder", "LLM", "MemoryStore", "Reranker", "Thread"}
        return
    blocking = {method for method in methods if not method.endswith("_async")}
    assert {method for method in blocking - set(NO_TWIN) if f"{method}_async" not in methods} == set()


@pytest.mark.parametrize("name", _CLASSES)
def test_twins_have_the_same_parameters(name: str) -> None:
    """An awaitable method takes what its blocking twin takes, by the same names, with the same defaults."""
    methods = _methods(_class(name))
    pairs = {
        method: methods[method.removesuffix("_async")] for method in methods if method.endswith("_async")
    }
    different = {
        twin
        for twin, blocking in pairs.items()
        if inspect.signature(methods[twin]).parameters != inspect.signature(blocking).parameters  # type: ignore[arg-type]  # functions, as filtered above
    }
    assert different == set()


@pytest.mark.parametrize("name", _CLASSES)
def test_twins_are_awaitable(name: str) -> None:
    """A method whose name ends in ``_async`` is a coroutine function, and no other is."""
    kinds = {method: inspect.iscoroutinefunction(member) for method, member in _methods(_class(name)).items()}
    assert {method for method, awaitable in kinds.items() if awaitable != method.endswith("_async")} == set()


def test_errors_all_share_one_base() -> None:
    """Every public exception can be caught as HithertoError."""
    errors = importlib.import_module("hitherto.errors")
    exceptions = [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert all(issubclass(value, hitherto.HithertoError) for value in exceptions)
    assert {value.__name__ for value in exceptions} <= set(hitherto.__all__)
