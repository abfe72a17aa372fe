"""The prompts of extraction, as text files."""
