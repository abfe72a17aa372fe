"""The suite that every store passes.

A backend's test file is a class that says how to make its stores:

```python
class TestMyStore(StoreConformance):
    def make_store(self, folder, **options):
        return MyStore(**options)
```

``options`` are what every store takes (``embedder``, ``memory_retention_config``, ``search_strategy``, ``clock``).
A store that keeps its data in *folder* sets ``persistent = True`` and is opened there again; one that several processes
may open sets ``program``; one whose index stands apart from its records overrides ``leftovers``. A test that a store
does not qualify for is skipped, with the reason.
"""

from __future__ import annotations

from hitherto.testing.conformance.concurrency import ConcurrencyConformance
from hitherto.testing.conformance.embedder import EmbedderConformance
from hitherto.testing.conformance.erase import EraseConformance
from hitherto.testing.conformance.filters import FilterConformance
from hitherto.testing.conformance.jobs import JobConformance
from hitherto.testing.conformance.lifetime import LifetimeConformance
from hitherto.testing.conformance.links import LinkConformance
from hitherto.testing.conformance.processes import ProcessConformance
from hitherto.testing.conformance.records import RecordConformance
from hitherto.testing.conformance.scope import ScopeConformance
from hitherto.testing.conformance.search import SearchConformance
from hitherto.testing.conformance.text import TextConformance
from hitherto.testing.conformance.twins import TwinConformance

__all__ = ["StoreConformance"]


class StoreConformance(
    RecordConformance,
    ScopeConformance,
    FilterConformance,
    SearchConformance,
    LinkConformance,
    LifetimeConformance,
    EraseConformance,
    TextConformance,
    EmbedderConformance,
    TwinConformance,
    ConcurrencyConformance,
    JobConformance,
    ProcessConformance,
):
    """All of the suite."""
