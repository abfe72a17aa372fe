"""The prompts of the search steps, as text files with a name and a version."""
