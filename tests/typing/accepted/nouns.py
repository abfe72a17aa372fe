"""Programs over the nouns that must type-check."""

from __future__ import annotations

import hitherto
from hitherto import NOT_SET, FactRecord, Message, Record, SearchScope, TextContent, build_record


def text_of(message: Message) -> str:
    """Take a message apart by type."""
    content = message.content
    if isinstance(content, str):
        return content
    return " ".join(part.text for part in content if isinstance(part, TextContent))


def scopes() -> list[SearchScope]:
    """Say omitted, None and an id."""
    return [SearchScope(), SearchScope(user_id=None), SearchScope(user_id="u1", agent_id=NOT_SET)]


def built() -> Record:
    """Build a record by its type's name."""
    fact: FactRecord = FactRecord(id="f1", content="likes tea")
    return fact if fact.content else build_record("fact", id="f2", content="likes coffee")


VERSION: str = hitherto.__version__
