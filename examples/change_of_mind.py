"""Keep what somebody wants now apart from what they wanted before, with a link between the two."""

from __future__ import annotations

from hitherto import AgentMemory


def main() -> None:
    """Store a preference, supersede it, and search with and without the old one."""
    with AgentMemory(":memory:") as memory:
        coffee = memory.add_memory("Mia drinks coffee", memory_type="preference", user_id="mia")
        memory.add_memory(
            "Mia has given up coffee and drinks tea",
            memory_type="preference",
            memory_id_to_link=coffee,
            link_type="supersedes",
        )
        print("now:")
        for result in memory.search("coffee or tea?", user_id="mia", include_invalid_results=False):
            print(f"  {result.content}")
        print("with its history:")
        for result in memory.search("coffee or tea?", user_id="mia", num_hops=1, max_results=1):
            print(result.formatted_content)


if __name__ == "__main__":
    main()
