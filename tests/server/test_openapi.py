"""The published OpenAPI document: it names every route, and what is answered is what it says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.server.live import live
from tests.server.made import PASSWORD, basic, users_file

from hitherto import AgentMemory
from hitherto.server.app import _ROUTERS as ROUTERS
from hitherto.server.app import create_app
from hitherto.server.auth import Authenticator
from hitherto.server.schemas import SCHEMAS

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
DOCUMENT = "/_openapi.json"
OPERATIONS = sorted(
    f"{method} {route.path}"
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
)
TAKING_INPUT = [one for one in OPERATIONS if not one.endswith(("/healthz", "/readyz", "/metrics"))]
EXAMPLES = settings(max_examples=15, suppress_health_check=list(HealthCheck))
QUERIES = [
    {"match_all": {}},
    {"match": {"input": {"query": "tea", "_name": "said"}}},
    {"bool": {"should": [{"match": {"name": "trip"}}, {"term": {"origin": "bar"}}]}},
]
SEARCHES = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 20),
        "sort": st.sampled_from(["_score", [{"create_time": "desc"}, "_doc"]]),
        "highlight": st.just({"fields": {"*": {}}}),
        "fields": st.just(["*"]),
        "_source": st.sampled_from([True, ["*_time"], {"excludes": ["input"]}]),
        "track_total_hits": st.sampled_from([True, False, 1]),
        "terminate_after": st.integers(0, 2),
    },
)


def described(url: str, operation: str) -> Any:
    """Return an operation of the document that a server publishes."""
    method, path = operation.split(" ")
    return schemathesis.openapi.from_url(url + DOCUMENT, config=SchemathesisConfig.from_dict({}))[path][
        method
    ]


def filled(memory: AgentMemory, client: TestClient) -> dict[str, list[str]]:
    """Write memories and messages by both doors, and return their ids by the names that paths have for them."""
    path = "/_plugins/_ml/memory"
    made = client.post(path, json={"name": "Trip", "application_type": "chat", "additional_info": {"n": [1]}})
    mine = made.json()["memory_id"]
    said = client.post(f"{path}/{mine}/messages", json={"input": "tea?", "response": "yes", "origin": "bar"})
    first = said.json()["message_id"]
    client.post(f"{path}/{mine}/messages", json={"input": "x", "parent_message_id": first, "trace_number": 1})
    thread = memory.create_thread(thread_id="of/python", user_id="ana", metadata={"name": 5, "kept": None})
    thread.add_messages(
        [{"role": "system", "content": "be kind"}, {"role": "user", "content": "tea", "id": "m 1"}]
    )
    return {
        "memory_id": [mine, "of/python", client.post(path).json()["memory_id"]],
        "message_id": [first, "m 1"],
    }


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Return the address of a server that has something to answer with, and the ids of what it has."""
    with AgentMemory(tmp_path / "m.db", embedder=None, durability="normal") as memory:
        ids = filled(memory, TestClient(create_app(memory)))
        with live(memory) as url:
            yield url, ids


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_are_as_published(server: Any, operation: str) -> None:
    """What fits the document is answered with a status, a type and a body of the document, and not always refused."""
    url, ids = server
    asked = described(url, operation)
    statuses = Counter[int]()

    @EXAMPLES
    @given(st.data())
    def play(data: st.DataObject) -> None:
        case = data.draw(asked.as_strategy())
        for name in case.path_parameters:
            # What is made up is never there; most of what is asked for should be.
            if data.draw(st.integers(0, 3)):
                case.path_parameters[name] = data.draw(
                    st.sampled_from([quote(id, safe="") for id in ids[name]])
                )
        if isinstance(case.body, dict) and "query" in case.body and data.draw(st.booleans()):
            case.body = {**data.draw(SEARCHES), "query": data.draw(st.sampled_from(QUERIES))}
        # It leaves out of an answer what it must have otherwise.
        case.query.pop("filter_path", None)
        statuses[case.call_and_validate(checks=CHECKS).status_code] += 1

    play()
    assert statuses[200] > 0


@pytest.mark.parametrize("operation", TAKING_INPUT)
def test_refusals_are_as_published(server: Any, operation: str) -> None:
    """What does not fit the document never makes the server fail, and is refused in a form of the document."""
    asked = described(server[0], operation)

    @EXAMPLES
    @given(st.data())
    def play(data: st.DataObject) -> None:
        case = data.draw(asked.as_strategy(generation_mode=GenerationMode.NEGATIVE))
        case.query.pop("filter_path", None)
        case.call_and_validate(checks=CHECKS)

    play()


def test_every_route_is_described(tmp_path: Path) -> None:
    """Each route stands in the document, with all that it takes and refuses, and the document has no others."""
    with AgentMemory(tmp_path / "m.db", embedder=None) as memory:
        app = create_app(memory)
    routes = {
        (route.path, method.lower())
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    paths = app.openapi()["paths"]
    assert {(path, method) for path, entries in paths.items() for method in entries} == routes
    for path, method in routes:
        entry = paths[path][method]
        assert entry["summary"]
        assert entry["description"].endswith((".", "json."))
        given_ids = [one["name"] for one in entry.get("parameters", ()) if one["in"] == "path"]
        assert given_ids == re.findall(r"{(\w+)}", path)
        assert all("description" in one for one in entry.get("parameters", ()) if one["in"] == "query")
        takes_body = method in ("post", "put") or path.endswith("_search")
        assert ("requestBody" in entry) == takes_body
        refused = {int(status) for status in entry["responses"]} - {200}
        assert 421 in refused
        if not path.endswith("healthz"):
            assert {500, 503} <= refused
        assert ({406, 413} <= refused) == takes_body
        assert (404 in refused) == (bool(given_ids) or path.endswith("_search"))
        assert (409 in refused) == (method == "put")
        assert all(answer["description"] for answer in entry["responses"].values())


def test_named_schemas_are_used_and_there() -> None:
    """Each reference of the document leads to a schema, and each schema is referred to."""
    with AgentMemory(":memory:", embedder=None) as memory:
        document = create_app(memory).openapi()
    named = {f"#/components/schemas/{name}" for name in SCHEMAS}
    assert set(re.findall(r"#/components/schemas/\w+", json.dumps(document))) == named
    assert document["components"]["schemas"].keys() == SCHEMAS.keys()


def test_who_may_ask_is_said(tmp_path: Path) -> None:
    """The document of a server with users says how to send credentials, and where none are needed."""
    users = tmp_path / "users.json"
    users_file(users, "alice")
    with AgentMemory(":memory:", embedder=None) as memory:
        assert "security" not in create_app(memory).openapi()
        app = create_app(memory, authenticator=Authenticator(users))
        with TestClient(app) as client:
            assert client.get(DOCUMENT).status_code == 401
            document = client.get(DOCUMENT, headers={"Authorization": basic("alice", PASSWORD)}).json()
    assert document["security"] == [{"basic": []}, {"bearer": []}]
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    free = [
        path for path, entries in document["paths"].items() if entries.get("get", {}).get("security") == []
    ]
    assert sorted(free) == ["/healthz", "/readyz"]
