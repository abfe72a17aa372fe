"""Store a conversation, close the file, open it again, and find what was said.

Run it twice: the second time it finds what the first run stored.
"""

from __future__ import annotations

from hitherto import AgentMemory, Message

FILE = "remember.db"


def main() -> None:
    """Store two messages and a memory, and ask."""
    with AgentMemory(FILE) as memory:
        known = {record.id for record in memory.list_memories(user_id="mia")}
        print(f"{len(known)} memories from earlier runs")
        thread = memory.create_thread(user_id="mia", agent_id="travel")
        thread.add_messages(
            [
                Message("user", "I would rather take the night train than fly.", "2026-03-02T09:00:00Z"),
                Message("assistant", "Then Hamburg to Vienna overnight it is."),
            ]
        )
        if not known:
            memory.add_memory("Mia prefers night trains", memory_type="preference", user_id="mia")

    with AgentMemory(FILE) as memory:
        for result in memory.search("How does Mia like to travel?", user_id="mia", max_results=3):
            print(f"{1 - result.distance:.2f}  {result.record.record_type:<12}{result.content}")


if __name__ == "__main__":
    main()
