"""Models: what turns text into vectors, scores or text."""
