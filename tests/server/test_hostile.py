"""Requests of somebody who means no good: a clear answer, nothing half written, and the server goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from tests.server.processes import Served, serving
from tests.server.serving import served

from hitherto import AgentMemory
from hitherto.server import service
from hitherto.server.routes.memories import MEMORY

MOST_BYTES = 200_000
JSON = {"Content-Type": "application/json"}
TABLES = ("records", "scopes", "rest_memories", "rest_messages", "rest_terms", "rest_fields", "rest_state")


class Target:
    """A server with a memory of two messages, which no refused request may change."""

    def __init__(self, client: TestClient, memory: AgentMemory) -> None:
        self._client, self._memory = client, memory
        self.memory_id = client.post(MEMORY, json={"name": "trip"}).json()["memory_id"]
        self.messages = f"{MEMORY}/{self.memory_id}/messages"
        self.search = f"{MEMORY}/{self.memory_id}/_search"
        for said in ("where is fado", "a" * 255 + " ab" * 3000):
            client.post(self.messages, json={"input": said, "response": "in alfama"})

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send a request; a body that is no bytes or text is made JSON."""
        sent = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        return self._client.request(
            method, path, content=sent, headers={**({} if body is None else JSON), **headers}
        )

    def stored(self) -> list[Any]:
        """Return everything that is stored."""
        with self._memory.store._read() as conn:  # type: ignore[attr-defined]  # a store on SQL
            return [sorted(map(str, conn.execute(text(f"SELECT * FROM {name}")))) for name in TABLES]

    def refused(self, method: str, path: str, body: Any = None, *, status: int = 400, **headers: str) -> str:
        """Send a request that must be refused and change nothing; return the reason."""
        before = self.stored()
        answer = self.ask(method, path, body, **headers)
        assert answer.status_code == status, answer.text
        assert self.stored() == before
        assert self.ask("GET", self.messages).status_code == 200
        error = answer.json()["error"] if answer.text else ""
        return error if isinstance(error, str) else error["root_cause"][0]["reason"]


@pytest.fixture
def target(memory: AgentMemory) -> Iterator[Target]:
    """Return a server on each backend."""
    with served(memory, most_body_bytes=MOST_BYTES) as client:
        yield Target(client, memory)


def deep(levels: int) -> str:
    """Return objects nested so deep."""
    return '{"a":' * levels + "1" + "}" * levels


BODIES = [
    ('{"input": "' + "a" * MOST_BYTES + '"}', 413, "at most 200000 bytes"),
    (b'{"input": "\xff"}', 400, "not UTF-8: byte 11"),
    (b"\xef\xbb\xbf{}", 400, "not JSON"),
    ('{"input": "a"', 400, "not JSON"),
    (deep(10_000), 400, "nested deeper than 100"),
    ("[" * 10_000, 400, "nested deeper than 100"),
    ('{"additional_info": ' + deep(101) + "}", 400, "nested deeper than 100"),
    ('{"input": NaN}', 400, "NaN is no number"),
    ('{"input": -Infinity}', 400, "-Infinity is no number"),
    ('{"input": 1e999}', 400, "'1e999' is too large for a number"),
    ('{"input": ' + "9" * 5000 + "}", 400, "a number has 5000 digits, more than 309"),
    ('{"input": "a", "input": "b"}', 400, "Duplicate field 'input'"),
    ('{"additional_info": {"k": "a", "k": "b"}}', 400, "Duplicate field 'k'"),
    ("{" + ",".join(f'"{n}":1' for n in range(15_000)) + ',"14999":2}', 400, "Duplicate field '14999'"),
    (r'{"input": "a\u0000b"}', 400, "U+0000"),
    (r'{"additional_info": {"a\u0000b": "c"}}', 400, "U+0000"),
    (r'{"input": "\ud800"}', 400, "half of a surrogate pair"),
    (r'{"additional_info": {"\udc00": "c"}}', 400, "half of a surrogate pair"),
]


