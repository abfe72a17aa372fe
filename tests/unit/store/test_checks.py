"""What a store refuses before anything is written."""

from __future__ import annotations

import enum

import numpy as np
import pytest

from hitherto.characters import storable
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, InvalidIdError, InvalidTextError
from hitherto.store.checks import check_metadata, check_vector, spread
from hitherto.store.sqlite.store import SQLiteStore

SURROGATE = "a\ud800b"
NUL = "a\0b"


@pytest.mark.parametrize("bad", [NUL, SURROGATE])
@pytest.mark.parametrize(
    "given",
    [
        {"contents": ["{}"]},
        {"contents": ["x"], "metadata": {"k": "{}"}},
        {"contents": ["x"], "metadata": {"{}": 1}},
        {"contents": ["x"], "metadata": {"k": [{"deep": "{}"}]}},
        {"contents": ["x"], "roles": "{}"},
        {"contents": ["x"], "timestamps": "{}"},
        {"contents": ["x"], "index_texts": ["{}"]},
        {"contents": ["x"], "record_ids": "{}"},
        {"contents": ["x"], "thread_ids": "{}"},
        {"contents": ["x"], "user_ids": "{}"},
        {"contents": ["x"], "agent_ids": "{}"},
    ],
    ids=lambda given: "-".join(given),
)
def test_nul_and_lone_surrogates_are_refused_before_anything_is_written(
    store: SQLiteStore, given: dict[str, object], bad: str
) -> None:
    """No text that a backend cannot store gets in, wherever it stands, and its batch is not half stored."""

    def filled(value: object) -> object:
        if isinstance(value, str):
            return value.replace("{}", bad)
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {filled(key): filled(item) for key, item in value.items()}
        return value

    values = {key: filled(value) for key, value in given.items()}
    values["contents"] = ["fine", *values["contents"]]  # type: ignore[misc]  # a list by construction
    for name in ("index_texts", "record_ids"):
        if name in values:
            values[name] = ["fine", values[name][0] if name == "index_texts" else values[name]]  # type: ignore[index]
    with pytest.raises((InvalidTextError, InvalidIdError)):
        store.add(record_type="message", **values)  # type: ignore[arg-type]
    assert store.list("message") == []


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1, 2}, b"x", object(), np.float32(1), 1j])
def test_metadata_hold_json_only(bad: object) -> None:
    """A value that JSON cannot say is refused, with NaN among them."""
    with pytest.raises(InvalidArgumentError, match="metadata"):
        check_metadata({"k": [bad]})


def test_metadata_have_a_bounded_depth() -> None:
    """Metadata that are nested too deep, or that hold themselves, are refused before the stack is."""
    deep: dict[str, object] = {}
    for _ in range(199):
        deep = {"k": deep}
    assert check_metadata(deep) == deep
    for nested in ({"k": deep}, {"k": [deep]}):
        with pytest.raises(InvalidArgumentError, match="metadata must not be nested deeper than 200 levels"):
            check_metadata(nested)
    endless: dict[str, object] = {}
    endless["k"] = [endless]
    with pytest.raises(InvalidArgumentError, match="nested deeper"):
        check_metadata(endless)


@pytest.mark.parametrize("sign", [1, -1])
def test_metadata_hold_only_numbers_that_can_be_read_back(sign: int) -> None:
    """An int of more digits than Python reads from JSON is refused; one digit less is stored exactly."""
    largest = sign * (10**4300 - 1)
    assert check_metadata({"n": largest}) == {"n": largest}
    with pytest.raises(InvalidArgumentError, match="metadata must not hold an int of more than 4300 digits"):
        check_metadata({"n": [largest + sign]})


@pytest.mark.parametrize("bad", [["a"], "a", 1, {1: "a"}])
def test_metadata_are_an_object(bad: object) -> None:
    """Metadata are a JSON object with text keys, or None."""
    with pytest.raises(InvalidArgumentError, match="metadata"):
        check_metadata(bad)


def test_metadata_are_copied() -> None:
    """What a caller does with its dict later does not reach the store."""
    inner = {"a": [1]}
    checked = check_metadata({"k": inner})
    inner["a"].append(2)
    assert checked == {"k": {"a": [1]}}


def test_an_enum_that_is_text_is_stored_as_its_value() -> None:
    """What is read back equals what was given, for text enums too."""

    class Colour(str, enum.Enum):
        RED = "red"

    checked = check_metadata({"c": Colour.RED})
    assert checked == {"c": "red"}


@pytest.mark.parametrize("bad", [[[1.0]], [], [float("nan")], "abc", ["x"], None])
def test_a_vector_is_flat_and_finite(bad: object) -> None:
    """Only a non-empty flat sequence of finite numbers is a vector."""
    with pytest.raises((InvalidArgumentError, ArgumentTypeError)):
        check_vector(bad, argument="query_vector")


def test_a_vector_has_the_dimension_that_is_asked() -> None:
    """A vector of another dimension is refused, and both numbers are named."""
    with pytest.raises(InvalidArgumentError, match="3 components, got 2"):
        check_vector([1, 2], argument="query_vector", dimension=3)


def test_lists_have_one_value_per_record() -> None:
    """A list of another length is refused, and both lengths are named."""
    with pytest.raises(InvalidArgumentError, match=r"user_ids .*\(3\), got 2"):
        spread(["a", "b"], 3, argument="user_ids")


def test_any_query_text_can_be_asked() -> None:
    """What cannot be stored is replaced in a query, not refused."""
    assert storable(NUL + SURROGATE) == "a\ufffdba\ufffdb"
