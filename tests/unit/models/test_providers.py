"""Language models and rerankers over HTTP: a real server on loopback that answers as providers do."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from hitherto import (
    LLM,
    AgentMemory,
    HttpReranker,
    ImageContent,
    ImageMimeType,
    LiteLLMReranker,
    Llm,
    Message,
    ModelError,
    ModelOutputError,
    OpenAICompatibleLLM,
    Reranker,
    TextContent,
    TopKMemorySearchConfig,
)
from hitherto.testing.network import block_network
from hitherto.testing.provider import Reply, ScriptedProvider, chat_reply

pytestmark = pytest.mark.filterwarnings("ignore:::litellm", "ignore:::pydantic")  # LiteLLM's own affairs

KEY = "sk-very-secret"
SCHEMA = {"title": "foo", "type": "object", "properties": {"a": {"type": "string"}}}
Make = Callable[[str], LLM]


def lean(url: str, **options: Any) -> LLM:
    """Return the lean client."""
    return OpenAICompatibleLLM("m", url, api_key=KEY, **{"timeout_s": 5, **options})


def broad(url: str, **options: Any) -> LLM:
    """Return the client by LiteLLM names."""
    return Llm("openai/m", api_base=url, api_key=KEY, **options)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pause only a moment between attempts."""
    monkeypatch.setattr("hitherto.models.http._FIRST_PAUSE_S", 0.01)


@pytest.mark.parametrize("make", [lean, broad])
def test_prompts_are_sent_and_answers_read(make: Make) -> None:
    """Texts, messages and options go out as the chat API wants them, and the text comes back."""
    with ScriptedProvider([chat_reply("hello")]) as provider, block_network():
        model = make(provider.url)
        assert model.generate("hi").text == "hello"
        prompt = [{"role": "system", "content": "s"}, Message("user", "u")]
        assert model.generate(prompt, temperature=0.5).text == "hello"
        assert asyncio.run(model.generate_async("hi")).text == "hello"
    first, second, _ = provider.requests
    assert first.path == "/v1/chat/completions"
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert first.body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert [message["role"] for message in second.body["messages"]] == ["system", "user"]
    assert second.body["temperature"] == 0.5


@pytest.mark.parametrize("make", [lean, broad])
@pytest.mark.parametrize("prompt", [None, 5, {"role": "user", "content": "u"}, [{"role": "user"}], [5]])
def test_what_is_no_prompt_is_refused_before_it_is_sent(make: Make, prompt: Any) -> None:
    """A wrong prompt is a TypeError, and nothing goes out."""
    with ScriptedProvider([chat_reply("hello")]) as provider:
        with pytest.raises(TypeError, match="prompt"):
            make(provider.url).generate(prompt)
        with pytest.raises(TypeError, match="response_json_schema"):
            make(provider.url).generate("hi", response_json_schema=5)  # type: ignore[arg-type]
    assert provider.requests == []


@pytest.mark.parametrize("make", [lean, broad])
@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_may_pass_is_tried_again(make: Make, status: int) -> None:
    """Two failures and an answer are three requests; failing always, three requests and an error."""
    busy = Reply({"error": {"message": "busy"}}, status=status, headers={"retry-after": "0"})
    with ScriptedProvider([busy, busy, chat_reply("hello")]) as provider:
        assert make(provider.url).generate("hi").text == "hello"
        assert len(provider.requests) == 3
    with ScriptedProvider([busy]) as provider:
        with pytest.raises(ModelError):
            make(provider.url).generate("hi")
        assert len(provider.requests) == 3


@pytest.mark.parametrize("make", [lean, broad])
@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_will_not_pass_is_not_tried_again(make: Make, status: int) -> None:
    """A refused request is an error at once."""
    with ScriptedProvider([Reply({"error": {"message": "no"}}, status=status)]) as provider:
        with pytest.raises(ModelError):
            make(provider.url).generate("hi")
        assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [chat_reply(None), Reply({"choices": []}), Reply({}), Reply("<html>"), Reply('{"choices": [{"mess')],
)
def test_an_answer_without_text_is_an_error(reply: Reply) -> None:
    """Null content, no choices, no JSON and cut JSON are named as what they are; an empty text is a text."""
    with ScriptedProvider([reply]) as provider, pytest.raises(ModelOutputError, match="must answer with"):
        lean(provider.url).generate("hi")
    with ScriptedProvider([chat_reply("")]) as provider:
        assert lean(provider.url).generate("hi").text == ""


