"""On PostgreSQL a known caller's token is looked up together with the first statement of its request. The request still
sees every change since the last one."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from majlis.api.auth import Credential, Entry, KnownTokens
from majlis.entities.caller import Caller
from majlis.errors import Unauthenticated
from majlis.store.transactions import Tx
from tests.world import World


async def test_a_known_caller_posts_under_its_new_name(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Project Alpha", sara)
    await sara.say(space, "hello")
    await world.owner.ok("PATCH", f"/api/entities/{sara.id}", {"name": "Sarah"})
    assert (await sara.say(space, "hello"))["sender"]["name"] == "Sarah"
    assert (await sara.say(space, "hello"))["seq"] == 3


async def test_a_known_caller_whose_token_has_ended_writes_and_reads_nothing(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Project Alpha", sara)
    await sara.say(space, "hello")
    [token] = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
    await world.owner.ok("DELETE", f"/api/tokens/{token['id']}")
    path = f"/api/spaces/{space}/messages"
    for _ in range(2):
        assert (await sara.post(path, {"text": "again"})).status_code == 401
        # The refusals of the work say nothing to a caller without access.
        assert (await sara.post(path, {"text": " "})).status_code == 401
        assert (await sara.get(path)).status_code == 401
        assert (await sara.get("/api/spaces")).status_code == 401
        assert (await sara.patch(f"/api/spaces/{space}", {"name": "Project Beta"})).status_code == 401
    after = await world.owner.say(space, "the next message")
    assert after["seq"] == 2
    assert (await world.owner.space(space))["name"] == "Project Alpha"


async def test_a_known_caller_has_its_new_role(world: World) -> None:
    sara = await world.person("Sara")
    new = {"type": "human", "name": "Omar"}
    assert (await sara.post("/api/entities", new)).status_code == 403
    await world.owner.ok("PATCH", f"/api/entities/{sara.id}", {"role": "admin"})
    assert (await sara.post("/api/entities", new)).status_code == 201
    await world.owner.ok("PATCH", f"/api/entities/{sara.id}", {"role": "member"})
    assert (await sara.post("/api/entities", {**new, "name": "Layla"})).status_code == 403
    names = [each["name"] for each in await world.owner.ok("GET", "/api/entities")]
    assert "Omar" in names
    assert "Layla" not in names


async def test_a_statement_that_fails_says_nothing_to_a_caller_whose_token_has_ended(world: World) -> None:
    """Otherwise its error would tell whether the caller had been allowed to go on until there."""
    sara = await world.person("Sara")
    entry = Entry(world.gateway, Credential(world.gateway.hasher.hash(sara.token), "api"), KnownTokens())
    await entry.caller()
    [token] = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
    await world.owner.ok("DELETE", f"/api/tokens/{token['id']}")

    def fail(tx: Tx, _: Caller) -> None:
        tx.execute(sa.text("SELECT * FROM no_such_table"))

    for run in (entry.read, entry.write, entry.snapshot):
        with pytest.raises(Unauthenticated):
            await run(fail)
