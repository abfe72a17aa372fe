"""The verbs of :class:`~hitherto.memory.AgentMemory`, by subject."""
