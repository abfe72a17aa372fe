"""The embedder and the reranker that run on this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hitherto.errors import InvalidArgumentError, ModelError
from hitherto.models.base import Fingerprint
from hitherto.models.bert_onnx import BertOnnx
from hitherto.models.cross_encoder import LocalCrossEncoder
from hitherto.models.local import LocalEmbedder
from hitherto.models.weights import BGE_SMALL, MS_MARCO_MINILM, installed_weights, weights_installed

pytestmark = pytest.mark.skipif(
    not (weights_installed(BGE_SMALL) and weights_installed(MS_MARCO_MINILM)),
    reason="the extra 'local' is not installed",
)


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    """Return the default embedder, loaded once."""
    return LocalEmbedder(threads=1)


@pytest.fixture(scope="module")
def reranker() -> LocalCrossEncoder:
    """Return the default reranker, loaded once."""
    return LocalCrossEncoder(threads=1)


def test_vectors_are_unit_float32(embedder: LocalEmbedder) -> None:
    """A vector for each text, of the promised type, dimension and length 1; no texts, no vectors."""
    vectors = embedder.embed(["a cat", "", "\x00", "🙂" * 3000])
    assert vectors.dtype == np.float32
    assert vectors.shape == (4, embedder.embedding_dimension) == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert embedder.embed([]).shape == (0, 384)


def test_meaning_is_near(embedder: LocalEmbedder) -> None:
    """A question is nearer to its answer than to other texts."""
    documents = embedder.embed(
        ["My sister lives in Lisbon", "The invoice is due on Friday", "Cats sleep a lot"]
    )
    query = embedder.embed(["In which city is my sibling?"], is_query=True)[0]
    assert int(np.argmax(documents @ query)) == 0


def test_order_and_batches_do_not_matter(embedder: LocalEmbedder) -> None:
    """Vectors come in the order of the texts, whatever their lengths, and hardly depend on their batch."""
    texts = [f"{'long ' * (i % 40)}text number {i}" for i in range(70)]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts[:5]])
    # int8 activations are scaled per batch, so that padding moves a vector a little.
    assert float((together[:5] * alone).sum(axis=1).min()) > 0.97
    assert len({row.tobytes() for row in together}) == 70


def test_the_start_of_a_long_text_is_read(embedder: LocalEmbedder) -> None:
    """What is beyond the bound does not count, and so costs nothing."""
    first, second = embedder.embed(["word " * 600 + "tail", "word " * 600 + "other end"])
    assert np.allclose(first, second, atol=1e-6)
    assert embedder.max_input_tokens == 512


def test_fingerprint_names_the_model(embedder: LocalEmbedder) -> None:
    """The fingerprint that is stored with the data names model, dimension and normalisation."""
    assert embedder.fingerprint == Fingerprint("bge-small-en-v1.5-int8", 384, normalised=True)


@pytest.mark.anyio
async def test_twins_answer_alike(embedder: LocalEmbedder, reranker: LocalCrossEncoder) -> None:
    """The asynchronous methods return what the blocking ones do."""
    assert np.allclose(await embedder.embed_async(["a cat"]), embedder.embed(["a cat"]))
    assert await reranker.rerank_async("a cat", ["cats", "dogs"]) == reranker.rerank(
        "a cat", ["cats", "dogs"]
    )


def test_own_folder(tmp_path: Path) -> None:
    """A model in a folder of one's own has a name of its own, with its pooling, and may want a query prefix."""
    folder = tmp_path / "mine"
    shutil.copytree(installed_weights(BGE_SMALL), folder)
    mine = LocalEmbedder(folder, pooling="mean", query_prefix="query: ", threads=1)
    assert mine.fingerprint.name == "mine-mean-68807e3ff2ab"
    plain, query = mine.embed(["query: a cat"])[0], mine.embed(["a cat"], is_query=True)[0]
    assert np.allclose(plain, query)
    assert not np.allclose(plain, mine.embed(["a cat"])[0])


def test_pooling_leaves_padding_out() -> None:
    """The mean of a short text's tokens does not depend on how far it was padded."""
    from hitherto.models.local import _pooled

    output = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert _pooled(output, [1, 3], "mean").tolist() == [[0.0, 1.0], [8.0, 9.0]]
    assert _pooled(output, [1, 3], "cls").tolist() == [[0.0, 1.0], [6.0, 7.0]]
    assert _pooled(output[:, 0], [1, 3], "cls").tolist() == [[0.0, 1.0], [6.0, 7.0]]


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"pooling": "max"}, "pooling"),
        ({"max_input_tokens": 4}, "max_input_tokens"),
        ({"max_input_tokens": 513}, "max_input_tokens"),
        ({"folder": "no/such/folder"}, "folder"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], argument: str) -> None:
    """A wrong option of the embedder is refused, and named."""
    with pytest.raises(InvalidArgumentError, match=argument) as caught:
        LocalEmbedder(**options)  # type: ignore[arg-type]  # that is the point
    assert caught.value.argument == argument


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    """A file that is no ONNX model is an error of ours that names it."""
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"model\.onnx cannot be loaded"):
        BertOnnx(tmp_path / "model.onnx")


def test_a_failing_run_is_our_error(embedder: LocalEmbedder) -> None:
    """What the runtime refuses is reported as a failure of the model."""
    with pytest.raises(ModelError, match="failed on 1 texts"):
        list(embedder._model.run([[10_000_000]]))


def test_answers_come_best_first(reranker: LocalCrossEncoder) -> None:
    """Every document has a score between 0 and 1, and the best comes first."""
    documents = ["The weather is fine", "Ana was born in Porto", "Porto is a city"]
    answer = reranker.rerank("Where was Ana born?", documents)
    scores = [result.relevance_score for result in answer.results]
    assert sorted(result.index for result in answer.results) == [0, 1, 2]
    assert answer.results[0].index == 1
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert reranker.rerank("nothing", []).results == []


def test_rerank_options(reranker: LocalCrossEncoder) -> None:
    """The best so many can be asked for; other options are refused."""
    assert len(reranker.rerank("a", ["a", "b", "c"], top_n=2).results) == 2
    for options in ({"top_n": 0}, {"top_n": "2"}, {"temperature": 1}):
        with pytest.raises(InvalidArgumentError):
            reranker.rerank("a", ["a"], **options)
    with pytest.raises(InvalidArgumentError, match="max_input_tokens"):
        LocalCrossEncoder(max_input_tokens=8)


_FORK = """
import os
from hitherto.models.local import LocalEmbedder
embedder = LocalEmbedder(threads=2)
embedder.embed(["before"])
child = os.fork()
if child == 0:
    embedder.embed(["after"] * 8)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system has no fork")
def test_a_forked_process_embeds() -> None:
    """A child process loads the model again instead of waiting for threads that it has not."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FORK], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0"
