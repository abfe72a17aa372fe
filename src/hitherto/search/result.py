"""One result of a search, and how it is rendered for a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from hitherto.errors import InvalidArgumentError, shown
from hitherto.messages import content_text
from hitherto.notset import NOT_SET, NotSetType
from hitherto.records import Record, RecordStatus
from hitherto.search.render import FormatOptions, render_result

if TYPE_CHECKING:
    from hitherto.relations import RecordRelation
    from hitherto.search.explain import Explanation

_DEFAULTS: Final = FormatOptions(
    include_invalid_results=True,
    show_thread_id=False,
    show_distance=False,
    show_timestamp=True,
    show_role=True,
    show_user_id=False,
    show_agent_id=False,
    show_status=True,
    show_metadata=False,
)


@dataclass(frozen=True)
class SearchResultFormatConfig:
    """What the rendering of a result shows; an omitted option falls back to the result's own, then to the default.

    Attributes:
        include_invalid_results: Whether the content of invalid records is shown; default True.
        show_thread_id: Whether the thread's id is shown; default False.
        show_distance: Whether the relevance is shown, which is 1 - distance; default False.
        show_timestamp: Whether the record's time is shown; default True.
        show_role: Whether a message's role is shown; default True.
        show_user_id: Whether the user's id is shown; default False.
        show_agent_id: Whether the agent's id is shown; default False.
        show_status: Whether the status is shown; default True.
        show_metadata: Whether the metadata are shown; default False.

    Raises:
        InvalidArgumentError: If an option is not a bool.

    Examples:
        >>> SearchResultFormatConfig(show_user_id=True).show_user_id
        True
    """

    include_invalid_results: bool | NotSetType = NOT_SET
    show_thread_id: bool | NotSetType = NOT_SET
    show_distance: bool | NotSetType = NOT_SET
    show_timestamp: bool | NotSetType = NOT_SET
    show_role: bool | NotSetType = NOT_SET
    show_user_id: bool | NotSetType = NOT_SET
    show_agent_id: bool | NotSetType = NOT_SET
    show_status: bool | NotSetType = NOT_SET
    show_metadata: bool | NotSetType = NOT_SET

    def __post_init__(self) -> None:
        """Check the options."""
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not NOT_SET and not isinstance(value, bool):
                raise InvalidArgumentError(
                    f"{item.name} must be True or False, got {shown(value)}", argument=item.name
                )


DEFAULT_FORMAT: Final = SearchResultFormatConfig()


class SearchResult:
    """One result of a search: a record, how far it is from the query, and what is linked to it.

    Args:
        distance: How far the record is from the query; smaller is nearer.
        record: The record.
        id: The result's id; by default the record's.
        linked_results: What is linked, as (relation, result) pairs.
        format_config: How the result is rendered by default.
        explanation: Why the result is there, if that was asked for.

    Examples:
        >>> from hitherto.records import FactRecord
        >>> print(SearchResult(0.2, FactRecord("f1", content="Ana plays the cello")).formatted_content)
        <fact>
          <record_id>f1</record_id>
          <status>valid</status>
          <content>Ana plays the cello</content>
        </fact>
    """

    __slots__ = ("_distance", "_explanation", "_format_config", "_id", "_linked_results", "_record")

    def __init__(
        self,
        distance: float,
        record: Record,
        *,
        id: str | None = None,
        linked_results: Iterable[tuple[RecordRelation, SearchResult]] | None = None,
        format_config: SearchResultFormatConfig = DEFAULT_FORMAT,
        explanation: Explanation | None = None,
    ) -> None:
        self._distance = distance
        self._record = record
        self._id = record.id if id is None else id
        self._linked_results = list(linked_results or ())
        self._format_config = _checked(format_config)
        self._explanation = explanation

    @property
    def id(self) -> str:
        """The result's id."""
        return self._id

    @property
    def record(self) -> Record:
        """The record that was found."""
        return self._record

    @property
    def distance(self) -> float:
        """How far the record is from the query; smaller is nearer."""
        return self._distance

    @property
    def status(self) -> RecordStatus:
        """Whether the record still holds."""
        return self._record.status

    @property
    def timestamp(self) -> str | None:
        """When what the record says happened."""
        return self._record.timestamp

    @property
    def metadata(self) -> dict[str, Any] | None:
        """The record's metadata."""
        return self._record.metadata

    @property
    def content(self) -> str:
        """What the record says, as text; of a structured message the texts of its text parts."""
        return content_text(self._record.content)

    @property
    def linked_results(self) -> list[tuple[RecordRelation, SearchResult]]:
        """What is linked to the record, as a fresh list of (relation, result) pairs."""
        return list(self._linked_results)

    @property
    def explanation(self) -> Explanation | None:
        """Why the result is there, or None where that was not asked for."""
        return self._explanation

    @property
    def formatted_content(self) -> str:
        """The result as text for a prompt, rendered with its own configuration."""
        return self.format_content()

    def format_content(self, format_config: SearchResultFormatConfig | NotSetType = NOT_SET) -> str:
        """Return the result as text for a prompt.

        Args:
            format_config: What to show; omitted options fall back to the result's own configuration.

        Returns:
            Well-formed XML, or "" if an invalid record was to be left out.

        Raises:
            InvalidArgumentError: If format_config is no SearchResultFormatConfig.
        """
        given = DEFAULT_FORMAT if format_config is NOT_SET else format_config
        return render_result(self, _resolve(_checked(given), self._format_config))

    def __repr__(self) -> str:
        """Return the result's type, id and distance; never its content."""
        return (
            f"SearchResult(id={self._id!r}, type={self._record.record_type!r}, distance={self._distance!r})"
        )


def _resolve(*configs: SearchResultFormatConfig) -> FormatOptions:
    chosen: dict[str, bool] = {}
    for field in fields(FormatOptions):
        values = [getattr(config, field.name) for config in configs]
        chosen[field.name] = next(
            (value for value in values if value is not NOT_SET), getattr(_DEFAULTS, field.name)
        )
    return FormatOptions(**chosen)


def _checked(config: object) -> SearchResultFormatConfig:
    if not isinstance(config, SearchResultFormatConfig):
        raise InvalidArgumentError(
            f"format_config must be a SearchResultFormatConfig, got {shown(config)}", argument="format_config"
        )
    return config