@pytest.mark.parametrize(("body", "status", "reason"), BODIES, ids=[reason for _, _, reason in BODIES])
def test_what_is_no_body_is_refused_by_all_routes(
    target: Target, body: bytes | str, status: int, reason: str
) -> None:
    """Bodies that are too long, no JSON, or hold what cannot be stored change nothing, wherever they are sent."""
    message_id = target.ask("GET", target.messages).json()["messages"][0]["message_id"]
    for method, path in (
        ("POST", MEMORY),
        ("POST", target.messages),
        ("PUT", f"{MEMORY}/{target.memory_id}"),
        ("PUT", f"{MEMORY}/message/{message_id}"),
        ("POST", f"{MEMORY}/_search"),
        ("POST", target.search),
    ):
        assert reason in target.refused(method, path, body, status=status)


FIELDS = [
    ({"input": ["a"]}, "input must be"),
    ({"input": "a", "additional_info": {"k": {}}}, "additional_info.k must be"),
    ({"input": "a", "additional_info": [1]}, "additional_info must be"),
    ({"input": "a", "parent_message_id": 7}, "parent_message_id must be"),
    ({"input": "a", "parent_message_id": "x", "trace_number": 10**100}, "trace_number must be"),
    ({"input": "a", "parent_message_id": "x", "trace_number": 1.5}, "1.5 cannot be converted to Integer"),
]


@pytest.mark.parametrize(("body", "reason"), FIELDS)
def test_a_wrong_field_is_named(target: Target, body: Any, reason: str) -> None:
    """A field of the wrong type is refused by its name."""
    assert reason in target.refused("POST", target.messages, body)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
)
def test_other_content_types_are_refused(target: Target, kind: str) -> None:
    """What a form on a web page can send without asking is no JSON, and is refused."""
    headers = {"Content-Type": kind}
    assert kind in target.refused("POST", target.messages, '{"input": "a"}', status=406, **headers)


IDS = [
    *(
        "%00",
        "a%00b",
        "%ed%a0%80",
        "%ff",
        "..%2F..%2Fetc%2Fpasswd",
        "%2e%2e",
        "%2F",
        "%25",
        "%0d%0aX-Evil:%201",
    ),
    *(
        "a" * 100,
        "a" * 5000,
        "';%20DROP%20TABLE%20records;--",
        "%22%20OR%201=1",
        "a%20b",
        "%E2%80%AE",
        "*",
        "_all",
    ),
]


@pytest.mark.parametrize("name", IDS, ids=lambda name: name[:20])
def test_no_id_is_more_than_an_id(target: Target, name: str) -> None:
    """An id with NUL, slashes, SQL or line ends is the id of nothing; it adds no header and touches no file."""
    for method, path, body in (
        ("GET", f"{MEMORY}/{name}", None),
        ("DELETE", f"{MEMORY}/{name}", None),
        ("PUT", f"{MEMORY}/{name}", {"name": "n"}),
        ("POST", f"{MEMORY}/{name}/messages", {"input": "i"}),
        ("GET", f"{MEMORY}/{name}/messages", None),
        ("POST", f"{MEMORY}/{name}/_search", {"query": {"match_all": {}}}),
        ("GET", f"{MEMORY}/message/{name}", None),
        ("PUT", f"{MEMORY}/message/{name}", {"response": "r"}),
        ("GET", f"{MEMORY}/message/{name}/traces", None),
    ):
        assert "not found" in target.refused(method, path, body, status=404)
        assert "x-evil" not in target.ask(method, path, body).headers


