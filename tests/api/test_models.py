"""Models are connected in the app: paste a key, look, test, save, use (J8)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai.providers import infer_provider_class

from majlis.model_providers import LOCAL_SERVERS, PROVIDER_HOSTS
from majlis.models.connect.list_models import listing_at
from majlis.settings import Settings
from tests.model_server import ModelServer, Reply, call, say, sequence, silent
from tests.runs.house import House, open_house

KEY = "team-key-0123456789"


@pytest.fixture
async def house(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    for provider in LOCAL_SERVERS:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", "http://127.0.0.1:1/v1")
    async with open_house(settings) as opened:
        opened.try_models_once()
        yield opened


def server(house: House, **more: Any) -> dict[str, Any]:
    return {"provider": "openai", "baseUrl": house.model.base_url, **more}


async def connect(house: House, name: str, **body: Any) -> Any:
    return await house.owner.ok("PUT", f"/api/models/{name}", body)


async def listed(house: House) -> Any:
    return await house.owner.ok("GET", "/api/models")


async def test_j8_a_pasted_key_is_tried_stored_and_used_at_once(house: House) -> None:
    house.model.key = KEY
    house.model.offers = ["scripted", "scripted-large", "text-embedding-1"]
    nadim = await house.world.agent("Nadim")
    space = await house.space("Lab", nadim)

    looked = await house.owner.ok("POST", "/api/models/look", {**server(house), "key": f" {KEY}\n"})
    assert looked == {"models": ["scripted", "scripted-large"], "problem": None}

    model = server(house, name="scripted")
    house.model.script = sequence(say("Hello there."))
    tested = await house.owner.ok("POST", "/api/models/test", {"model": model, "key": KEY})
    assert (tested["text"], tested["callsTools"], tested["problem"]) == ("Hello there.", True, None)

    saved = await connect(house, "team", model=model, key=KEY)
    [team] = saved["models"]
    assert (team["title"], team["default"], team["agents"]) == ("openai:scripted", True, [])
    assert team["key"]["set"]
    assert team["model"]["apiKey"] == team["key"]["name"]
    assert KEY not in str(saved)
    assert [each["name"] for each in saved["demo"]["agents"]] == ["Nadim"]

    used = await house.owner.ok("POST", "/api/models/team/use", {})
    assert used == [{"id": nadim.id, "name": "Nadim"}]
    house.model.script = sequence(say("I use the new model."))
    await house.owner.say(space, "Hello")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Nadim", "I use the new model.")
    assert house.model.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    assert (await listed(house))["models"][0]["agents"] == used


async def test_j8_a_wrong_key_says_what_to_do_and_admins_see_the_servers_words(house: House) -> None:
    house.model.key = KEY
    for path, body in (
        ("look", server(house)),
        ("test", {"model": server(house, name="scripted")}),
        ("test", {"model": server(house, name="scripted"), "ask": False}),
    ):
        answer = await house.owner.ok("POST", f"/api/models/{path}", {**body, "key": "sk-wrong-0123456789"})
        assert answer["problem"]["code"] == "model_unauthorized"
        assert "rejected this key. Check that you copied all of it" in answer["problem"]["message"]
        assert "Incorrect API key provided" in answer["problem"]["detail"]
        assert "sk-wrong" not in str(answer)
    assert (await listed(house))["models"] == []
    for bad in ("two words", "line\nbreak", "ключ"):
        refused = await house.owner.http.post("/api/models/look", json={**server(house), "key": bad})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_key")


async def test_j8_a_model_without_tools_and_a_server_that_is_away_are_told_apart(house: House) -> None:
    model = server(house, name="scripted")
    house.model.script = sequence(Reply(status=400, text="scripted does not support tools"), Reply(text="Hello."))
    tested = await house.owner.ok("POST", "/api/models/test", {"model": model})
    assert (tested["text"], tested["callsTools"], tested["problem"]) == ("Hello.", False, None)
    house.model.script = sequence(Reply(status=400, text="no such thing"))
    tested = await house.owner.ok("POST", "/api/models/test", {"model": model})
    assert tested["problem"]["code"] == "model_refused_request"
    assert "no such thing" in tested["problem"]["detail"]
    away = {**model, "baseUrl": "http://127.0.0.1:1/v1"}
    tested = await house.owner.ok("POST", "/api/models/test", {"model": away, "ask": False})
    assert tested["problem"]["code"] == "model_unreachable"


async def test_j8_servers_on_this_machine_are_found_without_a_key(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OLLAMA_BASE_URL", house.model.base_url)
    # A server elsewhere is not contacted.
    monkeypatch.setenv("VLLM_BASE_URL", "http://192.0.2.1:8000/v1")
    assert await house.owner.ok("POST", "/api/models/find") == [
        {"provider": "ollama", "title": "Ollama", "baseUrl": house.model.base_url, "models": ["scripted"]}
    ]
    assert all("authorization" not in headers for headers in house.model.looks)
    tested = await house.owner.ok("POST", "/api/models/test", {"model": "ollama:other", "ask": False})
    assert tested["problem"]["message"] == 'Ollama has no model "other". It has: scripted.'


async def test_j8_only_admins_connect_models(house: House) -> None:
    member = await house.world.person("Max")
    narrow = await house.world.with_token(house.owner.id, "Owner", scopes=["read", "write"])
    requests: tuple[tuple[str, str, Any], ...] = (
        ("GET", "/api/models", None),
        ("GET", "/api/models/providers", None),
        ("POST", "/api/models/look", server(house)),
        ("POST", "/api/models/find", None),
        ("POST", "/api/models/test", {"model": "ollama:x"}),
        ("PUT", "/api/models/team", {"model": "ollama:x"}),
        ("POST", "/api/models/team/use", {}),
        ("DELETE", "/api/models/team", None),
    )
    for person in (member, narrow):
        for method, path, body in requests:
            assert (await person.http.request(method, path, json=body)).status_code == 403, (method, path)
    assert house.model.looks == []


async def test_g6_an_admin_cannot_reach_into_the_network_or_send_keys_elsewhere(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    admin = await house.world.person("Ada", role="admin")
    for url in ("http://169.254.169.254/latest", "http://10.0.0.1:8080", "https://intranet.example/v1"):
        asked = {"provider": "openai", "baseUrl": url}
        for path, body in (("look", asked), ("test", {"model": {**asked, "name": "x"}})):
            answer = await admin.ok("POST", f"/api/models/{path}", body)
            assert answer["problem"]["code"] == "model_not_allowed", url
            assert "Ask the owner" in answer["problem"]["message"]
        refused = await admin.http.put("/api/models/x", json={"model": {**asked, "name": "x"}})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "model_not_allowed")
    # A key of their own goes to this machine only if the owner allows the host, and the server's keys never do.
    answer = await admin.ok("POST", "/api/models/look", {**server(house), "key": "own-key-0123456789"})
    assert answer["problem"]["code"] == "model_not_allowed"
    answer = await admin.ok("POST", "/api/models/look", {**server(house), "apiKeyEnv": "OPENAI_API_KEY"})
    assert answer["problem"]["code"] == "model_not_allowed"
    assert house.model.looks == []
    assert (await admin.ok("POST", "/api/models/look", server(house)))["models"] == ["scripted"]
    assert "authorization" not in house.model.looks[-1]


async def test_g6_a_stored_key_is_not_sent_to_another_host(house: House) -> None:
    await house.owner.ok("PUT", "/api/secrets/TEAM", {"value": KEY, "hosts": ["llm.example.com"]})
    answer = await house.owner.ok("POST", "/api/models/look", {**server(house), "apiKey": "secret:TEAM"})
    assert "must not be sent to" in answer["problem"]["message"]
    assert house.model.looks == []
    refused = await house.owner.http.put(
        "/api/models/team", json={"model": server(house, name="scripted"), "key": KEY, "secret": "TEAM"}
    )
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "secret_exists")
    assert (await listed(house))["models"] == []


async def test_g6_the_owner_allows_a_host_by_connecting_a_model_there(house: House) -> None:
    model = {"provider": "openai", "name": "qwen3:8b", "baseUrl": "http://192.168.7.5:11434/v1"}
    await connect(house, "attic", model=model)
    assert (await house.owner.ok("GET", "/api/model-hosts"))["hosts"] == ["192.168.7.5:11434"]
    entries = (await house.owner.ok("GET", "/api/audit"))["entries"]
    assert {"model.connected", "model_hosts.changed"} <= {entry["action"] for entry in entries}


async def test_g6_a_providers_key_is_not_sent_unencrypted_even_for_the_owner(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plain = {"provider": "openai", "baseUrl": "http://api.openai.com/v1"}
    answer = await house.owner.ok("POST", "/api/models/look", plain)
    assert answer["problem"]["code"] == "model_not_allowed"
    refused = await house.owner.http.put("/api/models/x", json={"model": {**plain, "name": "x"}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "model_not_allowed")


async def test_j8_there_is_one_default_and_a_model_in_use_is_not_removed(house: House) -> None:
    await connect(house, "one", model=server(house, name="one"), key=KEY)
    await connect(house, "two", model=server(house, name="two"), key=KEY, default=True)
    await connect(house, "local", model="ollama:qwen3:8b")
    shown = await listed(house)
    assert [(each["name"], each["default"]) for each in shown["models"]] == [
        ("local", False),
        ("one", False),
        ("two", True),
    ]
    scout = await house.world.agent("Scout", model=shown["models"][2]["model"])
    loose = await house.world.agent("Loose", model="ollama:other")
    shown = await listed(house)
    assert [(each["title"], each["agents"][0]["name"]) for each in shown["others"]] == [("ollama:other", "Loose")]

    refused = await house.owner.http.delete("/api/models/two")
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"agents": ["Scout"]})
    await house.owner.ok("POST", "/api/models/local/use", {"agents": [scout.id, loose.id]})
    config = (await house.owner.ok("GET", f"/api/agents/{scout.id}"))["config"]
    assert config["model"] == "ollama:qwen3:8b"
    await house.owner.ok("DELETE", "/api/models/two")
    # The key goes with the last model that uses it.
    assert len(await house.owner.ok("GET", "/api/secrets")) == 1
    await house.owner.ok("DELETE", "/api/models/one")
    assert await house.owner.ok("GET", "/api/secrets") == []
    assert (await house.owner.http.delete("/api/models/one")).status_code == 404


async def test_j8_a_key_that_is_missing_is_shown(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    await house.world.agent("Scout", model="anthropic:claude-x")
    providers = {each["name"]: each for each in await house.owner.ok("GET", "/api/models/providers")}
    assert not providers["anthropic"]["keySet"]
    assert providers["openai"]["keySet"]
    assert providers["ollama"]["local"]
    assert "pydantic-ai-slim[groq]" in (providers["groq"]["install"] or "pydantic-ai-slim[groq]")
    assert KEY not in str(providers)
    [other] = (await listed(house))["others"]
    assert other["key"] == {"name": "ANTHROPIC_API_KEY", "set": False}
    tested = await house.owner.ok("POST", "/api/models/test", {"model": "anthropic:claude-x", "ask": False})
    assert tested["problem"]["code"] == "model_key_missing"


@pytest.mark.parametrize(
    ("path", "body", "problem"),
    [
        ("look", {"provider": "nothing"}, "known provider"),
        ("look", {"provider": "openai", "baseUrl": "ftp://x"}, "URL"),
        ("test", {"model": "demo"}, "demo model"),
        ("test", {"model": {"provider": "openai"}}, "name"),
        ("test", {}, "model"),
    ],
)
async def test_j8_bad_input_is_an_error_with_its_path(
    house: House, path: str, body: dict[str, Any], problem: str
) -> None:
    refused = await house.owner.http.post(f"/api/models/{path}", json=body)
    assert refused.status_code == 422
    assert problem in refused.text
    for name in ("a b", "-x", "x" * 65):
        assert (await house.owner.http.put(f"/api/models/{name}", json={"model": "ollama:x"})).status_code == 422


@pytest.mark.parametrize("provider", sorted(PROVIDER_HOSTS))
def test_g6_a_providers_key_goes_to_its_own_host(provider: str) -> None:
    listing = listing_at(provider, None, KEY, {})
    assert listing is not None
    assert listing.url.startswith(f"https://{PROVIDER_HOSTS[provider]}/")
    assert KEY in str(listing.headers)
    assert KEY not in listing.url


@pytest.mark.parametrize("provider", ["alibaba", "deepseek", "fireworks", "openai", "openrouter", "together", "zai"])
def test_g6_a_list_is_asked_for_where_the_library_asks_for_answers(provider: str) -> None:
    listing = listing_at(provider, None, KEY, {})
    made: Any = infer_provider_class(provider)
    assert listing is not None
    assert listing.url == f"{made(api_key=KEY).base_url.rstrip('/')}/models"


async def test_j8_a_redirect_and_a_flood_are_not_followed(house: House) -> None:
    async with ModelServer() as other:
        house.model.script = sequence(call("send_message", text="x"), silent())
        house.model.redirect = f"{other.base_url}/models"
        answer = await house.owner.ok("POST", "/api/models/look", server(house))
        assert answer["problem"]["code"] == "model_not_found"
        assert other.looks == []
    house.model.redirect = None
    house.model.offers = ["x" * 150] * 30_000
    answer = await house.owner.ok("POST", "/api/models/look", server(house))
    assert answer["problem"]["code"] == "model_broken_stream"
