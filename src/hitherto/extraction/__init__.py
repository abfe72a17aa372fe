"""Messages become memories: extraction, links, summaries and context cards."""
