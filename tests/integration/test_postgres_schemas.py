"""Stores in schemas of their own do not see each other, also where one's schema is on the other's path."""

from __future__ import annotations

import pytest
from tests.postgres import schema_url

from hitherto.store.postgres.store import PostgresStore


@pytest.mark.parametrize("policy", ["create_if_necessary", "recreate"])
def test_a_store_is_made_beside_one_further_on_the_path(policy: str) -> None:
    """The tables of the other store are neither taken for one's own nor deleted."""
    far = schema_url(f"far_{policy}")
    near = schema_url(f"near_{policy}").replace(f"near_{policy}", f"near_{policy},far_{policy}")
    with PostgresStore(far, partitions=1, schema_policy=policy) as other:
        other.add(["theirs"], "fact", user_ids="u")
        for _ in range(2):
            with PostgresStore(near, partitions=1, schema_policy=policy) as store:
                assert store.list("fact", user_id="u") == []
                ours = store.add(["ours"], "fact", user_ids="u")
                assert [record.id for record in store.list("fact", user_id="u")] == ours
                store.delete("fact", ours[0])
        assert [record.content for record in other.list("fact", user_id="u")] == ["theirs"]
