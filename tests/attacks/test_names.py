"""Names that look like another member's (X9)."""

from __future__ import annotations

import pytest

from tests.api.test_bad_input import assert_error
from tests.world import World


@pytest.mark.parametrize(
    "name", ["\u041ewner", "\ua4f3\ua4ea\ua4e0\ua4f0\ua4e3", "O\u0461ner", "\uff2f\uff37\uff2e\uff25\uff32"]
)
async def test_x9_a_name_that_looks_like_the_owners_is_refused(world: World, name: str) -> None:
    """An agent named Оwner with a Cyrillic О spoke in prompts as the owner."""
    for type in ("human", "service"):
        refused = await world.owner.post("/api/entities", {"type": type, "name": name})
        assert refused.status_code in (409, 422), name
    assert_error(await world.owner.post("/api/agents", {"name": "owner", "config": {}}), 409, "name_taken")
    sara = await world.person("Sara")
    changed = await world.owner.http.patch(f"/api/entities/{sara.id}", json={"name": name})
    assert changed.status_code in (409, 422)
    assert (await world.owner.ok("GET", f"/api/entities/{sara.id}"))["name"] == "Sara"
