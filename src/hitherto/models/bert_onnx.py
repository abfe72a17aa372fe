"""Runs a BERT in ONNX form on this machine's processor."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hitherto._optional import require
from hitherto.errors import InvalidArgumentError, ModelError, shown

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

_BATCH_TOKENS: Final = 4096
_BATCH_TEXTS: Final = 32


class BertOnnx:
    """A BERT whose inputs are token numbers, the attention mask and token types.

    Args:
        path: The model's file.
        threads: How many threads one run uses, or None for all cores.

    Raises:
        InvalidArgumentError: If threads is neither None nor a positive int.
        MissingExtraError: If onnxruntime is not installed.
        ModelError: If the file is no such model.
    """

    def __init__(self, path: Path, *, threads: int | None = None) -> None:
        if threads is not None and (type(threads) is not int or threads < 1):
            raise InvalidArgumentError(
                f"threads must be an int of at least 1, or None, got {shown(threads)}", argument="threads"
            )
        self._path = path
        self._threads = threads
        self._lock = threading.Lock()
        self._runtime = require("onnxruntime", extra="local")
        self._errors = _errors_of(self._runtime)
        self._session = self._load()
        self._abandoned: list[Any] = []  # freeing a parent's session would wait for its threads
        self._process = os.getpid()
        self._inputs = {given.name for given in self._session.get_inputs()}
        if "input_ids" not in self._inputs:
            raise ModelError(f"{path} is no BERT: its inputs are {sorted(self._inputs)}, without input_ids")

    @property
    def output_shape(self) -> tuple[int | str | None, ...]:
        """The shape of the first output; named and open dimensions are no numbers."""
        return tuple(self._session.get_outputs()[0].shape)

    def run(
        self, sequences: Sequence[Sequence[int]], first_lengths: Sequence[int] | None = None
    ) -> Iterator[tuple[list[int], NDArray[np.float32]]]:
        """Run the model over token sequences, similar lengths together.

        Args:
            sequences: The token numbers of each text.
            first_lengths: For pairs, how many numbers of each sequence belong to its first text.

        Yields:
            The indices of a batch, and the model's first output for it.

        Raises:
            ModelError: If the runtime fails.
        """
        for batch in _batches([len(sequence) for sequence in sequences]):
            yield batch, self._run_batch(batch, sequences, first_lengths)

    def _run_batch(
        self, batch: list[int], sequences: Sequence[Sequence[int]], first_lengths: Sequence[int] | None
    ) -> NDArray[np.float32]:
        width = max(len(sequences[index]) for index in batch)
        ids, mask, types = np.zeros((3, len(batch), width), dtype=np.int64)
        for row, index in enumerate(batch):
            length = len(sequences[index])
            ids[row, :length] = sequences[index]
            mask[row, :length] = 1
            if first_lengths is not None:
                types[row, first_lengths[index] : length] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        try:
            output = self._current_session().run(
                None, {name: value for name, value in feed.items() if name in self._inputs}
            )[0]
        except self._errors as error:
            raise ModelError(f"{self._path.name} failed on {len(batch)} texts: {error}") from error
        return np.asarray(output, dtype=np.float32)

    def _current_session(self) -> Any:
        # The runtime's threads do not survive a fork; a child process loads the model again.
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._abandoned.append(self._session)
                    self._session = self._load()
                    self._process = os.getpid()
        return self._session

    def _load(self) -> Any:
        options = self._runtime.SessionOptions()
        options.log_severity_level = 3
        if self._threads is not None:
            options.intra_op_num_threads = self._threads
        try:
            return self._runtime.InferenceSession(
                str(self._path), options, providers=["CPUExecutionProvider"]
            )
        except self._errors as error:
            raise ModelError(f"{self._path} cannot be loaded: {error}") from error


def _errors_of(runtime: ModuleType) -> tuple[type[Exception], ...]:
    # The runtime raises classes of its own that share no base but Exception.
    found = vars(runtime.capi.onnxruntime_pybind11_state).values()
    own = [value for value in found if isinstance(value, type) and issubclass(value, Exception)]
    return (RuntimeError, *own)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield indices in batches of similar length, each bounded in texts and in tokens with padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        # Ascending, so that the newest is the longest and sets the padding.
        if batch and (len(batch) == _BATCH_TEXTS or (len(batch) + 1) * lengths[index] > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
