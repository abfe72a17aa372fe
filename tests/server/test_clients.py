"""opensearch-py, blocking and asynchronous, against a server at a socket: what its users do, and what they are told."""

from __future__ import annotations

import gzip
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch
from opensearchpy.exceptions import (
    AuthenticationException,
    ConflictError,
    ConnectionError,
    NotFoundError,
    RequestError,
    TransportError,
)
from tests.server.certificates import make_certificate
from tests.server.live import live
from tests.server.made import PASSWORD, users_file
from tests.server.serving import served

from hitherto import AgentMemory
from hitherto.server import service
from hitherto.server.tls import Tls

BOTH = pytest.mark.parametrize("kind", [OpenSearch, AsyncOpenSearch])
PATH = "/_plugins/_ml/memory"
MOST_WRONG = 5
"""How many wrong passwords of a user at one address are looked at before the next must wait."""


@asynccontextmanager
async def connected(kind: type[Any], url: str, **options: Any) -> AsyncIterator[Any]:
    """Connect a client of either kind."""
    client = kind(url, **options)
    try:
        yield client
    finally:
        await told(client.close())


async def told(answer: Any) -> Any:
    """Return what a client of either kind answers."""
    return await answer if inspect.isawaitable(answer) else answer


async def refused(error: type[TransportError], method: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the error that a client's method raises."""
    with pytest.raises(error) as caught:
        await told(method(*args, **options))
    return caught.value


@pytest.fixture
def small(tmp_path: Path) -> Iterator[AgentMemory]:
    """Return a client over one file, where the backend makes no difference."""
    with AgentMemory(tmp_path / "small.db", embedder=None) as memory:
        yield memory


@BOTH
async def test_the_server_introduces_itself(kind: type[Any], memory: AgentMemory) -> None:
    """What a client asks before it begins is answered: who, how well, and which indices with how many documents."""
    with live(memory) as url:
        async with connected(kind, url) as client:
            assert await told(client.ping()) is True
            version = (await told(client.info()))["version"]
            assert (version["distribution"], version["number"]) == ("hitherto", "3.3.0")
            health = await told(client.cluster.health(wait_for_status="yellow", cluster_manager_timeout="5s"))
            assert (health["status"], health["timed_out"]) == ("green", False)
            assert await told(client.cat.indices(format="json")) == []
            made = await told(client.plugins.ml.create_memory(body={"name": "Trip"}))
            await told(
                client.plugins.ml.create_message(memory_id=made["memory_id"], body={"input": "Where?"})
            )
            counted = await told(client.cat.indices(format="json"))
            assert {row["index"]: row["docs.count"] for row in counted} == {
                ".plugins-ml-memory-meta": "1",
                ".plugins-ml-memory-message": "1",
            }
            text = await told(client.cat.indices(v=True, h="index,docs.count"))
            assert text.splitlines()[0].split() == ["index", "docs.count"]


@BOTH
async def test_methods_of_the_plugin(kind: type[Any], memory: AgentMemory) -> None:
    """Each method for memories that the client has does what its name says, up to the deletion."""
    with live(memory) as url:
        async with connected(kind, url) as client:
            ml = client.plugins.ml
            memory_id = (await told(ml.create_memory(body={"name": "Trip to Porto"})))["memory_id"]
            assert (await told(ml.get_memory(memory_id=memory_id)))["name"] == "Trip to Porto"
            body = {"name": "Trip to Lisbon", "additional_info": {"days": 3}}
            assert (await told(ml.update_memory(memory_id=memory_id, body=body)))["result"] == "updated"
            assert (await told(ml.get_memory(memory_id=memory_id)))["additional_info"] == {"days": 3}

            said = {"input": "Where can I hear fado?", "response": "In Alfama.", "origin": "guide"}
            message_id = (await told(ml.create_message(memory_id=memory_id, body=said)))["message_id"]
            step = {"input": "looks it up", "parent_message_id": message_id, "trace_number": 1}
            trace_id = (await told(ml.create_message(memory_id=memory_id, body=step)))["message_id"]
            await told(ml.update_message(message_id=message_id, body={"additional_info": {"stars": "5"}}))
            message = await told(ml.get_message(message_id=message_id))
            assert said.items() <= message.items()
            assert message["additional_info"] == {"stars": "5"}
            traces = (await told(ml.get_message_traces(message_id=message_id)))["traces"]
            assert [trace["message_id"] for trace in traces] == [trace_id]
            listed = (await told(ml.get_all_messages(memory_id=memory_id)))["messages"]
            assert [one["message_id"] for one in listed] == [message_id]

            query = {"query": {"match": {"name": "lisbon"}}}
            hits = (await told(ml.search_memory(body=query)))["hits"]["hits"]
            assert [hit["_id"] for hit in hits] == [memory_id]
            query = {"query": {"bool": {"must_not": {"exists": {"field": "trace_number"}}}}}
            hits = (await told(ml.search_message(memory_id=memory_id, body=query)))["hits"]["hits"]
            assert [hit["_id"] for hit in hits] == [message_id]

            assert await told(ml.delete_memory(memory_id=memory_id)) == {"success": True}
            await refused(NotFoundError, ml.get_memory, memory_id=memory_id)
            await refused(NotFoundError, ml.get_message, message_id=trace_id)


@BOTH
async def test_requests_of_the_transport(kind: type[Any], memory: AgentMemory) -> None:
    """Programs that name paths themselves, with a slash at the end or a body for GET, are served alike."""
    with live(memory) as url:
        async with connected(kind, url) as client:
            ask = client.transport.perform_request
            memory_id = (await told(ask("POST", f"{PATH}/", body={"name": "Trip"})))["memory_id"]
            await told(ask("POST", f"{PATH}/{memory_id}/messages/", body={"input": "tea"}))
            body = {"query": {"term": {"input": "tea"}}, "size": 1}
            for method in ("GET", "POST"):
                found = await told(ask(method, f"{PATH}/{memory_id}/_search", body=body))
                assert found["hits"]["total"] == {"value": 1, "relation": "eq"}
            params = {"filter_path": "hits.hits._source.input"}
            found = await told(ask("POST", f"{PATH}/{memory_id}/_search", params=params, body=body))
            assert found == {"hits": {"hits": [{"_source": {"input": "tea"}}]}}


@BOTH
async def test_pages(kind: type[Any], memory: AgentMemory) -> None:
    """Following next_token as long as there is one meets every memory and message once, in order."""
    with live(memory) as url:
        async with connected(kind, url) as client:
            ml = client.plugins.ml
            made = [(await told(ml.create_memory(body={"name": str(n)})))["memory_id"] for n in range(5)]
            for number in range(4):
                await told(ml.create_message(memory_id=made[0], body={"input": str(number)}))

            async def all_of(name: str, method: Any, **which: Any) -> list[Any]:
                found, token = [], 0
                while token is not None:
                    page = await told(method(max_results=2, next_token=token, **which))
                    found.extend(page[name])
                    token = page.get("next_token")
                return found

            memories = await all_of("memories", ml.get_all_memories)
            # The first was touched by its messages, the others not since they were made.
            assert [one["memory_id"] for one in memories] == [made[0], *reversed(made[1:])]
            messages = await all_of("messages", ml.get_all_messages, memory_id=made[0])
            assert [one["input"] for one in messages] == ["0", "1", "2", "3"]


@BOTH
async def test_search(kind: type[Any], memory: AgentMemory) -> None:
    """Sorting, paging by search_after, highlighting and combined clauses work from the client's dicts."""
    with live(memory) as url:
        async with connected(kind, url) as client:
            ml = client.plugins.ml
            memory_id = (await told(ml.create_memory()))["memory_id"]
            for said in ("green tea", "black tea", "coffee", "tea and tea"):
                await told(ml.create_message(memory_id=memory_id, body={"input": said, "origin": "bar"}))

            async def search(**body: Any) -> Any:
                return (await told(ml.search_message(memory_id=memory_id, body=body)))["hits"]

            found = await search(query={"match": {"input": "tea"}}, highlight={"fields": {"input": {}}})
            assert found["total"]["value"] == 3
            assert found["hits"][0]["highlight"] == {"input": ["<em>tea</em> and <em>tea</em>"]}
            wanted = {
                "bool": {"filter": [{"term": {"origin": "bar"}}], "must_not": {"match": {"input": "tea"}}}
            }
            assert [hit["_source"]["input"] for hit in (await search(query=wanted))["hits"]] == ["coffee"]
            order = {"query": {"match_all": {}}, "sort": [{"create_time": "desc"}, "_doc"], "size": 3}
            first = (await search(**order))["hits"]
            rest = (await search(**order, search_after=first[-1]["sort"]))["hits"]
            inputs = [hit["_source"]["input"] for hit in (*first, *rest)]
            assert inputs == ["tea and tea", "coffee", "black tea", "green tea"]


@BOTH
async def test_errors_are_the_client_s(kind: type[Any], small: AgentMemory, monkeypatch: Any) -> None:
    """A client raises the class for what was wrong, with type and reason; what is right afterwards still works."""
    with live(small) as url:
        async with connected(kind, url) as client:
            ml = client.plugins.ml
            memory_id = (await told(ml.create_memory(body={"name": "Trip"})))["memory_id"]
            error = await refused(NotFoundError, ml.get_memory, memory_id="absent")
            assert (error.status_code, error.error) == (404, "resource_not_found_exception")
            assert error.info["error"]["reason"] == "Memory [absent] not found"
            error = await refused(RequestError, ml.create_message, memory_id=memory_id, body={})
            assert error.error == "illegal_argument_exception"
            await told(ml.create_message(memory_id=memory_id, body={"input": "tea"}))
            query = {"query": {"mach": {"input": "tea"}}}
            error = await refused(RequestError, ml.search_message, memory_id=memory_id, body=query)
            assert "unknown query [mach] did you mean [match]?" in str(error)
            error = await refused(RequestError, client.indices.create, index="notes")
            assert "no handler found for uri [/notes]" in str(error.info)
            error = await refused(
                TransportError, client.transport.perform_request, "POST", f"{PATH}/{memory_id}"
            )
            assert error.status_code == 405

            def always_changed(self: Any, conn: Any) -> bool:
                raise service._ChangedMeanwhile

            with monkeypatch.context() as patched:
                patched.setattr(service._Guard, "check", always_changed)
                error = await refused(
                    ConflictError, ml.update_memory, memory_id=memory_id, body={"name": "a"}
                )
            assert error.error == "version_conflict_engine_exception"
            assert (await told(ml.get_memory(memory_id=memory_id)))["name"] == "Trip"


@BOTH
async def test_private_memories(kind: type[Any], small: AgentMemory, tmp_path: Path) -> None:
    """Of two users with passwords neither gets, finds, changes, counts or deletes what is the other's."""
    users = tmp_path / "users.json"
    users_file(users, "alice", "bob")
    with live(small, users=users) as url:
        async with (
            connected(kind, url, http_auth=("alice", PASSWORD)) as alice,
            connected(kind, url, http_auth=("bob", PASSWORD)) as bob,
        ):
            hers, his = alice.plugins.ml, bob.plugins.ml
            memory_id = (await told(hers.create_memory(body={"name": "Trip"})))["memory_id"]
            said = await told(hers.create_message(memory_id=memory_id, body={"input": "tea"}))
            everything = {"query": {"match_all": {}}}
            assert (await told(hers.get_memory(memory_id=memory_id)))["user"] == "alice"
            assert await told(his.get_all_memories()) == {"memories": []}
            assert (await told(his.search_memory(body=everything)))["hits"]["hits"] == []
            assert {row["docs.count"] for row in await told(bob.cat.indices(format="json"))} == {"0"}
            for method, options in (
                (his.get_memory, {"memory_id": memory_id}),
                (his.update_memory, {"memory_id": memory_id, "body": {"name": "mine"}}),
                (his.get_all_messages, {"memory_id": memory_id}),
                (his.create_message, {"memory_id": memory_id, "body": {"input": "mine"}}),
                (his.search_message, {"memory_id": memory_id, "body": everything}),
                (his.get_message, said),
                (his.update_message, {**said, "body": {"response": "mine"}}),
                (his.get_message_traces, said),
            ):
                error = await refused(AuthenticationException, method, **options)
                assert "User [bob] does not have access to m" in str(error.info)
            await refused(NotFoundError, his.delete_memory, memory_id=memory_id)
            assert (await told(hers.get_message(**said)))["input"] == "tea"
            assert (await told(hers.get_memory(memory_id=memory_id)))["name"] == "Trip"


@BOTH
async def test_keys_and_wrong_passwords(kind: type[Any], small: AgentMemory, tmp_path: Path) -> None:
    """No or wrong credentials are 401, too many wrong ones 429 also for the right password; an API key always works."""
    users = tmp_path / "users.json"
    key = users_file(users, "alice", "bob").add_key("alice", "laptop").text
    with live(small, users=users) as url:
        async with connected(kind, url) as nobody:
            assert await told(nobody.ping()) is False
            error = await refused(AuthenticationException, nobody.plugins.ml.get_all_memories)
            assert error.error == "Unauthorized"
        async with connected(kind, url, http_auth=("alice", "wrong horse")) as guesser:
            for _ in range(MOST_WRONG):
                await refused(AuthenticationException, guesser.info)
            error = await refused(TransportError, guesser.info)
            assert error.status_code == 429
        async with connected(kind, url, http_auth=("alice", PASSWORD)) as late:
            assert (await refused(TransportError, late.info)).status_code == 429
        async with connected(kind, url, http_auth=("bob", PASSWORD)) as other:
            await told(other.info())
        async with connected(kind, url, headers={"Authorization": f"Bearer {key}"}) as bearer:
            await told(bearer.plugins.ml.create_memory(body={"name": "Trip"}))
        async with connected(kind, url, http_auth=("alice", key)) as basic:
            (memory,) = (await told(basic.plugins.ml.get_all_memories()))["memories"]
            assert (memory["user"], memory["name"]) == ("alice", "Trip")


@BOTH
@pytest.mark.skipif(which("openssl") is None, reason="certificates are made with openssl")
async def test_tls(kind: type[Any], small: AgentMemory, tmp_path: Path) -> None:
    """A client that verifies certificates talks to a server whose certificate it knows, and to no other."""
    ours, other = make_certificate(tmp_path, "ours"), make_certificate(tmp_path, "other")
    with live(small, tls=Tls(*ours)) as url:
        options = {"use_ssl": True, "verify_certs": True}
        async with connected(kind, url, ca_certs=str(ours[0]), **options) as client:
            assert (await told(client.info()))["cluster_name"] == "hitherto"
        async with connected(kind, url, ca_certs=str(other[0]), max_retries=0, **options) as client:
            error = await refused(ConnectionError, client.info)
            assert "certificate verify failed" in str(error).lower()


@BOTH
async def test_ids_that_need_quoting(kind: type[Any], memory: AgentMemory) -> None:
    """A thread of a program whose id has slashes, spaces or percent signs is a memory for clients too."""
    memory_id = "trips/2026 %41+é?#,*"
    memory.create_thread(thread_id=memory_id).add_messages([{"role": "user", "content": "tea"}])
    with live(memory) as url:
        async with connected(kind, url) as client:
            ml = client.plugins.ml
            assert (await told(ml.get_memory(memory_id=memory_id)))["memory_id"] == memory_id
            await told(ml.create_message(memory_id=memory_id, body={"input": "coffee"}))
            listed = (await told(ml.get_all_messages(memory_id=memory_id)))["messages"]
            assert [one["input"] for one in listed] == ["tea", "coffee"]
            assert await told(ml.delete_memory(memory_id=memory_id)) == {"success": True}


@BOTH
async def test_compressed_bodies(kind: type[Any], small: AgentMemory) -> None:
    """A client that compresses what it sends is understood."""
    with live(small) as url:
        async with connected(kind, url, http_compress=True) as client:
            memory_id = (await told(client.plugins.ml.create_memory(body={"name": "Trip"})))["memory_id"]
            assert (await told(client.plugins.ml.get_memory(memory_id=memory_id)))["name"] == "Trip"


def test_what_is_wrong_with_a_compressed_body(small: AgentMemory) -> None:
    """A body that is not what its Content-Encoding says, or unpacks to too much, is refused before it is read."""
    head = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    good = gzip.compress(b'{"name": "Trip"}')
    with served(small, most_body_bytes=1024) as client:
        for body, encoding, status, reason in (
            (b"{}", "gzip", 400, "not gzip"),
            (good[:-4], "gzip", 400, "from beginning to end"),
            (good + b"x", "gzip", 400, "from beginning to end"),
            (good, "br", 400, "must be [gzip] or none, got [br]"),
            (gzip.compress(b" " * 1025), "gzip", 413, "at most 1024 bytes"),
        ):
            answer = client.post(PATH, content=body, headers={**head, "Content-Encoding": encoding})
            assert (answer.status_code, reason in answer.text) == (status, True), answer.text
        assert client.post(PATH, content=good, headers=head).status_code == 200
        assert client.post(PATH, content=b"", headers=head).status_code == 200