def test_a_slow_or_lost_connection_is_tried_again_and_bounded() -> None:
    """A time-out ends in its time; a connection cut in the answer is tried again; no server is an error."""
    with ScriptedProvider([chat_reply("late", delay_s=1.0)]) as provider:
        start = time.monotonic()
        with pytest.raises(ModelError, match="in time, 2 times"):
            lean(provider.url, timeout_s=0.1, max_attempts=2).generate("hi")
        assert time.monotonic() - start < 0.9
    with ScriptedProvider([chat_reply("half", cut=True), chat_reply("whole")]) as provider:
        assert lean(provider.url).generate("hi").text == "whole"
    with pytest.raises(ModelError, match="could not be reached"):
        lean("http://127.0.0.1:9/v1", max_attempts=1).generate("hi")


def test_a_server_that_asks_for_time_gets_it() -> None:
    """The pause that a Retry-After header names is kept."""
    busy = Reply({}, status=429, headers={"retry-after": "0.3"})
    with ScriptedProvider([busy, chat_reply("hello")]) as provider:
        start = time.monotonic()
        assert lean(provider.url).generate("hi").text == "hello"
        assert time.monotonic() - start >= 0.3


@pytest.mark.parametrize("make", [lean, broad])
def test_the_key_is_never_shown_nor_logged(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    """Neither repr, nor errors, nor logs have it, even where the provider repeats it."""
    told = Reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401)
    with caplog.at_level(logging.DEBUG), ScriptedProvider([told]) as provider:
        model = make(provider.url)
        with pytest.raises(ModelError) as caught:
            model.generate("hi")
    assert KEY not in f"{model!r} {caught.value}"
    assert KEY not in "\n".join(line for line in caplog.messages if "hitherto" in line)


@pytest.mark.parametrize("make", [lean, broad])
def test_schemas_are_sent_strictly(make: Make) -> None:
    """The schema goes out under its title; LiteLLM's openai/ models are also reminded of it in words."""
    with ScriptedProvider([chat_reply('{"a": "b"}')]) as provider:
        assert make(provider.url).generate("hi", response_json_schema=SCHEMA).text == '{"a": "b"}'
    (request,) = provider.requests
    wanted = {"name": "foo", "strict": True, "schema": SCHEMA}
    assert request.body["response_format"] == {"type": "json_schema", "json_schema": wanted}
    reminded = "schema" in request.body["messages"][0]["content"]
    assert reminded == (make is broad)


def test_a_server_that_knows_no_schemas_is_asked_without() -> None:
    """After one refusal the schema is left out, from then on at once; a request that is wrong anyway still fails."""

    def answer(request: Any) -> Reply:
        if "response_format" in request.body:
            return Reply({"error": {"message": "unknown field"}}, status=400)
        return chat_reply('{"a": "b"}')

    with ScriptedProvider(answer) as provider:
        model = lean(provider.url)
        for _ in range(2):
            assert model.generate("hi", response_json_schema=SCHEMA).text == '{"a": "b"}'
        assert ["response_format" in request.body for request in provider.requests] == [True, False, False]
    with ScriptedProvider([Reply({}, status=400)]) as provider, pytest.raises(ModelError):
        lean(provider.url).generate("hi", response_json_schema=SCHEMA)


def png() -> bytes:
    """Return a small image."""
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, "PNG")
    return buffer.getvalue()


def test_images_go_out_as_data_urls() -> None:
    """Bytes become a data URL; a model without eyes, missing bytes and a wrong format are refused."""
    message = Message("user", (TextContent("t"), ImageContent(png(), ImageMimeType.PNG)))
    with ScriptedProvider([chat_reply("hello")]) as provider:
        assert lean(provider.url).generate([message]).text == "hello"
        assert broad(provider.url, supports_vision=True).generate([message]).text == "hello"
        for request in provider.requests:
            text, image = request.body["messages"][0]["content"]
            assert text == {"type": "text", "text": "t"}
            assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
        with pytest.raises(ValueError, match="supports_vision"):
            broad(provider.url).generate([message])
        for wrong in (
            ImageContent(None, ImageMimeType.PNG),
            ImageContent(png(), ImageMimeType.JPEG),
            ImageContent(png()[:20], ImageMimeType.PNG),
        ):
            with pytest.raises(ValueError, match="image"):
                lean(provider.url).generate([Message("user", (wrong,))])
        assert len(provider.requests) == 2


