"""D6: the gateway signs in to a remote MCP server (OAuth), with a real authorization server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from majlis import clock
from majlis.agents.config.config import parse_config
from majlis.errors import Invalid
from majlis.settings import Settings
from majlis.tools.mcp.oauth import SignedIn
from tests.model_server import call, sequence, silent
from tests.runs.house import House, open_house
from tests.tools.full_mcp_server import make_server
from tests.tools.guarded_mcp_server import Guard, guarded_server
from tests.tools.uvicorn_server import serving_app
from tests.world import Person


@pytest.fixture
async def vault() -> AsyncIterator[tuple[int, Guard]]:
    async with guarded_server() as served:
        yield served


@pytest.fixture
async def house(settings: Settings, vault: tuple[int, Guard]) -> AsyncIterator[House]:
    allowed = {"tool_private_hosts": [f"127.0.0.1:{vault[0]}"]}
    async with open_house(settings.model_copy(update=allowed)) as opened:
        yield opened


def url_of(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


async def begin(house: House, port: int, name: str = "vault", person: Person | None = None) -> httpx.Response:
    return await (person or house.owner).post("/api/mcp-sign-ins", {"name": name, "url": url_of(port)})


async def allow(link: str) -> httpx.Response:
    """As a browser does: the authorization server redirects it to the gateway."""
    async with httpx.AsyncClient(follow_redirects=True) as browser:
        return await browser.get(link)


async def signed_in(house: House, port: int) -> None:
    begun = await begin(house, port)
    assert begun.status_code == 201, begun.text
    shown = await allow(begun.json()["authorizationUrl"])
    assert (shown.status_code, "Signed in" in shown.text) == (200, True)


async def opened(house: House, port: int, name: str = "vault") -> Any:
    """The result of a call in a run of a new agent, or the run's notes."""
    mcp = [{"name": "v", "url": url_of(port), "oauth": name}]
    bot = await house.agent(f"Bot {len(house.model.asked)}", mcp=mcp)
    space = await house.space("Vault", bot)
    house.model.script = sequence(call("v__open_vault"), silent())
    await house.owner.say(space, "Open it")
    await house.until_idle()
    [run] = await house.runs(bot)
    return run["notes"] or house.model.asked[-1].results[-1]


async def test_d6_an_admin_signs_the_gateway_in_and_agents_use_the_server(
    house: House, vault: tuple[int, Guard]
) -> None:
    port, guard = vault
    assert "Ask an admin of this gateway" in (await opened(house, port))[0]
    await signed_in(house, port)
    [token] = guard.access
    # The server says the token, and the model does not see it.
    assert await opened(house, port) == {"success": True, "text": "Opened with [secret vault]"}
    [listed] = await house.owner.ok("GET", "/api/secrets")
    assert (listed["name"], listed["hosts"]) == ("vault", [f"127.0.0.1:{port}"])
    assert listed["lastUsedAt"] is not None
    audit = await house.owner.ok("GET", "/api/audit")
    assert [each["action"] for each in audit["entries"]].count("secret.set") == 2
    assert token not in json.dumps([listed, audit])
    [client] = guard.clients.values()
    assert [str(each) for each in client.redirect_uris or ()] == [f"{house.owner.base_url}/mcp-sign-in"]


async def test_d6_tokens_are_refreshed_once_for_all(house: House, vault: tuple[int, Guard]) -> None:
    port, guard = vault
    await signed_in(house, port)
    store, reach = house.world.gateway.secrets, house.world.gateway.tools.reach
    # As on several nodes: they share only the database.
    nodes = [SignedIn("vault", url_of(port), store, reach) for _ in range(4)]
    [first] = {await node.token() for node in nodes}
    clock.advance(3_600_000)
    [second] = set(await asyncio.gather(*(node.token() for node in nodes)))
    assert (guard.refreshed, second != first) == (1, True)
    # The server has ended the token early.
    del guard.access[second]
    assert (await opened(house, port))["success"]
    assert guard.refreshed == 2


async def test_d6_a_sign_in_that_has_ended_says_what_to_do(house: House, vault: tuple[int, Guard]) -> None:
    port, guard = vault
    await signed_in(house, port)
    guard.access.clear()
    guard.refresh.clear()
    await opened(house, port)
    [note] = await opened(house, port)
    assert f"run majlis mcp sign-in vault {url_of(port)}" in note
    house.world.gateway.tools.servers._servers.clear()
    await signed_in(house, port)
    assert len(guard.clients) == 1, "it registers once"
    assert (await opened(house, port))["success"]


