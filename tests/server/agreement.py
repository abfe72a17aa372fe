"""The statistics of words that the server keeps, compared with the documents that they are of."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import text

from hitherto.server.index.reading import Reader
from hitherto.server.index.rest_index import RestIndex
from hitherto.server.index.terms import TermHashes, count_source


def check_statistics(index: RestIndex, reader: Reader) -> dict[str, Any]:
    """Assert that what is counted is what the documents have, and return these by their ids."""
    memories = reader.memories(user=None, skip=0, most=10_000)
    documents: dict[str, Any] = {one.document.id: one.document for one in memories}
    for memory in memories:
        documents.update({document.id: document for document, _ in reader.newer_messages(memory, after=-1)})
    hashes = TermHashes(index._salt)
    words: Counter[int] = Counter()
    fields: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    for document in documents.values():
        counted = count_source(hashes, document.source)
        words.update(dict.fromkeys(counted.hashes, 1))
        fields.update(dict.fromkeys(counted.lengths, 1))
        tokens.update(counted.lengths)
    stored = dict(reader.conn.execute(text("SELECT term, documents FROM rest_terms")).all())
    assert stored == dict(words)
    rows = reader.conn.execute(text("SELECT field, documents, tokens FROM rest_fields")).all()
    assert {row[0]: row[1] for row in rows if row[1]} == dict(fields)
    assert {row[0]: row[2] for row in rows if row[2]} == dict(tokens)
    for name in ("memories", "messages"):
        numbers = reader.conn.execute(text(f"SELECT seq_no FROM rest_{name}")).scalars().all()
        assert len(set(numbers)) == len(numbers)
    return documents
