"""The commands: what they print, for people and for programs, and how they end."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest


def run(*words: str, expect: int = 0) -> str:
    """Run a command in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "hitherto", *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stderr if expect else done.stdout


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with two memories of Ana and one of Bo."""
    path = str(tmp_path / "memory.db")
    run(
        "add",
        path,
        "Ana plays the cello",
        "--user",
        "ana",
        "--type",
        "fact",
        "--metadata",
        '{"tag": "music"}',
    )
    run("add", path, "Ana prefers the night train", "--user", "ana", "--type", "preference")
    run("add", path, "Bo plays the drums", "--user", "bo", "--type", "fact")
    return path


def test_search_prints_json_for_programs(store: str) -> None:
    """With --json a search prints one document, scoped to the user, with an absolute relevance."""
    found = json.loads(run("search", store, "who plays the cello?", "--user", "ana", "--json"))
    assert found[0]["content"] == "Ana plays the cello"
    assert {item["user_id"] for item in found} == {"ana"}
    assert found[0]["relevance"] == 1.0 - found[0]["distance"]


def test_search_applies_its_filters(store: str) -> None:
    """Type and metadata filters restrict what is found."""
    typed = json.loads(run("search", store, "Ana", "--user", "ana", "--type", "preference", "--json"))
    assert [item["type"] for item in typed] == ["preference"]
    tagged = json.loads(run("search", store, "Ana", "--user", "ana", "--where", '{"tag": "music"}', "--json"))
    assert [item["content"] for item in tagged] == ["Ana plays the cello"]


def test_complaints_name_the_option(store: str) -> None:
    """What is wrong is named as on the command line, not as in Python."""
    assert "hitherto: --limit must be" in run("search", store, "x", "--limit", "0", expect=2)
    assert "hitherto: --limit must be" in run("list", store, "--kind", "users", "--limit", "0", expect=2)
    assert "hitherto: --hops must be" in run("search", store, "x", "--hops", "9", expect=2)
    assert "hitherto: --user must" in run("search", store, "x", "--user", "", expect=2)
    assert "hitherto: --type must be" in run("add", store, "x", "--type", "y", expect=2)
    assert "hitherto: --where must be a JSON object" in run("search", store, "x", "--where", "[", expect=2)


def test_search_prints_a_table_and_prompt_text(store: str) -> None:
    """Without --json a search prints a table, or the text for a prompt."""
    assert "Ana plays the cello" in run("search", store, "cello", "--user", "ana")
    assert "<fact>" in run("search", store, "cello", "--user", "ana", "--prompt")


def test_list_names_what_is_stored(store: str) -> None:
    """Listing gives the memories of the scope only, oldest first."""
    found = json.loads(run("list", store, "--user", "ana", "--json"))
    assert [item["content"] for item in found] == ["Ana plays the cello", "Ana prefers the night train"]
    assert json.loads(run("list", store, "--user", "ana", "--kind", "threads", "--json")) == []


def test_delete_and_its_exit_code(store: str) -> None:
    """Deleting a memory ends with 0, deleting what is not there with 1."""
    memory_id = json.loads(run("list", store, "--user", "bo", "--json"))[0]["id"]
    run("delete", store, memory_id)
    assert "there is no memory" in run("delete", store, memory_id, expect=1)


def test_stats_count_by_type(store: str) -> None:
    """The statistics count records by type."""
    assert json.loads(run("stats", store, "--json"))["records"] == {"fact": 2, "preference": 1}


def test_erase_needs_consent_and_leaves_no_trace(store: str) -> None:
    """Erasing asks first; afterwards the user's words are nowhere in the file."""
    assert "--yes" in run("erase", store, "--user", "ana", "--json", expect=2)
    assert json.loads(run("erase", store, "--user", "ana", "--yes", "--json")) == {"erased": 2}
    assert b"cello" not in Path(store).read_bytes()
    assert json.loads(run("list", store, "--user", "bo", "--json"))[0]["content"] == "Bo plays the drums"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("search", "absent.db", "x"), "absent.db"),
        (("list", "absent.db"), "absent.db"),
        (("demo", "--locomo", "absent.json"), "absent.json"),
        (("add", "new.db", "text", "--type", "rumour"), "rumour"),
        (("add", "new.db", "text", "--metadata", "[1]"), "JSON object"),
    ],
)
def test_bad_input_is_refused_by_name(words: tuple[str, ...], wanted: str) -> None:
    """A file that is not there or a wrong value ends with 2 and is named; no store is made by mistake."""
    assert wanted in run(*words, expect=2)
    assert not Path("absent.db").exists()


