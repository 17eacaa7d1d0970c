"""Getting a stored secret out (G14): by reading it back, by sending it to a host of one's own, or by moving it."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import secrets
from tests.model_server import call, say, sequence
from tests.runs.house import House, open_house
from tests.tools.web_server import Web, answer, serve_web

VALUE = "sk-stored-0123456789"


async def put(house: House, name: str = "TEAM", **more: Any) -> Any:
    return await house.owner.ok("PUT", f"/api/secrets/{name}", {"value": VALUE, **more})


async def ask(house: House, **model: Any) -> Any:
    """The run of an agent with this model."""
    house.model.script = sequence(say("Hello."))
    agent = await house.world.agent("Bot", model={**house.model.model, **model})
    space = await house.space("Lab", agent)
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [run] = await house.runs(agent)
    return run


def host_of(house: House) -> str:
    return house.model.base_url.removeprefix("http://").removesuffix("/v1")


async def test_g14_no_interface_gives_a_secret_back(house: House) -> None:
    made = await put(house, hosts=["API.example.com"])
    assert made == {"name": "TEAM", "hosts": ["api.example.com"], "createdAt": made["createdAt"], "lastUsedAt": None}
    assert await house.owner.ok("GET", "/api/secrets") == [made]
    assert (await house.owner.get("/api/secrets/TEAM")).status_code == 405
    row = await house.world.gateway.db.read(lambda tx: tx.execute(sa.select(secrets)).one())
    assert VALUE not in str(row)
    assert (await house.owner.delete("/api/secrets/TEAM")).status_code == 204
    assert (await house.owner.delete("/api/secrets/TEAM")).status_code == 404


async def test_g14_secrets_are_for_the_owner_and_admins(house: House) -> None:
    member, admin = await house.person("Max"), await house.world.person("Ada", role="admin")
    await put(house)
    assert (await admin.get("/api/secrets")).status_code == 200
    assert (await member.get("/api/secrets")).status_code == 403
    assert (await member.http.put("/api/secrets/X", json={"value": "v"})).status_code == 403
    assert (await member.delete("/api/secrets/TEAM")).status_code == 403


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("1x", {"value": "v"}),
        ("a.b", {"value": "v"}),
        ("X", {"value": "  "}),
        ("X", {"value": "a\x00b"}),
        ("X", {"value": "v", "hosts": ["*"]}),
        ("X", {"value": "v", "hosts": ["http://x"]}),
        ("X", {"hosts": ["x"]}),
    ],
)
async def test_g14_a_bad_secret_is_refused(house: House, name: str, body: Any) -> None:
    refused = await house.owner.http.put(f"/api/secrets/{name}", json=body)
    assert refused.status_code == 422
    assert await house.owner.ok("GET", "/api/secrets") == []


async def test_g14_a_model_gets_the_secret_only_at_its_hosts(house: House) -> None:
    await put(house, hosts=[host_of(house)])
    run = await ask(house, apiKey="secret:TEAM")
    assert run["status"] == "completed"
    assert house.model.asked[0].headers["authorization"] == f"Bearer {VALUE}"
    [shown] = await house.owner.ok("GET", "/api/secrets")
    assert shown["lastUsedAt"] is not None
    # Replacing the hosts replaces the value: the old one cannot be sent elsewhere.
    await house.owner.ok("PUT", "/api/secrets/TEAM", {"value": "other", "hosts": ["api.example.com"]})
    asked = len(house.model.asked)
    [space] = await house.owner.ok("GET", "/api/spaces")
    await house.owner.say(space["id"], "Again")
    await house.until_idle()
    assert len(house.model.asked) == asked
    assert "must not be sent to 127.0.0.1" in (await house.runs())[-1]["error"]["message"]
    # G9: once per secret, host and run, by the agent.
    used = (await house.owner.ok("GET", "/api/audit", action="secret.used"))["entries"]
    runs = {run["id"] for run in await house.runs()}
    assert used
    assert len({(each["target"], each["details"]["host"], each["details"]["runId"]) for each in used}) == len(used)
    assert {each["details"]["runId"] for each in used} <= runs


@pytest.mark.parametrize("hosts", [[], ["api.example.com"], ["127.0.0.2"]])
async def test_g14_a_secret_for_another_host_stays_here(house: House, hosts: list[str]) -> None:
    """Without hosts it is for the model providers' own."""
    await put(house, hosts=hosts)
    run = await ask(house, apiKey="secret:TEAM")
    assert "The secret TEAM must not be sent to 127.0.0.1" in run["error"]["message"]
    assert house.model.asked == []


