"""Invites that are expired, used up, ended, guessed or sent by another site, or made without the right to (G15)."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from majlis.store.tables import invites
from majlis.store.transactions import Tx
from tests.api.test_bad_input import assert_error
from tests.spaces.test_invites import browser, invite
from tests.world import World


async def works(world: World, path: str) -> bool:
    """For the page and for the form alike."""
    async with browser(world) as http:
        looked, joined = await http.get(path), await http.post(path, data={"name": f"Eve {path[-6:].strip('-_')}x"})
    assert (looked.status_code, joined.status_code) in ((200, 303), (401, 401))
    return looked.status_code == 200


async def test_g15_only_an_admin_of_the_gateway_and_the_space_invites(world: World) -> None:
    """Only owners and admins create people: a space admin who is not one must not do it by a link."""
    eve, admin, agent = await world.person("Eve"), await world.person("Adam", role="admin"), await world.agent("Ada")
    hers = await eve.create_space("Hers")
    others = await world.owner.create_space("Other", eve, agent)
    assert_error(await eve.post(f"/api/spaces/{hers}/invites"), 403, "not_allowed")
    assert_error(await eve.post(f"/api/spaces/{others}/invites"), 403, "not_space_admin")
    assert_error(await agent.post(f"/api/spaces/{others}/invites"), 403, "not_space_admin")
    # An admin of the gateway cannot let people into spaces that they may not read.
    for path in (f"/api/spaces/{hers}/invites", f"/api/spaces/{others}/invites"):
        assert_error(await admin.post(path), 404, "unknown_space")
        assert_error(await admin.get(path), 404, "unknown_space")
    assert_error(await eve.get(f"/api/spaces/{others}/invites"), 403, "not_space_admin")
    without = await world.with_token(world.owner.id, "Owner", scopes=["read", "write"])
    assert_error(await without.post(f"/api/spaces/{others}/invites"), 403, "not_allowed")
    direct = await world.owner.ok("POST", "/api/direct", {"entityId": eve.id})
    assert_error(await world.owner.post(f"/api/spaces/{direct['id']}/invites"), 403, "not_space_admin")


async def test_g15_an_invite_that_is_used_up_ended_or_expired_does_not_work(world: World) -> None:
    space = await world.owner.create_space()
    once = await invite(world.owner, space)
    assert await works(world, once)
    assert not await works(world, once)
    ended = await invite(world.owner, space)
    (listed,) = await world.owner.ok("GET", f"/api/spaces/{space}/invites")
    end = f"/api/spaces/{space}/invites/{listed['id']}"
    other = await world.owner.create_space("Other")
    assert_error(await world.owner.delete(f"/api/spaces/{other}/invites/{listed['id']}"), 404, "unknown_invite")
    assert (await world.owner.delete(end)).status_code == 204
    assert_error(await world.owner.delete(end), 404, "unknown_invite")
    assert not await works(world, ended)
    expired = await invite(world.owner, space)

    def expire(tx: Tx) -> None:
        tx.execute(sa.update(invites).where(invites.c.ended_at.is_(None)).values(expires_at=tx.now - 1))

    await world.gateway.db.write(expire)
    assert not await works(world, expired)
    gone = await invite(world.owner, other)
    await world.owner.ok("DELETE", f"/api/spaces/{other}")
    assert not await works(world, gone)


@pytest.mark.parametrize("code", ["", "mi_", "mi_" + "A" * 43, "%00", "a" * 5000, "mi_%F0%9F%98%80"])
async def test_g15_a_guessed_code_tells_nothing(world: World, code: str) -> None:
    await invite(world.owner, await world.owner.create_space("Secret plans"))
    async with browser(world) as http:
        for answer in (await http.get(f"/invite/{code}"), await http.post(f"/invite/{code}", data={"name": "Eve"})):
            assert answer.status_code in (401, 404, 405)
            assert "Secret plans" not in answer.text


async def test_g15_an_invite_ends_with_the_rights_of_its_creator(world: World) -> None:
    """An admin who is dismissed must not have left doors open."""
    adam = await world.person("Adam", role="admin")
    space = await adam.create_space("His", world.owner)
    await adam.ok("POST", f"/api/spaces/{space}/members", {"entityId": world.owner.id, "role": "admin"})
    demoted = await invite(adam, space)
    await world.owner.ok("PATCH", f"/api/entities/{adam.id}", {"role": "member"})
    assert not await works(world, demoted)
    await world.owner.ok("PATCH", f"/api/entities/{adam.id}", {"role": "admin"})
    await adam.ok("DELETE", f"/api/spaces/{space}/members/{adam.id}")
    assert not await works(world, demoted)
    await world.owner.ok("DELETE", f"/api/entities/{adam.id}")
    assert not await works(world, demoted)


async def test_g15_the_last_use_lets_one_person_in_at_any_concurrency(world: World) -> None:
    space = await world.owner.create_space()
    path = await invite(world.owner, space, uses=2)
    async with browser(world) as http:
        answers = await asyncio.gather(*(http.post(path, data={"name": f"Guest {n}"}) for n in range(6)))
    assert sorted(answer.status_code for answer in answers) == [303, 303, 401, 401, 401, 401]
    assert len(await world.owner.ok("GET", f"/api/spaces/{space}/members")) == 3


async def test_g15_another_site_cannot_make_a_person_join(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space()
    path = await invite(world.owner, space)
    async with browser(world) as http:
        await http.post("/api/session", json={"token": sara.token})
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
            assert (await http.post(path, headers=headers)).status_code == 403
    assert len(await world.owner.ok("GET", f"/api/spaces/{space}/members")) == 1


async def test_g15_the_code_is_nowhere_but_in_the_response(world: World) -> None:
    space = await world.owner.create_space()
    code = (await invite(world.owner, space)).rsplit("/", 1)[1]
    for path in (f"/api/spaces/{space}/invites", "/api/audit", f"/api/spaces/{space}"):
        assert code not in (await world.owner.get(path)).text
    stored = await world.gateway.db.read(lambda tx: [str(tuple(row)) for row in tx.all(sa.select(invites))])
    assert code not in stored[0]
