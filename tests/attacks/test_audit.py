"""Acting for others without a trace, or removing the trace (G9)."""

from __future__ import annotations

import asyncio

import httpx
import pytest
import sqlalchemy as sa

from majlis.audit.record import record_secret_use
from majlis.audit.seal import seal_new, verify
from majlis.foundation import owner_caller
from majlis.store.tables import audit
from majlis.store.transactions import Tx
from tests.world import Person, World


async def actions(owner: Person, **query: object) -> list[tuple[str, str, str]]:
    page = await owner.ok("GET", "/api/audit", **query)
    return [(each["actor"]["name"], each["action"], each["target"]) for each in page["entries"]]


async def test_g9_an_admin_who_makes_a_token_for_a_member_leaves_a_trace(world: World) -> None:
    """An admin made a token for a member and spoke as that member, and nothing showed it."""
    admin, sara = await world.person("Ada", role="admin"), await world.person("Sara")
    made = await admin.ok("POST", f"/api/entities/{sara.id}/tokens", {"label": "hers"})
    [entry] = (await world.owner.ok("GET", "/api/audit", actorId=admin.id))["entries"]
    assert (entry["action"], entry["target"]) == ("token.created", sara.id)
    assert entry["details"] == {
        "tokenId": made["id"], "label": "hers", "scopes": ["admin", "approve", "read", "write"],
    }  # fmt: skip
    assert made["token"] not in str(entry)
    assert (await admin.get("/api/audit")).status_code == 403
    assert (await sara.get("/api/audit")).status_code == 403


async def test_administrative_acts_and_sign_ins_are_recorded_newest_first(world: World) -> None:
    owner = world.owner
    sara = await owner.ok("POST", "/api/entities", {"type": "human", "name": "Sara"})
    await owner.ok("PATCH", f"/api/entities/{sara['id']}", {"role": "admin"})
    agent = await owner.ok("POST", "/api/agents", {"name": "Bot", "config": {}})
    await owner.ok("PATCH", f"/api/agents/{agent['id']}", {"config": {"instructions": "secret words"}})
    async with httpx.AsyncClient(
        base_url=world.base_url, headers={"Sec-Fetch-Site": "same-origin"}, timeout=60
    ) as browser:
        assert (await browser.post("/api/session", json={"token": owner.token})).is_success
        assert (await browser.delete("/api/session")).is_success
    space = await owner.create_space("Short-lived")
    await owner.ok("DELETE", f"/api/spaces/{space}")
    await owner.ok("DELETE", f"/api/entities/{sara['id']}")
    assert await actions(owner) == [
        ("Owner", "entity.deleted", sara["id"]),
        ("Owner", "space.deleted", space),
        ("Owner", "session.ended", owner.id),
        ("Owner", "session.opened", owner.id),
        ("Owner", "agent.changed", agent["id"]),
        ("Owner", "agent.created", agent["id"]),
        ("Owner", "entity.changed", sara["id"]),
        ("Owner", "entity.created", sara["id"]),
    ]
    whole = await owner.ok("GET", "/api/audit")
    assert "secret words" not in str(whole)
    page = await owner.ok("GET", "/api/audit", limit=3)
    assert page["hasMore"]
    rest = await actions(owner, before=page["entries"][-1]["id"], action="agent")
    assert [action for _, action, _ in rest] == ["agent.changed", "agent.created"]
    assert await actions(owner, **{"from": whole["entries"][0]["at"]})
    assert await actions(owner, action="agen") == []


async def test_a_refused_act_leaves_no_entry(world: World) -> None:
    before = await actions(world.owner)
    assert (await world.owner.post("/api/entities", {"type": "human", "name": "owner"})).status_code == 409
    assert await actions(world.owner) == before


@pytest.mark.parametrize("change", ["changed", "removed", "removed at the end", "moved"])
async def test_a_change_of_the_log_is_found(world: World, change: str) -> None:
    for n in range(4):
        await world.owner.ok("POST", "/api/entities", {"type": "service", "name": f"Service {n}"})
    db, key = world.gateway.db, world.gateway.hasher.audit_key
    assert await db.write(seal_new, key, True) == 4
    await world.owner.ok("POST", "/api/entities", {"type": "service", "name": "New"})
    found = await db.read(verify, key)
    assert (found.sealed, found.unsealed, found.problem) == (4, 1, None)

    def tamper(tx: Tx) -> None:
        second, last = audit.c.n == 2, audit.c.n == 4
        match change:
            case "changed":
                tx.execute(audit.update().where(second).values(actor_name="Mallory"))
            case "removed":
                tx.execute(audit.delete().where(second))
            case "removed at the end":
                tx.execute(audit.delete().where(last))
            case _:
                tx.execute(audit.update().where(second).values(n=9))

    await db.write(tamper)
    problem = (await db.read(verify, key)).problem
    assert problem is not None
    assert (await db.read(verify, b"another key")).problem is not None


async def test_several_nodes_seal_one_chain(world: World) -> None:
    db, key = world.gateway.db, world.gateway.hasher.audit_key
    for n in range(3):
        await world.owner.ok("POST", "/api/entities", {"type": "service", "name": f"Service {n}"})
    sealed = await asyncio.gather(*(db.write(seal_new, key) for _ in range(4)))
    assert sorted(sealed) == [0, 0, 0, 3]
    assert (await db.read(verify, key)).problem is None


async def test_a_secret_is_recorded_once_per_host_and_run(world: World) -> None:
    def use(tx: Tx) -> None:
        owner = owner_caller(tx, world.owner.id)
        for host, run in (
            ("a.example", "run_1"),
            ("a.example", "run_1"),
            ("b.example", "run_1"),
            ("a.example", "run_2"),
        ):
            record_secret_use(tx, owner, "KEY", host, run)

    await world.gateway.db.write(use)
    await world.gateway.db.write(use)
    count = sa.select(sa.func.count()).where(audit.c.action == "secret.used")
    assert await world.gateway.db.read(lambda tx: tx.execute(count).scalar_one()) == 3


async def test_pauses_and_budgets_are_recorded(world: World) -> None:
    agent = await world.agent("Bot")
    space = await world.owner.create_space("Lobby")
    for path in (f"/api/agents/{agent.id}/pause", f"/api/spaces/{space}/pause", "/api/pause"):
        await world.owner.ok("POST", path)
    await world.owner.ok("DELETE", "/api/pause")
    await world.owner.ok("PUT", "/api/budgets", {"budgets": [{"scope": "gateway", "tokens": 1000}]})
    assert [action for _, action, _ in (await actions(world.owner))[:5]] == [
        "budgets.changed", "gateway.unpaused", "gateway.paused", "space.paused", "agent.paused",
    ]  # fmt: skip
