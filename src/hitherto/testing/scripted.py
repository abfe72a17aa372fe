"""Models for tests: deterministic, scripted, failing or slow; none needs a network."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from hitherto.errors import ModelError
from hitherto.messages import ImageContent, Message, content_text
from hitherto.models.base import (
    LLM,
    Embedder,
    Fingerprint,
    LLMResponse,
    Prompt,
    Reranker,
    RerankResponse,
    RerankResponseResult,
)
from hitherto.text import words

if TYPE_CHECKING:
    from hitherto.models.base import FloatMatrix


class HashEmbedder(Embedder):
    """Embeds a text as the bag of its stems, each hashed to a direction: texts that share words are near.

    Args:
        dimension: The number of components.
        name: The name in the fingerprint.

    Examples:
        >>> vectors = HashEmbedder().embed(["the cat sat", "a cat", "dogs"])
        >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
        True
    """

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self._dimension = dimension
        self._name = name
        self.calls = 0

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed texts; see the class."""
        import numpy as np

        self.calls += 1
        matrix = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
                matrix[row] += np.random.default_rng(seed).standard_normal(self._dimension).astype(np.float32)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        result: FloatMatrix = np.divide(matrix, norms, out=matrix, where=norms > 0)
        return result

    @property
    def embedding_dimension(self) -> int:
        """The number of components."""
        return self._dimension

    @property
    def fingerprint(self) -> Fingerprint:
        """Name and dimension."""
        return Fingerprint(self._name, self._dimension, normalised=True)


class SlowEmbedder(HashEmbedder):
    """Embeds like :class:`HashEmbedder`, but takes its time, as a hosted model does.

    Args:
        delay_s: How long each call takes, in seconds.
    """

    def __init__(self, delay_s: float, **options: Any) -> None:
        super().__init__(**options)
        self._delay_s = delay_s

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Embed texts after the delay."""
        time.sleep(self._delay_s)
        return super().embed(texts, is_query=is_query)


class FailingEmbedder(HashEmbedder):
    """Fails, as a provider does that is down.

    Args:
        error: What is raised at each call.
    """

    def __init__(self, error: Exception | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._error = error or ModelError("the provider is down")

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> FloatMatrix:
        """Raise the error."""
        self.calls += 1
        raise self._error


class ScriptedLLM(LLM):
    """Answers from a script, and remembers what it was asked.

    Args:
        script: The answers in order, or a function of the messages that returns one. An exception is raised
            instead of answered: ``ScriptedLLM(lambda messages: ModelError("down"))`` always fails.
        delay_s: How long each answer takes, in seconds.

    Examples:
        >>> model = ScriptedLLM(["yes", ModelError("down")])
        >>> model.generate("ready?").text
        'yes'
    """

    def __init__(
        self,
        script: Sequence[str | Exception] | Callable[[list[dict[str, Any]]], str | Exception],
        *,
        delay_s: float = 0.0,
    ) -> None:
        self._script = script if callable(script) else list(script)
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self.requests: list[list[dict[str, Any]]] = []
        self.schemas: list[dict[str, Any] | None] = []

    def generate(
        self, /, prompt: Prompt, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Answer from the script; a ModelError when it is at its end."""
        asked = _messages(prompt)
        with self._lock:
            self.requests.append(asked)
            self.schemas.append(response_json_schema)
            if callable(self._script):
                answer = self._script(asked)
            elif self._script:
                answer = self._script.pop(0)
            else:
                answer = ModelError("the script is at its end")
        if self._delay_s:
            time.sleep(self._delay_s)
        if isinstance(answer, Exception):
            raise answer
        return LLMResponse(answer)


Answer: TypeAlias = "str | Exception | dict[str, Any]"


class TaskLLM(LLM):
    """Answers by what it is asked to do: extract memories, find links, summarise, or write free text.

    Args:
        extract: What to answer where memories are to be extracted: a dict is answered as JSON, an exception is raised,
            and a function gets the messages and returns one of these. By default no memories.
        link: The same for links; by default none.
        summarise: The same for summaries; by default "SUM".
        write: The same for free text, such as a shortened message or a caption; by default "TEXT".
        delay_s: How long each answer takes, in seconds.

    Examples:
        >>> model = TaskLLM(extract={"memories": [{"text": "Mia sails", "record_type": "fact"}]})
        >>> model.generate("hello").text, model.tasks
        ('TEXT', ['write'])
    """

    def __init__(
        self,
        *,
        extract: Answer | Callable[[list[dict[str, Any]]], Answer] | None = None,
        link: Answer | Callable[[list[dict[str, Any]]], Answer] | None = None,
        summarise: Answer | Callable[[list[dict[str, Any]]], Answer] | None = None,
        write: Answer | Callable[[list[dict[str, Any]]], Answer] | None = None,
        delay_s: float = 0.0,
    ) -> None:
        self._answers: dict[str, Any] = {
            "extract": {"memories": []} if extract is None else extract,
            "link": {"source_resolutions": {}} if link is None else link,
            "summarise": {"summary": "SUM", "topics": []} if summarise is None else summarise,
            "write": "TEXT" if write is None else write,
        }
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self.calls: list[tuple[str, list[dict[str, Any]]]] = []

    @property
    def tasks(self) -> list[str]:
        """What it was asked to do, in order."""
        return [task for task, _ in self.calls]

    def asked(self, task: str) -> list[str]:
        """Return what it was given to read for a task, one text per call.

        Args:
            task: "extract", "link", "summarise" or "write".
        """
        return [str(messages[-1]["content"]) for name, messages in self.calls if name == task]

    def generate(
        self, /, prompt: Prompt, *, response_json_schema: dict[str, Any] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Answer by the title of the schema."""
        task = _TASKS.get((response_json_schema or {}).get("title", ""), "write")
        messages = _messages(prompt)
        with self._lock:
            self.calls.append((task, messages))
        if self._delay_s:
            time.sleep(self._delay_s)
        answer: Any = self._answers[task]
        if callable(answer):
            answer = answer(messages)
        if isinstance(answer, Exception):
            raise answer
        return LLMResponse(answer if isinstance(answer, str) else json.dumps(answer))


_TASKS = {"extracted_memories": "extract", "memory_links": "link", "thread_summary": "summarise"}


class ScriptedReranker(Reranker):
    """Scores documents by a function.

    Args:
        score: Returns the score of a document for a query; what it raises is raised.
    """

    def __init__(self, score: Callable[[str, str], float]) -> None:
        self._score = score
        self.requests: list[tuple[str, list[str]]] = []

    def rerank(self, /, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Score documents, best first."""
        self.requests.append((query, list(documents)))
        results = [
            RerankResponseResult(index, self._score(query, document))
            for index, document in enumerate(documents)
        ]
        return RerankResponse(sorted(results, key=lambda item: -item.relevance_score))


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return [_as_dict(item) if isinstance(item, Message) else dict(item) for item in prompt]


def _as_dict(message: Message) -> dict[str, Any]:
    images = [part for part in message.content if isinstance(part, ImageContent)]
    shown = {"role": message.role, "content": content_text(message.content)}
    return {**shown, "images": images} if images else shown