async def test_d6_a_client_that_was_registered_by_hand_is_used(house: House, vault: tuple[int, Guard]) -> None:
    port, guard = vault
    known = OAuthClientInformationFull(
        client_id="by-hand",
        client_secret="kept",
        redirect_uris=[AnyUrl(f"{house.owner.base_url}/mcp-sign-in")],
        token_endpoint_auth_method="client_secret_basic",
        scope="read",
    )
    guard.clients["by-hand"] = known
    given = {"name": "vault", "url": url_of(port), "clientId": "by-hand", "clientSecret": "kept"}
    begun = await house.owner.ok("POST", "/api/mcp-sign-ins", given)
    assert (await allow(begun["authorizationUrl"])).status_code == 200
    assert (await opened(house, port))["success"]
    assert list(guard.clients) == ["by-hand"]


async def test_d6_a_server_that_wants_more_scopes_says_which(house: House, vault: tuple[int, Guard]) -> None:
    port, guard = vault
    await signed_in(house, port)
    assert (await opened(house, port))["success"]
    for token, access in list(guard.access.items()):
        guard.access[token] = access.model_copy(update={"scopes": []})
    refused = (await opened(house, port))["error"]
    assert "the server wants more scopes than the sign-in vault has" in refused
    assert f"majlis mcp sign-in vault {url_of(port)} --scope '" in refused


async def test_d6_only_the_answer_to_the_newest_link_counts(house: House, vault: tuple[int, Guard]) -> None:
    port, _ = vault
    old, new = [(await begin(house, port)).json()["authorizationUrl"] for _ in range(2)]
    assert (await allow(old)).status_code == 401
    assert (await allow(new)).status_code == 200
    assert (await allow(new)).status_code == 401
    forged = await house.owner.get("/mcp-sign-in", state="forged", code="x")
    assert (forged.status_code, "was not started here" in forged.text) == (401, True)
    begun = (await begin(house, port)).json()["authorizationUrl"]
    house.advance(901)
    assert "has expired" in (await allow(begun)).text


async def test_d6_a_sign_in_that_cannot_be_begun_changes_nothing(house: House, vault: tuple[int, Guard]) -> None:
    port, _ = vault
    sara = await house.person("Sara")
    assert (await begin(house, port, person=sara)).status_code == 403
    assert (await begin(house, port, "no name")).json()["error"]["details"]["path"] == "name"
    assert (await begin(house, 9)).json()["error"]["code"] == "host_not_allowed"
    await house.owner.ok("PUT", "/api/secrets/other", {"value": "x", "hosts": ["a.example"]})
    assert (await begin(house, port, "other")).json()["error"]["code"] == "name_taken"
    assert [each["name"] for each in await house.owner.ok("GET", "/api/secrets")] == ["other"]


async def test_d6_the_sign_in_of_one_server_is_not_sent_to_another(house: House, vault: tuple[int, Guard]) -> None:
    port, _ = vault
    await signed_in(house, port)
    bot = await house.agent("Bot", mcp=[{"name": "v", "url": f"http://127.0.0.1:{port}/other", "oauth": "vault"}])
    space = await house.space("Vault", bot)
    await house.owner.say(space, "Hello")
    await house.until_idle()
    [run] = await house.runs(bot)
    assert "for another server" in run["notes"][0]


async def test_d6_a_server_without_sign_in_says_so(settings: Settings) -> None:
    async with serving_app(make_server().streamable_http_app(host="127.0.0.1")) as port:
        allowed = {"tool_private_hosts": [f"127.0.0.1:{port}"]}
        async with open_house(settings.model_copy(update=allowed)) as house:
            refused = await begin(house, port)
            assert (refused.status_code, refused.json()["error"]["code"]) == (422, "no_sign_in")


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"command": "uvx x", "oauth": "vault"}, "mcp.0.oauth"),
        ({"url": "https://a.example", "oauth": "a b"}, "mcp.0.oauth"),
        (
            {"url": "https://a.example", "oauth": "vault", "headers": {"Authorization": "Bearer ${env.X}"}},
            "mcp.0.headers.Authorization",
        ),
    ],
)
def test_d6_a_wrong_sign_in_of_a_config_is_named(wrong: dict[str, Any], path: str) -> None:
    with pytest.raises(Invalid) as error:
        parse_config({"mcp": [{"name": "a", **wrong}]})
    errors: Any = error.value.details["errors"]
    assert [each["path"] for each in errors] == [path]
