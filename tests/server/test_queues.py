"""In which threads requests are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import served

from hitherto import AgentMemory
from hitherto.server import calls
from hitherto.testing.scripted import ScriptedLLM


@pytest.mark.parametrize(("llm", "writes"), [(None, "requests"), (ScriptedLLM([]), "models")])
def test_only_what_may_wait_for_a_model_has_threads_of_its_own(
    llm: Any, writes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads and writes stand in one queue, unless writing may call a language model."""
    queues: list[str] = []
    run_in_thread = calls.run_in_thread

    async def noting(call: Any, *, limiter_name: Any) -> Any:
        queues.append(limiter_name)
        return await run_in_thread(call, limiter_name=limiter_name)

    monkeypatch.setattr(calls, "run_in_thread", noting)
    with AgentMemory(tmp_path / "served.db", embedder=None, llm=llm) as memory, served(memory) as client:
        assert client.post("/_plugins/_ml/memory", json={"name": "Trip"}).status_code == 200
        assert client.get("/_plugins/_ml/memory").status_code == 200
    assert queues == [writes, "requests"]
