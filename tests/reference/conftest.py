"""The backend that the recorded programs run on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.reference import backends


@pytest.fixture(params=["sqlite", "postgres"])
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the tests of a module on each backend; it marks itself with ``usefixtures``."""
    with backends.chosen(request.param):
        yield request.param
