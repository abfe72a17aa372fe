"""OpenSearch's query language over documents in memory: parsed, planned, scored, sorted and shown; no I/O."""
