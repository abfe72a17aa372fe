"""Clients are constructed or refused as recorded, but for what is named here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.reference.calls import cases, differences, outcome

from hitherto import AgentMemory, SchemaPolicy, SearchStrategy
from hitherto.testing.reference import ReferenceStore

#: The arguments of the recorded constructions; a store and a path stand for a store and a connection.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "no_store_no_conn": {},
    "store_none": {"store": None},
    "store_and_connection": {"path": "m.db", "store": ReferenceStore()},
    "store_and_embedder": {"store": ReferenceStore(), "embedder": None},
    "store_and_schema_policy": {"store": ReferenceStore(), "schema_policy": SchemaPolicy.RECREATE},
    "store_and_search_strategy": {"store": ReferenceStore(), "search_strategy": SearchStrategy.VECTOR},
    "store_and_memory_retention_config": {"store": ReferenceStore(), "memory_retention_config": None},
    "llm_none": {"store": ReferenceStore(), "llm": None},
    "bad_llm": {"store": ReferenceStore(), "llm": object()},
    "bad_mec": {"store": ReferenceStore(), "memory_extraction_config": {}},
    "mec_none": {"store": ReferenceStore(), "memory_extraction_config": None},
    "default_no_llm": {"store": ReferenceStore()},
    "bad_search_config": {"store": ReferenceStore(), "search_config": 1},
}


def test_clients_are_constructed_as_recorded(reference_data: Path) -> None:
    """Each recorded construction is accepted or refused as recorded, but for the named exceptions."""
    compared = []
    for case in cases(reference_data, "A_client_lifecycle"):
        name = case["id"].removeprefix("ctor/")
        if name in ARGUMENTS:
            ours = outcome(lambda named=ARGUMENTS[name]: AgentMemory(**named))
            compared.append((case, case.get("returns") if isinstance(ours, AgentMemory) else ours))
    assert len(compared) == len(ARGUMENTS)
    assert (
        differences(compared)
        == {
            "ctor/store_none": "InvalidArgumentError",  # no store is no store
            "ctor/store_and_embedder": "InvalidArgumentError",  # the store embeds; another embedder would be ignored
            "ctor/bad_llm": "ArgumentTypeError",  # what cannot generate is no model
        }
    )


def test_a_client_is_a_context_manager() -> None:
    """Both protocols are there, where the recording had neither."""
    assert {"__enter__", "__exit__", "__aenter__", "__aexit__"} <= set(dir(AgentMemory))