QUERIES = [
    ({"size": 10**9}, "Result window is too large"),
    ({"from": 10**30}, "Result window is too large"),
    ({"size": -1}, "[size]"),
    ({"sort": ["x; DROP TABLE records"]}, "No mapping found for [x; DROP TABLE records]"),
    ({"query": {"bool": {"should": [{"match": {"input": f"w{n}"}} for n in range(3000)]}}}, "maxClauseCount"),
    ({"query": {"match": {"input": "w " * 50_000}}}, "maxClauseCount"),
    ({"query": {"match_phrase": {"input": "w " * 50_000}}}, "maxClauseCount"),
    ({"query": {"regexp": {"input": "a{1,1000}{1,1000}"}}}, "too complex"),
    ({"query": {"regexp": {"input": "(a|b)*a" + "(a|b)" * 190}}}, "too complex"),
    ({"query": {"regexp": {"input": "(" * 1001}}}, "exceeded the allowed maximum of [1000]"),
    ({"query": {"query_string": {"query": "a OR " * 5000 + "b"}}}, "maxClauseCount"),
    ({"query": {"query_string": {"query": "a " * 50_000}}}, "exceeds max allowed length 32000"),
    ({"query": {"simple_query_string": {"query": "a " * 50_000}}}, "exceeds max allowed length 32000"),
    ({"query": {"query_string": {"query": "(" * 2000 + "a" + ")" * 2000}}}, "Failed to parse query"),
    ({"query": {"simple_query_string": {"query": "(" * 2000 + "a" + ")" * 2000}}}, "nested deeper"),
    ({"query": {"range": {"create_time": {"gte": 10**300}}}}, "failed to parse date field"),
    ({"query": {"range": {"create_time": {"gte": "now+999999999999y"}}}}, "failed to parse date field"),
    ({"query": {"match_phrase": {"input": {"query": "ab " * 1000, "slop": 10**5}}}}, "takes too long"),
    ({"query": {"bool": {"should": [
        {"match_phrase": {"input": {"query": "ab " * 20, "slop": n}}} for n in range(1, 900)
    ]}}}, "takes too long"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), QUERIES, ids=lambda value: str(value)[:40])
def test_a_query_that_asks_too_much_is_refused(
    target: Target, monkeypatch: pytest.MonkeyPatch, body: Any, reason: str
) -> None:
    """Windows, clauses, expressions and phrases without bound are refused; what cannot be counted is stopped."""
    monkeypatch.setattr(service, "MOST_SECONDS", 0.3)
    asked = {"query": {"match_all": {}}, **body}
    assert reason in target.refused("POST", target.search, asked)


HARMLESS = [
    {"regexp": {"input": "(a*)*c"}},
    {"regexp": {"input": "((a|aa)+)+c"}},
    {"regexp": {"input": "(.*a){50}b"}},
    {"wildcard": {"input": "*a" * 2000 + "c"}},
    {"fuzzy": {"input": {"value": "a" * 20_000, "fuzziness": 2}}},
    {"match": {"input'; DROP TABLE records;--": "x"}},
    {"term": {"memory_id": "' OR '1'='1"}},
    {"match": {"input": "%' OR 1=1 --"}},
    {"ids": {"values": ["'; DELETE FROM records; --"]}},
    {"terms": {"origin": [f"w{n}" for n in range(10_000)]}},
]


@pytest.mark.parametrize("query", HARMLESS, ids=lambda value: str(value)[:40])
def test_a_query_that_only_looks_bad_finds_nothing(target: Target, query: Any) -> None:
    """Expressions that drive other engines mad, and SQL for fields and values, are answered, and find nothing."""
    before = target.stored()
    answer = target.ask("POST", target.search, {"query": query})
    assert answer.status_code == 200, answer.text
    assert answer.json()["hits"]["hits"] == []
    assert target.stored() == before


def test_a_filter_of_the_answer_ends(target: Target) -> None:
    """Paths that lead to the same place in very many ways are followed once."""
    path = f"{MEMORY}/{target.memory_id}"
    nested = {"additional_info": json.loads(deep(90))}
    assert target.ask("PUT", path, nested).status_code == 200
    assert target.ask("GET", path + "?filter_path=" + "**.a." * 30 + "b").json() == {}
    assert target.ask("GET", path + "?filter_path=" + "**.a." * 30 + "a").json() == {**nested}


