"""What of the original package is deliberately not the same here, and why: read by a test, shown by the documentation.

A name may end in a star, which stands for every parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_HERE: Final[Mapping[str, str]] = {
    "OracleThread(*": "threads are made by create_thread() and get_thread() alone",
    "ThreadMemoryExtractor": "extraction is a durable job of the store, not an object",
    "OneShotThreadMemoryExtractor": "extraction is a durable job of the store, not an object",
    "resolve_memory_extraction_config_argument": "a helper of the original's own constructors",
    "validate_image_request": "images are checked where they come in, by their limits",
    "ABSOLUTE_IMAGE_INPUT_LIMIT_CONFIG": "there is no limit above the one that is configured",
}
"""Names and parameters that are not here."""

DIFFERENT_DEFAULTS: Final[Mapping[str, str]] = {
    "search(*": "of a store: an id that is left out (NOT_SET) is not the id None, which says that there is none",
    "search_async(*": "as for search",
}
"""Defaults that are others."""
