"""An admin's config as a way to read the server's environment and network (G6): `apiKeyEnv: AWS_SECRET_ACCESS_KEY` with
a `baseUrl` of their own received the secret, and a `baseUrl` reached internal addresses and showed what they said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis.settings import Settings
from tests.model_server import Reply, say, sequence
from tests.runs.house import House, open_house

VALUE = "aws-secret-0123456789"


@pytest.fixture
async def house(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", VALUE)
    monkeypatch.setenv("OPENAI_API_KEY", VALUE)
    monkeypatch.setenv("TEAM_KEY", "team-key-0123456789")
    async with open_house(settings.model_copy(update={"model_env": ["TEAM_KEY"]})) as opened:
        opened.try_models_once()
        yield opened


async def failed(house: House, **model: Any) -> str:
    """Why the run of an agent with this model failed."""
    agent = await house.world.agent("Thief", model={**house.model.model, **model})
    space = await house.space("Lab", agent)
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [run] = await house.runs(agent)
    assert run["status"] == "failed"
    return str(run["error"]["message"])


async def test_g6_a_variable_that_is_not_in_model_env_is_not_read(house: House) -> None:
    why = await failed(house, apiKeyEnv="AWS_SECRET_ACCESS_KEY")
    assert "AWS_SECRET_ACCESS_KEY is not allowed by the setting model_env. Ask the owner" in why
    assert house.model.asked == []


async def test_g6_a_providers_own_key_does_not_go_to_another_host(house: House) -> None:
    house.model.script = sequence(say("Hello."))
    agent = await house.world.agent("Local", model=house.model.model)
    space = await house.space("Lab", agent)
    await house.owner.say(space, "Hello")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Local", "Hello.")
    assert all("authorization" not in asked.headers for asked in house.model.asked)
    assert "OPENAI_API_KEY is not allowed" in await failed(house, apiKeyEnv="OPENAI_API_KEY")


async def test_g6_a_key_goes_to_this_machine_only_if_the_owner_allows_the_host(house: House) -> None:
    why = await failed(house, apiKeyEnv="TEAM_KEY")
    assert "may not be used by models with a key: it is not in model_hosts. Ask the owner" in why
    assert house.model.asked == []
    await house.owner.ok("PUT", "/api/model-hosts", {"hosts": ["127.0.0.1"]})
    house.model.script = sequence(say("Hello."))
    [thief] = [each for each in await house.owner.ok("GET", "/api/agents") if each["name"] == "Thief"]
    [space] = [each for each in await house.owner.ok("GET", "/api/spaces") if each["name"] == "Lab"]
    await house.owner.say(space["id"], "Again")
    await house.until_idle()
    assert house.model.asked[-1].headers["authorization"] == "Bearer team-key-0123456789"
    assert thief["config"]["model"]["apiKeyEnv"] == "TEAM_KEY"


async def test_g6_a_host_that_the_owner_no_longer_allows_gets_no_further_key(house: House) -> None:
    """Majlis keeps the decisions of its settings for later requests, but not those of the owner."""
    await house.owner.ok("PUT", "/api/model-hosts", {"hosts": ["127.0.0.1"]})
    house.model.script = sequence(say("Hello."))
    agent = await house.world.agent("Thief", model={**house.model.model, "apiKeyEnv": "TEAM_KEY"})
    space = await house.space("Lab", agent)
    await house.owner.say(space, "Hello")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Thief", "Hello.")
    asked = len(house.model.asked)
    await house.owner.ok("PUT", "/api/model-hosts", {"hosts": []})
    await house.owner.say(space, "Again")
    await house.until_idle()
    [*_, run] = await house.runs(agent)
    assert "it is not in model_hosts. Ask the owner" in run["error"]["message"]
    assert len(house.model.asked) == asked


@pytest.mark.parametrize("host", ["169.254.169.254", "10.0.0.1:8080", "intranet.example", "[fd00::1]:80"])
async def test_g6_a_model_cannot_reach_into_the_network(house: House, host: str) -> None:
    why = await failed(house, baseUrl=f"http://{host}/latest")
    assert "it is not in model_hosts. Ask the owner of this gateway to allow it." in why


async def test_g6_only_the_owner_allows_hosts_for_models(house: House) -> None:
    admin = await house.world.person("Ada", role="admin")
    member = await house.world.person("Max")
    for person in (admin, member):
        assert (await person.http.put("/api/model-hosts", json={"hosts": ["127.0.0.1"]})).status_code == 403
    assert (await member.get("/api/model-hosts")).status_code == 403
    assert (await admin.get("/api/model-hosts")).json() == {"hosts": [], "settings": []}
    for bad in ("*", "*:80", "a b", "http://x"):
        assert (await house.owner.http.put("/api/model-hosts", json={"hosts": [bad]})).status_code == 422


async def test_g6_the_words_of_a_model_server_are_for_admins(house: House) -> None:
    member = await house.world.person("Max")
    agent = await house.world.agent("Local", model=house.model.model)
    space = await house.space("Lab", agent, member)
    house.model.script = sequence(Reply(status=400, text="internal page: the launch code is 0000"))
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [run] = await house.runs(agent)
    for path in (f"/api/runs/{run['id']}", f"/api/runs/{run['id']}/steps", f"/api/spaces/{space}/messages"):
        shown = await member.get(path)
        assert shown.status_code == 200
        assert "launch code" not in shown.text
    assert "rejected the request (400)" in run["error"]["message"]
    assert "launch code is 0000" in (await house.owner.get(f"/api/runs/{run['id']}/steps")).text
