"""Scope resolves as recorded, in each dimension and layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.reference.recorded import decode

from hitherto.errors import InvalidArgumentError
from hitherto.scope import SearchScope, resolve_for_client, resolve_for_thread


def test_each_dimension_resolves_as_recorded(reference_data: Path) -> None:
    """Omitted, None and an id, with and without flags, resolve as recorded; a flag without an id is an error."""
    data = json.loads((reference_data / "vectors" / "search" / "scope.json").read_text(encoding="utf-8"))
    own = data["thread_default_scope"]
    assert len(data["per_dimension"]) == 66
    for case in data["per_dimension"]:
        name, given = case["dimension"], decode(case["given"])
        scope = SearchScope(**given)
        if case["layer"] == "client":
            if name != "user":
                scope.user_id = "u1"
            if given.get(f"exact_{name}_match") is True and f"{name}_id" not in given:
                with pytest.raises(InvalidArgumentError, match=f"exact_{name}_match"):
                    resolve_for_client(scope)
                continue
            resolved = resolve_for_client(scope)
        elif case["layer"] == "thread":
            resolved = resolve_for_thread(
                scope, user_id=own["user_id"], agent_id=own["agent_id"], thread_id=own["thread_id"]
            )
        else:
            continue
        match = getattr(resolved, name)
        assert (match.id, match.exact) == (case["resolved_id"], case["resolved_exact"]), case


@pytest.mark.parametrize(
    "scope", [SearchScope(), SearchScope(exact_user_match=True), SearchScope("u1", exact_user_match=False)]
)
def test_a_client_search_needs_an_exact_user(scope: SearchScope) -> None:
    """A client's search without a user, or with an inexact one, is refused."""
    with pytest.raises(InvalidArgumentError, match="user"):
        resolve_for_client(scope)