def test_a_foreign_kind_of_list_is_refused(store: str) -> None:
    """An unknown kind of record to list is named."""
    assert "rumours" in run("list", store, "--kind", "rumours", expect=2)


def test_purge_deletes_what_has_expired(tmp_path: Path) -> None:
    """Purging deletes what has expired, and counts it."""
    path = str(tmp_path / "memory.db")
    run("add", path, "gone at once", "--user", "ana", "--ttl-days", "0")
    assert json.loads(run("list", path, "--user", "ana", "--json")) == []
    assert json.loads(run("purge", path, "--json")) == {"purged": 1}


@pytest.mark.parametrize(
    "words", [("stats", "{}"), ("list", "{}"), ("copy", "{}", "{}.copy")], ids=lambda words: words[0]
)
def test_commands_leave_the_database_of_another_program_alone(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A command that reads puts no tables of ours into a file that holds something else."""
    file = tmp_path / "app.db"
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("CREATE TABLE customers (id)")
    before = file.read_bytes()
    assert "must be a store that exists" in run(*(word.format(file) for word in words), expect=2)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_misspelt_url_makes_no_store(tmp_path: Path) -> None:
    """A URL of a file is checked as its path is."""
    assert "must be a store that exists" in run("stats", f"sqlite:///{tmp_path}/nope.db", expect=2)
    assert list(tmp_path.iterdir()) == []


def test_help_loads_no_heavy_module() -> None:
    """Printing the help imports neither numpy nor SQLAlchemy, so that it is quick."""
    program = (
        "import sys\n"
        "from hitherto.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'sqlalchemy', 'onnxruntime'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_extraction_is_shown_retried_run_and_cancelled(tmp_path: Path) -> None:
    """What failed is listed with its reason, waits again, and is done by a model behind a URL."""
    from hitherto import AgentMemory, MemoryExtractionConfig, MemoryExtractionMode, ModelError
    from hitherto.testing.provider import ScriptedProvider, chat_reply
    from hitherto.testing.scripted import TaskLLM

    path = str(tmp_path / "memory.db")
    config = MemoryExtractionConfig(extraction_mode=MemoryExtractionMode.INLINE, enable_context_summary=False)
    model = TaskLLM(extract=ModelError("down"))
    with AgentMemory(path, embedder=None, llm=model, memory_extraction_config=config) as memory:
        thread = memory.create_thread(user_id="ana", thread_id="t")
        for text in ("I sail", "I row"):
            with pytest.raises(ModelError):
                thread.add_messages([{"role": "user", "content": text}])
    listed = subprocess.run(
        [sys.executable, "-m", "hitherto", "extraction", "status", path, "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert listed.returncode == 1
    first, second = json.loads(listed.stdout)
    assert (first["state"], first["error"], first["user_id"]) == ("failed", "ModelError: down", "ana")
    assert json.loads(run("extraction", "retry", path, first["id"], "--json")) == {"retried": 1}
    reply = chat_reply('{"memories": [{"text": "Ana sails", "record_type": "fact"}]}')
    with ScriptedProvider([reply]) as provider:
        words = ("extraction", "run", path, "--model", "m", "--api-base", provider.url)
        assert (
            "1 failed"
            in subprocess.run(
                [sys.executable, "-m", "hitherto", *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            ).stdout
        )
    assert "Ana sails" in run("list", path, "--user", "ana")
    assert json.loads(run("extraction", "retry", path, "--json")) == {"retried": 1}
    assert json.loads(run("extraction", "cancel", path, second["id"], "--json")) == {"cancelled": 1}
    assert "cancelled" in run("extraction", "status", path)
    run("extraction", "retry", path, expect=1)
    run("extraction", "status", str(tmp_path / "none.db"), expect=2)
    assert "states must be among" in run("extraction", "status", path, "--state", "x", expect=2)