def http(url: str) -> Reranker:
    """Return the lean reranker."""
    return HttpReranker("m", url, api_key=KEY, timeout_s=5)


def by_name(url: str) -> Reranker:
    """Return the reranker by its LiteLLM name."""
    return LiteLLMReranker("jina_ai/m", api_base=url, api_key=KEY)


RESULTS = [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.9}]


@pytest.mark.parametrize("make", [http, by_name])
def test_documents_are_sent_and_scores_read(make: Callable[[str], Reranker]) -> None:
    """The request has model, query and documents; results come back best first; without documents nothing is sent."""
    reply = Reply(
        {"id": "r", "results": RESULTS, "meta": {}, "usage": {"total_tokens": 1, "prompt_tokens": 1}}
    )
    with ScriptedProvider([reply]) as provider:
        reranker = make(provider.url)
        found = reranker.rerank("q", ["x", "y"])
        assert [(item.index, item.relevance_score) for item in found.results] == [(1, 0.9), (0, 0.1)]
        assert reranker.rerank("q", []).results == []
        (request,) = provider.requests
        assert request.path.endswith("/rerank")
        assert (request.body["query"], request.body["documents"]) == ("q", ["x", "y"])
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in repr(reranker)


@pytest.mark.parametrize(
    "body", [{"results": RESULTS}, {"data": RESULTS}, RESULTS, [{"index": 1, "score": 0.9}]]
)
def test_each_shape_of_answer_is_read(body: Any) -> None:
    """Cohere's, Jina's and TEI's answers are read."""
    with ScriptedProvider([Reply(body)]) as provider:
        assert http(provider.url).rerank("q", ["x", "y"]).results[0].index == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"results": 5},
        {"results": [{"index": 2, "relevance_score": 1}]},
        {"results": [{"index": -1, "relevance_score": 1}]},
        {"results": [{"index": True, "relevance_score": 1}]},
        {"results": [{"index": 0}]},
        {"results": [{"index": 0, "relevance_score": "1"}]},
        {"results": [RESULTS[0], RESULTS[0]]},
    ],
)
def test_nonsense_of_a_reranker_is_an_error(body: Any) -> None:
    """What names no documents with scores is named as what it is."""
    with ScriptedProvider([Reply(body)]) as provider, pytest.raises(ModelOutputError, match="reranker must"):
        http(provider.url).rerank("q", ["x", "y"])


def test_a_search_is_reranked_over_http() -> None:
    """The server's favourite comes first through the whole pipeline; when it is down, the search says so or goes on."""

    def favour(request: Any) -> Reply:
        documents = request.body["documents"]
        return Reply(
            {"results": [{"index": n, "score": float("cello" in text)} for n, text in enumerate(documents)]}
        )

    with ScriptedProvider(favour) as provider, AgentMemory(":memory:", embedder=None) as memory:
        for text in ("Mia likes tea", "Mia likes tea and cello", "Mia likes green tea"):
            memory.add_memory(text, user_id="u")
        config = TopKMemorySearchConfig(reranker=http(provider.url))
        assert memory.search("tea", user_id="u", search_config=config)[0].content == "Mia likes tea and cello"
    with AgentMemory(":memory:", embedder=None) as memory:
        memory.add_memory("tea", user_id="u")
        down = HttpReranker("m", "http://127.0.0.1:9/v1", max_attempts=1)
        with pytest.raises(ModelError):
            memory.search("tea", user_id="u", search_config=TopKMemorySearchConfig(reranker=down))
        kept = TopKMemorySearchConfig(reranker=down, reranker_on_error="keep")
        with pytest.warns(RuntimeWarning, match="retrieved order"):
            assert len(memory.search("tea", user_id="u", search_config=kept)) == 1


def test_wrong_settings_are_named() -> None:
    """URL, time-out, attempts and name are checked when the client is made."""
    for argument, options in {
        "api_base": {"api_base": "127.0.0.1"},
        "timeout_s": {"timeout_s": 0},
        "max_attempts": {"max_attempts": 0},
    }.items():
        with pytest.raises(ValueError, match=argument):
            OpenAICompatibleLLM("m", **{"api_base": "http://127.0.0.1/v1", **options})
    for make in (lambda: HttpReranker("", "http://127.0.0.1"), lambda: LiteLLMReranker("")):
        with pytest.raises(ValueError, match="model"):
            make()
    with pytest.raises(TypeError, match="model"):
        Llm(None)  # type: ignore[arg-type]
