"""Fixtures of every test: one async backend, the given vectors; the root conftest.py blocks the network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("hitherto.testing.conformance")

settings.register_profile(
    "ci",
    max_examples=40,
    deadline=None,  # a slow machine is not a failing test
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", parent=settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

collect_ignore = ["typing"]  # programs for the type checker, not to be run

_PROJECT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that need a real model or the network, unless ``-m`` asks for them."""
    if config.option.markexpr:
        return
    left_out = [
        item for item in items if item.get_closest_marker("llm") or item.get_closest_marker("network")
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_sessionfinish() -> None:
    """End the PostgreSQL server of this process, if a test has started one."""
    postgres = sys.modules.get("tests.postgres")
    if postgres is not None:
        postgres.shut_down()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio."""
    return "asyncio"


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Return the folder with recorded behaviour and public data sets, if it is at hand."""
    given = os.environ.get("HITHERTO_REFERENCE_DATA")
    folder = Path(given) if given else _PROJECT.parent / "shared"
    if not (folder / "vectors").is_dir():
        pytest.skip("no reference data; set HITHERTO_REFERENCE_DATA to its folder")
    return folder