async def test_g14_an_admin_cannot_open_this_machine_with_a_secret(house: House) -> None:
    """The owner's word allows the host too; an admin's does not."""
    admin = await house.world.person("Ada", role="admin")
    await admin.ok("PUT", "/api/secrets/TEAM", {"value": VALUE, "hosts": ["127.0.0.1"]})
    run = await ask(house, apiKey="secret:TEAM")
    assert "it is not in model_hosts" in run["error"]["message"]
    assert house.model.asked == []


async def test_g14_the_environment_and_the_store_do_not_shadow_each_other(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM", "from-the-environment")
    run = await ask(house, apiKey="secret:TEAM")
    assert "the secret TEAM is not stored. Ask an admin" in run["error"]["message"]
    await put(house, hosts=["127.0.0.1"])
    refused = await house.owner.post(
        "/api/agents", {"name": "Two", "config": {"model": {**house.model.model, "apiKey": VALUE}}}
    )
    assert (refused.status_code, VALUE in refused.text) == (422, False)
    both = {**house.model.model, "apiKey": "secret:TEAM", "apiKeyEnv": "TEAM"}
    assert (await house.owner.post("/api/agents", {"name": "Two", "config": {"model": both}})).status_code == 422


async def test_g14_a_sealed_value_that_is_moved_to_another_name_cannot_be_opened(house: House) -> None:
    """With write access to the database alone."""
    await put(house, "PAY", hosts=["api.example.com"])
    owner = (await house.owner.ok("GET", "/api/me"))["id"]

    def move(tx: Any) -> None:
        sealed = tx.execute(sa.select(secrets.c.value)).scalar_one()
        row = {"set_by": owner, "set_by_owner": True, "created_at": 1, "changed_at": 1}
        tx.execute(secrets.insert(), {"name": "MINE", "value": sealed, "hosts": ["127.0.0.1"], **row})

    await house.world.gateway.db.write(move)
    run = await ask(house, apiKey="secret:MINE")
    assert "the secret MINE cannot be decrypted" in run["error"]["message"]


async def test_g14_a_tool_sends_a_secret_to_its_host_and_results_mask_it(settings: Settings) -> None:
    async with serve_web() as web, open_house(_reaching(settings, web)) as house:
        web.answers = lambda asked: answer(f'"you sent {asked.headers["authorization"]}"')
        headers = {"Authorization": "Bearer secret:TEAM", "X-Said": "{{input.said}}"}
        tool = {"name": "look", "type": "http", "execution": {"url": web.base, "headers": headers}}
        bot = await house.agent("Bot", tools=[tool])
        space = await house.space("Lab", bot)
        for hosts in ([f"127.0.0.1:{web.port}"], ["api.example.com"]):
            await put(house, hosts=hosts)
            # The model cannot name a secret.
            house.model.script = sequence(call("look", said="secret:TEAM"), say("Done."))
            await house.owner.say(space, "Look")
            await house.until_idle()
        [sent] = web.asked
        assert (sent.headers["authorization"], sent.headers["x-said"]) == (f"Bearer {VALUE}", "secret:TEAM")
        first, second = (asked.results[0] for asked in house.model.asked if asked.step == 1)
        assert first["body"] == "you sent Bearer [secret TEAM]"
        assert "the secret TEAM must not be sent to 127.0.0.1" in second["error"]
        everything = [await house.owner.get(f"/api/runs/{run['id']}/steps") for run in await house.runs()]
        assert VALUE not in "".join(each.text for each in everything)


def _reaching(settings: Settings, web: Web) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": [f"127.0.0.1:{web.port}"]})
