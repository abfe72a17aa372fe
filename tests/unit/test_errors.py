"""Errors: one base, the builtin that a caller expects, and a message that can be shown."""

from __future__ import annotations

import pickle

import pytest

from hitherto import errors

BUILTINS = {
    errors.InvalidArgumentError: ValueError,
    errors.InvalidIdError: ValueError,
    errors.InvalidTextError: ValueError,
    errors.InvalidFilterError: ValueError,
    errors.ArgumentTypeError: TypeError,
    errors.NotFoundError: KeyError,
    errors.ConflictError: ValueError,
    errors.AlreadyStoredError: ValueError,
    errors.ClosedError: RuntimeError,
    errors.MissingExtraError: ImportError,
    errors.StoreError: RuntimeError,
    errors.SchemaError: RuntimeError,
    errors.EmbedderMismatchError: RuntimeError,
    errors.BusyError: TimeoutError,
    errors.ModelError: RuntimeError,
    errors.ModelOutputError: ValueError,
}


@pytest.mark.parametrize(("cls", "builtin"), BUILTINS.items(), ids=lambda item: item.__name__)
def test_every_error_has_our_base_and_a_builtin(cls: type[Exception], builtin: type[Exception]) -> None:
    """A caller catches either HithertoError or the builtin that fits."""
    assert issubclass(cls, errors.HithertoError)
    assert issubclass(cls, builtin)


def test_every_error_is_in_the_list() -> None:
    """No exception class of the module is missing from the test above and from the tree in the docstring."""
    found = {
        item
        for item in vars(errors).values()
        if isinstance(item, type) and issubclass(item, errors.HithertoError)
    }
    assert found - {errors.HithertoError} == set(BUILTINS)
    assert errors.__doc__ is not None
    assert [cls for cls in found if cls.__name__ not in errors.__doc__] == []


def test_not_found_shows_its_message_as_written() -> None:
    """A KeyError shows the repr of its message; ours shows the message."""
    assert str(errors.NotFoundError("no such thread")) == "no such thread"
    assert str(errors.NotFoundError()) == ""


def test_errors_name_what_they_are_about() -> None:
    """An argument's name and a record's id are attributes, not only words."""
    assert errors.InvalidIdError("bad", argument="user_id").argument == "user_id"
    assert errors.ArgumentTypeError("bad").argument is None
    assert errors.AlreadyStoredError("there", record_id="x").record_id == "x"


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidArgumentError("m", argument="a"),
        errors.ArgumentTypeError("m", argument="a"),
        errors.AlreadyStoredError("m", record_id="x"),
        errors.NotFoundError("m"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_cross_a_process(error: Exception) -> None:
    """An error that a worker process raises arrives with its message and its attributes."""
    copied = pickle.loads(pickle.dumps(error))
    assert type(copied) is type(error)
    assert (str(copied), vars(copied)) == (str(error), vars(error))


def test_shown_values_are_short() -> None:
    """Whatever came, an error message shows at most about 80 characters of it."""
    for value in ("x" * 10_000, ["y" * 1000] * 1000, {"k" * 500: 1}, object(), b"z" * 9999):
        assert len(errors.shown(value)) < 700
    assert errors.shown("short") == "'short'"


def test_an_int_of_any_size_can_be_shown() -> None:
    """Python does not spell out an int of thousands of digits; the message about one is made all the same."""
    assert len(errors.shown(10**5000)) < 100
    assert len(errors.shown([10**5000])) < 100
