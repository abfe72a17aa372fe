"""Serve many users from one file and one client, asynchronously; nobody sees what is another's."""

from __future__ import annotations

import asyncio

from hitherto import AgentMemory

DISHES = {"mia": "walnut bread", "ivo": "grilled fish", "ana": "lentil soup"}


async def serve(memory: AgentMemory, user: str, dish: str) -> str:
    """Store what a user likes and search for it."""
    await memory.add_memory_async(f"{user} likes {dish}", memory_type="preference", user_id=user)
    own = await memory.search_async("likes", user_id=user)
    assert all(result.content.startswith(user) for result in own)
    return f"{user}: {own[0].content}"


async def main() -> None:
    """Serve all of them at once."""
    async with AgentMemory("many_users.db") as memory:
        for line in await asyncio.gather(*(serve(memory, user, dish) for user, dish in DISHES.items())):
            print(line)


if __name__ == "__main__":
    asyncio.run(main())