def test_methods_and_routes_that_are_none(target: Target) -> None:
    """Unknown methods and routes are refused in OpenSearch's words; OPTIONS says what there is."""
    for method in ("PATCH", "TRACE", "PROPFIND", "FOO"):
        assert f"and method [{method}], allowed: [GET, POST]" in target.refused(method, MEMORY, status=405)
        assert f"no handler found for uri [/x] and method [{method}]" in target.refused(method, "/x")
    assert target.refused("HEAD", MEMORY, status=405) == ""
    assert target.ask("OPTIONS", MEMORY).headers["allow"] == "GET, POST"
    for path in ("/_bulk", f"{MEMORY}//x", "/etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"):
        assert "no handler found" in target.refused("GET", path)
    for query in ("?max_results=%00", "?max_results=99999999999", "?next_token=1e9"):
        assert "For input string" in target.refused("GET", MEMORY + query)
    assert "unrecognized parameter" in target.refused("GET", MEMORY + "?%00=1")


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example:9200", "127.0.0.1.evil.example", "", "a\x00"]
)
def test_other_hosts_are_refused(memory: AgentMemory, host: str) -> None:
    """A server without users answers no request that a web page sends under its own name."""
    with served(memory, local_only=True) as client:
        answer = client.post(MEMORY, json={"name": "n"}, headers={"Host": host})
        assert answer.status_code == 421
        assert client.get("/", headers={"Host": "localhost:9200"}).status_code == 200
        assert client.get(MEMORY, headers={"Host": "localhost"}).json() == {"memories": []}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Return a server in a process of its own."""
    folder = tmp_path_factory.mktemp("hostile")
    with serving(folder / "served.db", "--max-body-bytes", str(MOST_BYTES)) as server:
        server.create_memory()
        yield server
        assert server.terminate() == 0
        assert "Traceback" not in server.log.read_text()


def sent(server: Served, *parts: bytes) -> bytes:
    """Send bytes, end the sending half of the connection, and return what is answered."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as link:
        for part in parts:
            link.sendall(part)
        link.shutdown(socket.SHUT_WR)
        answer = b""
        while more := link.recv(65536):
            answer += more
        return answer


HEAD = f"POST {MEMORY} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
LONG = b"%x\r\n%s\r\n" % (50_000, b" " * 50_000)


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([HEAD, b"Content-Length: 999999999\r\n\r\n{}"], b"413"),
        ([HEAD, b"Transfer-Encoding: chunked\r\n\r\n", *[LONG] * 5], b"413"),
        ([HEAD, b"Content-Length: -1\r\n\r\n{}"], b"400"),
        ([HEAD, b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"], b"400"),
        ([HEAD, b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"], b"400"),
        ([HEAD, b"X-A: a\rb\r\n\r\n"], b"400"),
        ([b"GET " + MEMORY.encode() + b"\0 HTTP/1.1\r\nHost: localhost\r\n\r\n"], b"400"),
        ([b"GET " + MEMORY.encode() + b"/\xff HTTP/1.1\r\nHost: localhost\r\n\r\n"], b"400"),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], b"400"),
        ([b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"], b"400"),
    ],
)  # fmt: skip
def test_what_is_hardly_http_is_refused(real: Served, parts: list[bytes], status: bytes) -> None:
    """Lengths that lie, endless chunks, broken headers and other protocols are refused, and change nothing."""
    before = real.done("GET", MEMORY)
    assert sent(real, *parts).partition(b" ")[2][:3] == status
    assert real.done("GET", MEMORY) == before


def test_half_a_body_is_no_body(real: Served) -> None:
    """A client that goes away in the middle of a body has written nothing, and the log does not complain of it."""
    before = real.done("GET", MEMORY)
    sent(real, HEAD, b'Content-Length: 100\r\n\r\n{"name": ')
    with socket.create_connection(("127.0.0.1", real.port), 30) as link:
        link.sendall(HEAD + b'Content-Length: 100\r\n\r\n{"name": "n"}')
        assert real.done("GET", MEMORY) == before
    assert real.done("GET", MEMORY) == before
    assert "failed" not in Path(real.log).read_text()
