"""NOT_SET is one object, whatever is done to it."""

from __future__ import annotations

import copy
import pickle

from hitherto.notset import NOT_SET, NOT_SET_MARKER


def test_it_survives_copies_and_processes() -> None:
    """A copy, a deep copy and a pickle of it are the very same object, so that ``is`` always works."""
    assert NOT_SET_MARKER is NOT_SET
    assert copy.copy(NOT_SET) is NOT_SET
    assert copy.deepcopy({"k": NOT_SET})["k"] is NOT_SET
    assert pickle.loads(pickle.dumps(NOT_SET)) is NOT_SET


def test_it_is_true_and_says_its_name() -> None:
    """It is no false value to be mixed up with None, and reads as its name."""
    assert NOT_SET
    assert repr(NOT_SET) == "NOT_SET"
