"""Links: kinds, their reverses, and what they imply."""

from __future__ import annotations

from typing import Any

import pytest

from hitherto.errors import InvalidArgumentError
from hitherto.records import MEMORY_TYPES
from hitherto.relations import (
    INVALIDATION_REASONS,
    OPPOSITE_TYPES,
    MemoryLink,
    RecordRelation,
    check_link_type,
    check_memory_type,
    invalidation_reason,
)


def values(kind: str = "supports", reverse: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return the fields of a link between two facts."""
    made = {
        "id": "l",
        "source_record_id": "a",
        "source_record_type": "fact",
        "target_record_id": "b",
        "target_record_type": "fact",
        "relation_type": kind,
        "opposite_relation_type": OPPOSITE_TYPES.get(kind, kind) if reverse is None else reverse,
        "timestamp": None,
        "metadata": None,
        "created_at": "2026-01-01T00:00:00.000000+00:00",
    }
    return {**made, **fields}


@pytest.mark.parametrize("kind", sorted(OPPOSITE_TYPES))
def test_a_memory_link_has_a_built_in_kind_and_its_reverse(kind: str) -> None:
    """Each built-in kind is accepted with its own reverse and with no other."""
    link = MemoryLink(**values(kind))
    assert (link.source_memory_id, link.link_type, link.target_memory_id) == ("a", kind, "b")
    with pytest.raises(InvalidArgumentError, match="opposite_relation_type"):
        MemoryLink(**values(kind, "something_else"))


def test_a_memory_link_refuses_other_kinds_and_ends() -> None:
    """A custom kind, another case, or an end that is no memory is no memory link."""
    for kind in ("echoes", "SUPPORTS", ""):
        with pytest.raises(InvalidArgumentError, match="relation_type"):
            MemoryLink(**values(kind))
    with pytest.raises(InvalidArgumentError, match="target_record_type"):
        MemoryLink(**values(target_record_type="message"))


def test_a_plain_relation_checks_nothing() -> None:
    """A stored link is a value: whatever a store holds can be read."""
    assert RecordRelation(**values("", relation_type=None, metadata="m")).metadata == "m"


def test_a_relation_is_no_memory_link() -> None:
    """Equal fields do not make a relation equal to a memory link."""
    assert RecordRelation(**values()) != MemoryLink(**values())


def test_checks_name_the_argument_and_what_is_right() -> None:
    """A wrong kind or type is shown, with the argument and the choices."""
    assert check_link_type("refines", argument="kind") == "refines"
    assert all(check_memory_type(name, argument="type") == name for name in MEMORY_TYPES)
    with pytest.raises(InvalidArgumentError, match=r"kind must be one of .*supports.*got 5") as caught:
        check_link_type(5, argument="kind")
    assert caught.value.argument == "kind"
    with pytest.raises(InvalidArgumentError, match=r"type must be one of .*fact.*got 'message'"):
        check_memory_type("message", argument="type")


def test_only_three_kinds_invalidate_and_the_oldest_says_why() -> None:
    """The reason is that of the oldest link which invalidates; other kinds are passed over."""
    assert set(INVALIDATION_REASONS) == {"supersedes", "refines", "duplicates"}
    for kind, reason in INVALIDATION_REASONS.items():
        assert invalidation_reason(["supports", "echoes", kind, "supersedes"]) == reason
    assert invalidation_reason([]) is None
    assert invalidation_reason(["supports", "contradicts", "is_superseded_by"]) is None
