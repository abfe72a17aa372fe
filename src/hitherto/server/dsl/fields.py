"""The mapping of the two indices: which field is of which kind."""

from __future__ import annotations

import enum
import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hitherto.server.dsl.scoring import Profile


class Kind(enum.Enum):
    """How the values of a field are indexed."""

    TEXT = "text"
    KEYWORD = "keyword"
    DATE = "date"
    LONG = "long"
    FLAT_OBJECT = "flat_object"
    ID = "_id"
    INDEX = "_index"


_SINCE_3_3: Final = (".plugins-ml-memory-message", "updated_time")
_METADATA: Final = {"_id": Kind.ID, "_index": Kind.INDEX}
_QUERIED_BY_DEFAULT: Final = frozenset({Kind.TEXT, Kind.KEYWORD, Kind.DATE, Kind.LONG})


@dataclass(frozen=True, slots=True)
class IndexMapping:
    """The fields of one index.

    Attributes:
        index: The index's name, as hits show it.
        fields: The kind of each field.

    Examples:
        >>> MESSAGES.kind("input"), MESSAGES.kind("additional_info.city"), MESSAGES.kind("input.keyword")
        (<Kind.TEXT: 'text'>, <Kind.FLAT_OBJECT: 'flat_object'>, None)
        >>> MESSAGES.matching("*_time")
        ('create_time', 'updated_time')
    """

    index: str
    fields: Mapping[str, Kind]

    def stored(self, source: Mapping[str, Any], profile: Profile) -> Mapping[str, Any]:
        """Return a document as the index of a version holds it: 2.x with all its fields, null where they are empty.

        Args:
            source: The document as 3.x holds it.
            profile: The version.

        Examples:
            >>> sorted(MEMORIES.stored({"name": "Trip"}, "2.x"))
            ['additional_info', 'application_type', 'create_time', 'name', 'updated_time', 'user']
        """
        if profile == "3.x":
            return source
        return {name: source.get(name) for name in self.fields if (self.index, name) != _SINCE_3_3}

    def kind(self, field: str) -> Kind | None:
        """Return the kind of a field, or None if it is not mapped.

        Args:
            field: The field's name; keys inside an object follow with dots.
        """
        kind = self.fields.get(field) or _METADATA.get(field)
        if kind is None and self.fields.get(field.partition(".")[0]) is Kind.FLAT_OBJECT:
            return Kind.FLAT_OBJECT
        return kind

    def matching(self, pattern: str) -> tuple[str, ...]:
        """Return the fields that a name with ``*`` stands for.

        Args:
            pattern: A field's name, or a pattern.

        Returns:
            The names in order of the mapping; a name without ``*`` stands for itself, mapped or not.
        """
        if "*" not in pattern:
            return (pattern,)
        found = re.compile(fnmatch.translate(pattern.replace("[", "[[]").replace("?", "[?]")))
        return tuple(field for field in self.fields if found.match(field))

    def searched_by_default(self) -> tuple[str, ...]:
        """Return the fields that a query without fields asks."""
        return tuple(field for field, kind in self.fields.items() if kind in _QUERIED_BY_DEFAULT)


def _mapping(index: str, **kinds: Kind) -> IndexMapping:
    return IndexMapping(index, MappingProxyType(kinds))


MEMORIES: Final = _mapping(
    ".plugins-ml-memory-meta",
    create_time=Kind.DATE,
    updated_time=Kind.DATE,
    name=Kind.TEXT,
    user=Kind.KEYWORD,
    application_type=Kind.KEYWORD,
    additional_info=Kind.FLAT_OBJECT,
)
"""Memories: one document for each conversation."""

MESSAGES: Final = _mapping(
    ".plugins-ml-memory-message",
    memory_id=Kind.KEYWORD,
    create_time=Kind.DATE,
    updated_time=Kind.DATE,
    input=Kind.TEXT,
    prompt_template=Kind.TEXT,
    response=Kind.TEXT,
    origin=Kind.KEYWORD,
    additional_info=Kind.FLAT_OBJECT,
    parent_message_id=Kind.KEYWORD,
    trace_number=Kind.LONG,
)
"""Messages and traces."""
