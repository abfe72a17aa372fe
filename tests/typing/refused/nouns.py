"""Programs over the nouns that must not type-check."""

from __future__ import annotations

from hitherto import Fingerprint, Message, SearchScope

Message(role=1, content="hello")  # refused: arg-type
SearchScope(user_id=7)  # refused: arg-type
Fingerprint(name="m", dimension="3", normalised=True)  # refused: arg-type
