"""The server as OpenSearch 2.12 to 2.18: what it prints, and its scores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from tests.server.serving import served

from hitherto import AgentMemory

PATH = "/_plugins/_ml/memory"
ASKED = {"input": "How do I make an interaction?", "response": "Ask."}


@pytest.fixture
def client(memory: AgentMemory) -> Iterator[TestClient]:
    """Return a client of a server of the older profile, on each backend."""
    with served(memory, profile="2.x") as client:
        yield client


def made(client: TestClient) -> tuple[str, str]:
    """Make a memory with two messages, and return its id and that of the first."""
    memory_id = client.post(PATH, json={"name": "Trip"}).json()["memory_id"]
    message_id = client.post(f"{PATH}/{memory_id}/messages", json=ASKED).json()["message_id"]
    client.post(f"{PATH}/{memory_id}/messages", json={"response": "Nothing was asked."})
    return memory_id, message_id


def test_the_version_is_of_that_generation(client: TestClient) -> None:
    """Clients that look at the version take the server for what it answers like."""
    assert client.get("/").json()["version"]["number"].startswith("2.")


def test_a_message_shows_its_empty_fields(client: TestClient) -> None:
    """Empty fields are null and additional information is an empty object; there is no time of update."""
    memory_id, message_id = made(client)
    shown = client.get(f"{PATH}/message/{message_id}").json()
    assert {key: value for key, value in shown.items() if key != "create_time"} == {
        "memory_id": memory_id,
        "message_id": message_id,
        **ASKED,
        "prompt_template": None,
        "origin": None,
        "additional_info": {},
    }
    listed = client.get(f"{PATH}/{memory_id}/messages").json()["messages"]
    assert listed[0] == shown
    assert (listed[1]["input"], listed[1]["response"]) == (None, "Nothing was asked.")


def test_hits_show_all_fields(client: TestClient) -> None:
    """The source of a hit has every field of its index, null where it is empty."""
    memory_id, message_id = made(client)
    found = client.post(
        f"{PATH}/{memory_id}/_search", json={"query": {"ids": {"values": [message_id]}}}
    ).json()
    source = found["hits"]["hits"][0]["_source"]
    assert source.pop("create_time")
    assert source == {
        **ASKED,
        "memory_id": memory_id,
        "prompt_template": None,
        "origin": None,
        "additional_info": None,
        "parent_message_id": None,
        "trace_number": None,
    }
    (hit,) = client.post(f"{PATH}/_search", json={"query": {"match_all": {}}}).json()["hits"]["hits"]
    assert hit["_source"].keys() == {
        "create_time",
        "updated_time",
        "name",
        "user",
        "application_type",
        "additional_info",
    }
    assert hit["_source"]["user"] is None


def test_scores_have_the_older_factor(client: TestClient) -> None:
    """Words weigh 2.2 times as much, a term of the memory's id its idf: together the documentation's score."""
    memory_id, message_id = made(client)
    found = client.post(
        f"{PATH}/{memory_id}/_search", json={"query": {"match": {"input": "interaction"}}}
    ).json()
    (hit,) = found["hits"]["hits"]
    assert hit["_id"] == message_id
    assert hit["_score"] == pytest.approx(0.47000366, rel=1e-6)
