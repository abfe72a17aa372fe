"""Fresh and migrated schemas are the same, and Alembic is not loaded for a current file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hitherto.store.sql.migrate import create, upgrade
from hitherto.store.sqlite.engine import SqliteEngine
from hitherto.store.sqlite.index import CREATION, INDEX_DDL
from hitherto.store.sqlite.store import SQLiteStore


def schema(path: Path, migrated: bool) -> dict[str, object]:
    engine = SqliteEngine(str(path), durability="full", busy_timeout_s=5, read_only=False, create=True)
    with engine.write() as conn:
        if migrated:
            upgrade(conn, INDEX_DDL)
        else:
            create(conn, CREATION)
    found: dict[str, object] = {}
    with engine.read() as conn:
        names = conn.exec_driver_sql(
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
        ).all()
        for kind, name, table, sql in names:
            if kind == "table":
                found[name] = [
                    conn.exec_driver_sql(f"PRAGMA table_xinfo({name})").all(),
                    conn.exec_driver_sql(f"PRAGMA foreign_key_list({name})").all(),
                    "WITHOUT ROWID" in sql,
                ]
            else:
                unique = {row[1]: row[2] for row in conn.exec_driver_sql(f"PRAGMA index_list({table})")}
                columns = conn.exec_driver_sql(f"PRAGMA index_xinfo('{name}')").all()
                where = "" if sql is None else sql.partition(" WHERE ")[2].replace('"', "")
                found[name] = [table, unique[name], columns, where]
        found["version"] = conn.exec_driver_sql("SELECT version_num FROM schema_version").scalar()
        found["seed"] = conn.exec_driver_sql("SELECT name, value FROM counters ORDER BY name").all()
        found["scopes"] = conn.exec_driver_sql("SELECT * FROM scopes").all()
    engine.close()
    return found


def test_a_fresh_schema_equals_a_migrated_one(tmp_path: Path) -> None:
    """Creating at once and running every migration give the same tables, indexes and first rows."""
    assert schema(tmp_path / "fresh.db", migrated=False) == schema(tmp_path / "migrated.db", migrated=True)


def test_a_migrated_file_opens(tmp_path: Path) -> None:
    """A file that was made by migrations alone works like any other."""
    schema(tmp_path / "migrated.db", migrated=True)
    with SQLiteStore(tmp_path / "migrated.db", schema_policy="require_existing") as store:
        store.add(["x"], "fact", record_ids="1", user_ids="u")
        assert store.get("fact", "1") is not None


def test_alembic_is_loaded_only_for_a_file_that_is_behind(tmp_path: Path) -> None:
    """Neither creating nor opening a current store pays for importing Alembic."""
    program = (
        "import sys\n"
        "from hitherto.store.sqlite.store import SQLiteStore\n"
        "SQLiteStore('a.db').close()\n"
        "SQLiteStore('a.db').close()\n"
        "print('alembic' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
