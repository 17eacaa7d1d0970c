"""`majlis token`: directly on the database, with or without a running server."""

from __future__ import annotations

from majlis.clock import now, parse_iso
from tests.cli.command import Command
from tests.world import World


async def test_a_token_is_printed_alone_and_works(local: Command, world: World) -> None:
    sara = await world.person("Sara")
    made = await local.ok("token", "create", "sara", "--label", "laptop", "--expires", "30d")
    assert made.out.startswith("mj_")
    assert len(made.out.splitlines()) == len(made.err.splitlines()) == 1
    someone = await world.anybody(made.out.strip())
    assert (await someone.ok("GET", "/api/me"))["id"] == sara.id


async def test_tokens_are_listed_and_revoked(local: Command, world: World) -> None:
    agent = await world.agent("Designer")
    made = (await local.ok("token", "create", agent.id, "--label", "CI", "--expires", "12h", "--json")).json
    assert 0 <= parse_iso(made["expiresAt"]) - now() <= 12 * 3_600_000
    shown = (await local.ok("token", "list", "Designer")).out
    assert "CI" in shown
    assert made["id"] in shown
    assert made["token"] not in shown
    await local.ok("token", "revoke", made["id"])
    assert made["id"] not in [token["id"] for token in (await local.ok("token", "list", "Designer", "--json")).json]
    someone = await world.anybody(made["token"])
    assert (await someone.get("/api/me")).status_code == 401
    assert await local.line("token", "revoke", made["id"], code=1) == f"There is no token {made['id']}."


async def test_a_sign_in_link_works_once(local: Command, world: World) -> None:
    sara = await world.person("Sara")
    link = (await local.given(MAJLIS_URL=world.base_url).ok("token", "sign-in", "Sara", "--json")).json["url"]
    base, code = link.split("/sign-in/")
    assert base == world.base_url
    headers = {"Sec-Fetch-Site": "same-origin"}
    first = await world.owner.http.post("/api/session", json={"code": code}, headers=headers)
    assert (first.status_code, first.json()["id"]) == (201, sara.id)
    assert (await world.owner.http.post("/api/session", json={"code": code}, headers=headers)).status_code == 401


async def test_an_unknown_name_is_reported_with_the_nearest_name(local: Command, world: World) -> None:
    await world.person("Sara")
    told = await local.line("token", "create", "Sarah", code=1)
    assert told == "There is no person, agent or service named 'Sarah'. Did you mean 'Sara'?"
    assert "There is no entity" in await local.line("token", "list", "ent_0000000000000000", code=1)


async def test_a_gateway_can_be_given_its_first_token_before_its_first_start(bare: Command) -> None:
    assert "There is no database" in await bare.line("token", "create", "Owner", code=2)
    await bare.ok("migrate")
    assert (await bare.ok("token", "create", "Owner")).out.startswith("mj_")
