"""The demo, as a newcomer runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def demo(*words: str) -> str:
    """Run the demo in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "hitherto", "demo", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_demo_finds_again_what_another_process_stored(tmp_path: Path) -> None:
    """The second process finds what the first one stored, each user only what is theirs, and follows links."""
    found = json.loads(demo("--file", str(tmp_path / "demo.db"), "--json"))
    assert found["store"]["messages"] == 29
    answers = found["ask"]["answers"]
    assert any("shellfish" in item["content"] for item in answers["What must Mia not eat?"])
    assert any("puffins" in item["content"].lower() for item in answers["Where can we see puffins?"])
    assert any("married in Porto" in item["content"] for item in answers["Why did they go to Porto first?"])
    everything = [item for items in answers.values() for item in items]
    assert {item["user_id"] for item in everything if item["type"] != "user_profile"} == {"mia"}
    assert [item["user_id"] for item in found["ask"]["strangers"]] == ["ivo"]
    linked = {item["id"]: [child["id"] for child in item["linked"]] for item in found["ask"]["linked"]}
    assert "tea" in linked or "coffee" in linked
    assert any(linked.values())


def test_demo_prints_for_people() -> None:
    """Without --json the demo prints the questions and what was found, also where there is no terminal."""
    printed = demo()
    assert "first process" in printed
    assert "second process" in printed
    assert "What must Mia not eat?" in printed
    assert "is_superseded_by" in printed or "supersedes" in printed


def test_demo_measures_recall_on_a_conversation(reference_data: Path) -> None:
    """With a LoCoMo conversation the demo stores it and prints recall at 10."""
    found = json.loads(demo("--locomo", str(reference_data / "data" / "locomo" / "30.json"), "--json"))
    assert found["store"]["messages"] > 300
    assert found["ask"]["all"]["recall@10"] >= 0.7
