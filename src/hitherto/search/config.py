"""How a search is to go on after retrieval: what a client, a thread or a call may configure."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final, Literal, TypeAlias

from hitherto.enums import TextEnum
from hitherto.errors import ArgumentTypeError, InvalidArgumentError, shown
from hitherto.models.base import LLM, Reranker
from hitherto.notset import NOT_SET, NotSetType

MAX_RESULTS: Final = 1000
DEFAULT_RESULTS: Final = 10
MAX_PROBE_POINTS: Final = 16
DEFAULT_PROBE_POINTS: Final = 3
DEFAULT_PROTECTED_FRACTION: Final = 0.1
SMALL_BUDGET: Final = 1000

OnError: TypeAlias = Literal["raise", "keep"]
TokenCounter: TypeAlias = Callable[[str], int]


class PruningEvaluationMode(TextEnum):
    """How many of the results a pruner judges: FAST the fewest, EXHAUSTIVE every one."""

    FAST = "fast"
    EXTENDED = "extended"
    EXHAUSTIVE = "exhaustive"


@dataclass
class MemorySearchConfig:
    """What holds for every search: how much text it may return.

    Attributes:
        token_budget: The most tokens that all results have together; None or <= 0 for no bound.
        soft_token_budget: As many tokens as are wanted; the result that reaches it is the last one.
        token_counter: Counts the tokens of a rendered result; by default its characters divided by 3.5.

    Raises:
        ArgumentTypeError: If token_counter cannot be called.
        InvalidArgumentError: If a budget is neither an int nor None.

    Examples:
        >>> MemorySearchConfig(token_budget=2000).token_budget
        2000
    """

    kind: ClassVar[str] = "top_k"

    token_budget: int | None | NotSetType = NOT_SET
    soft_token_budget: int | None | NotSetType = NOT_SET
    token_counter: TokenCounter | NotSetType = field(default=NOT_SET, kw_only=True)

    def __post_init__(self) -> None:
        """Check the fields."""
        for name in ("token_budget", "soft_token_budget"):
            value = getattr(self, name)
            if value is not NOT_SET and value is not None and type(value) is not int:
                raise InvalidArgumentError(
                    f"{name} must be an int or None, got {shown(value)}", argument=name
                )
        budget = self.token_budget
        if isinstance(budget, int) and 0 < budget < SMALL_BUDGET:
            warnings.warn(
                f"token_budget {budget} is below {SMALL_BUDGET}: few results will fit",
                UserWarning,
                stacklevel=3,
            )
        if self.token_counter is not NOT_SET and not callable(self.token_counter):
            raise ArgumentTypeError(
                f"token_counter must be callable, got {shown(self.token_counter)}", argument="token_counter"
            )

    def to_payload(self) -> dict[str, Any]:
        """Return the configuration as a JSON object to be stored; models and functions are left out."""
        payload: dict[str, Any] = {"type": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, enum.Enum) and value is not NOT_SET:
                value = value.value
            if value is not NOT_SET and item.name not in _NOT_STORED:
                payload[item.name] = value
        return payload


_NOT_STORED: Final = frozenset({"reranker", "pruner", "token_counter"})


@dataclass
class RerankingSearchConfig(MemorySearchConfig):
    """What configurations with a reranker share.

    Attributes:
        reranker: Reorders the results, or None.
        reranker_max_candidates: How many candidates it sees. More than the results that are wanted are
            retrieved for it, so that it can bring in what retrieval ranked too low.
        reranker_on_error: "raise" an error of the reranker, or "keep" the retrieved order with a warning.
        reranker_blend: The reranker's share of the final order, 0 to 1; by default 1, the reranker's alone. For
            blending its scores are spread over 0 to 1.
        reranker_shows_speaker: Whether it sees who said a message, as "Mia: ..."; by default only what was said.
    """

    reranker: Reranker | None | NotSetType = NOT_SET
    reranker_max_candidates: int | NotSetType = NOT_SET
    reranker_on_error: OnError | NotSetType = field(default=NOT_SET, kw_only=True)
    reranker_blend: float | NotSetType = field(default=NOT_SET, kw_only=True)
    reranker_shows_speaker: bool | NotSetType = field(default=NOT_SET, kw_only=True)

    def __post_init__(self) -> None:
        """Check the fields."""
        super().__post_init__()
        if self.reranker not in (NOT_SET, None) and not _has_method(self.reranker, "rerank"):
            raise ArgumentTypeError(
                f"reranker must be a Reranker or None, got {shown(self.reranker)}", argument="reranker"
            )
        _check_count(self.reranker_max_candidates, "reranker_max_candidates", MAX_RESULTS)
        if self.reranker_on_error not in (NOT_SET, "raise", "keep"):
            raise InvalidArgumentError(
                f'reranker_on_error must be "raise" or "keep", got {shown(self.reranker_on_error)}',
                argument="reranker_on_error",
            )
        _check_fraction(self.reranker_blend, "reranker_blend")
        shows = self.reranker_shows_speaker
        if shows is not NOT_SET and not isinstance(shows, bool):
            raise InvalidArgumentError(
                f"reranker_shows_speaker must be True or False, got {shown(shows)}",
                argument="reranker_shows_speaker",
            )


@dataclass
class TopKMemorySearchConfig(RerankingSearchConfig):
    """The best k results, in the order of retrieval or of a reranker.

    Attributes:
        max_results: The most results, 1 to 1000; by default 10.

    Raises:
        ArgumentTypeError: If reranker is no reranker.
        InvalidArgumentError: If a number is out of bounds.

    Examples:
        >>> TopKMemorySearchConfig(max_results=5).to_payload()
        {'type': 'top_k', 'max_results': 5}
    """

    max_results: int | NotSetType = NOT_SET

    def __post_init__(self) -> None:
        """Check the fields."""
        super().__post_init__()
        _check_count(self.max_results, "max_results", MAX_RESULTS)


@dataclass
class PruningMemorySearchConfig(RerankingSearchConfig):
    """Results from which a language model removes what does not help to answer the query.

    Attributes:
        evaluation_mode: How many results are judged; FAST by default.
        num_probe_points: At how many places FAST and EXTENDED judge two neighbours, 1 to 16; by default 3.
        protected_fraction: The share of the best results that is never removed, 0 to 1; by default 0.1.
        pruner: The model that judges; required.

    Raises:
        ArgumentTypeError: If pruner is no language model, reranker no reranker, or evaluation_mode no
            PruningEvaluationMode.
        InvalidArgumentError: If a number is out of bounds, or num_probe_points is given with EXHAUSTIVE.
    """

    kind: ClassVar[str] = "pruning"

    evaluation_mode: PruningEvaluationMode | NotSetType = NOT_SET
    num_probe_points: int | NotSetType = NOT_SET
    protected_fraction: float | NotSetType = NOT_SET
    pruner: LLM = field(kw_only=True)

    def __post_init__(self) -> None:
        """Check the fields."""
        super().__post_init__()
        if not _has_method(self.pruner, "generate"):
            raise ArgumentTypeError(f"pruner must be an LLM, got {shown(self.pruner)}", argument="pruner")
        mode = self.evaluation_mode
        if mode is not NOT_SET and not isinstance(mode, PruningEvaluationMode):
            raise ArgumentTypeError(
                f"evaluation_mode must be a PruningEvaluationMode, got {shown(mode)}",
                argument="evaluation_mode",
            )
        _check_count(self.num_probe_points, "num_probe_points", MAX_PROBE_POINTS)
        if mode is PruningEvaluationMode.EXHAUSTIVE and self.num_probe_points is not NOT_SET:
            raise InvalidArgumentError(
                "num_probe_points must not be given with EXHAUSTIVE, which judges every result; "
                f"got {self.num_probe_points}",
                argument="num_probe_points",
            )
        _check_fraction(self.protected_fraction, "protected_fraction")


def checked_config(config: object) -> MemorySearchConfig:
    """Return what was given as ``search_config``.

    Raises:
        ArgumentTypeError: If it is no configuration.
    """
    if not isinstance(config, MemorySearchConfig):
        raise ArgumentTypeError(
            f"search_config must be a MemorySearchConfig, got {shown(config)}", argument="search_config"
        )
    return config


def _has_method(value: object, name: str) -> bool:
    return callable(getattr(value, name, None)) and not isinstance(value, type)


def _check_count(value: object, name: str, most: int) -> None:
    if value is not NOT_SET and (type(value) is not int or not 1 <= value <= most):
        raise InvalidArgumentError(
            f"{name} must be an int from 1 to {most}, got {shown(value)}", argument=name
        )


def _check_fraction(value: object, name: str) -> None:
    if value is NOT_SET:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise InvalidArgumentError(f"{name} must be a number from 0 to 1, got {shown(value)}", argument=name)


def config_from_payload(
    payload: object, runtime: MemorySearchConfig, *, pruner: LLM | None = None
) -> MemorySearchConfig:
    """Return the configuration that was stored with a thread, with the models of the running program.

    Args:
        payload: What :meth:`MemorySearchConfig.to_payload` returned; None for nothing stored.
        runtime: The client's own configuration, which lends its reranker, pruner and token counter.
        pruner: What prunes if that configuration has no pruner.

    Returns:
        The stored configuration. Where it prunes and there is no pruner, a configuration of the best k with the
        same reranking and budgets, with a warning: opening a thread never fails for want of a model.

    Examples:
        >>> config_from_payload({"type": "top_k", "max_results": 5}, TopKMemorySearchConfig())
        TopKMemorySearchConfig(token_budget=NOT_SET, soft_token_budget=NOT_SET, token_counter=NOT_SET, ...)
    """
    if not isinstance(payload, dict):
        return runtime
    target: type[MemorySearchConfig] = TopKMemorySearchConfig
    models: dict[str, Any] = {"token_counter": runtime.token_counter}
    if isinstance(runtime, RerankingSearchConfig):
        models["reranker"] = runtime.reranker
    if payload.get("type") == PruningMemorySearchConfig.kind:
        lent = runtime.pruner if isinstance(runtime, PruningMemorySearchConfig) else pruner
        if lent is not None:
            target = PruningMemorySearchConfig
            models["pruner"] = lent
        else:
            warnings.warn(
                "this thread was stored with pruning, but the client has no pruner: results are not pruned",
                RuntimeWarning,
                stacklevel=3,
            )
    known = {item.name for item in fields(target)} - _NOT_STORED
    stored = {name: value for name, value in payload.items() if name in known}
    if isinstance(stored.get("evaluation_mode"), str):
        stored["evaluation_mode"] = PruningEvaluationMode(stored["evaluation_mode"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return target(**stored, **models)
