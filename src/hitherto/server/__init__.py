"""The HTTP server: OpenSearch's conversational memory API over a store of hitherto."""
