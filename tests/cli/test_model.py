"""`majlis model`: a key comes from stdin or a prompt, is tried, and is stored (J8)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.model_providers import LOCAL_SERVERS
from majlis.settings import Settings
from tests.cli.command import Command
from tests.cli.terminals import in_terminal
from tests.model_server import ModelServer, say, sequence
from tests.world import World

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
KEY = "team-key-0123456789"


@pytest.fixture
async def model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ModelServer]:
    for provider in LOCAL_SERVERS:
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", "http://127.0.0.1:1/v1")
    async with ModelServer() as server:
        server.key = KEY
        yield server


async def test_j8_a_model_is_connected_with_a_key_from_stdin(majlis: Command, world: World, model: ModelServer) -> None:
    await world.agent("Nadim")
    at = "--base-url", model.base_url
    told = await majlis.line("model", "add", "scripted", *at, code=1, stdin=b"wrong-key-0123456789\n")
    assert "rejected this key" in told
    assert "The server says: Incorrect API key provided" in told
    offers = await majlis.ok("model", "add", "openai:", *at, stdin=f"{KEY}\n".encode())
    assert offers.out == "openai:scripted\n"
    model.script = sequence(say("Hello."))
    added = await majlis.ok("model", "add", "scripted", *at, "--name", "team", stdin=KEY.encode())
    assert added.out == "Connected openai:scripted as team.\n"
    assert "majlis agent set-model --demo team" in added.err
    assert KEY not in added.out + added.err
    model.script = sequence(say("Hello."))
    told = (await majlis.ok("model", "test", "team")).out
    assert "Hello." in told
    assert told.endswith("A request may have 32,000 tokens, says its server.\n")

    assert (await majlis.ok("agent", "set-model", "--demo", "team")).err == ""
    listed = (await majlis.ok("model", "list")).out.splitlines()
    assert listed[1].split() == ["team", "yes", "openai:scripted", *listed[1].split()[3:4], "Nadim"]
    # New agents get the default.
    named = (await majlis.ok("agent", "add", "Named", "--model", "team", "--json")).json
    assert named["config"]["model"]["name"] == "scripted"
    assert "majlis model list" in await majlis.line("agent", "add", "Other", "--model", "teem", code=1)
    await majlis.ok("agent", "remove", "Named")
    made = (await majlis.ok("agent", "add", "Scout", "--json")).json
    assert made["config"]["model"]["name"] == "scripted"
    assert "use this model" in await majlis.line("model", "remove", "team", code=1)
    await majlis.ok("agent", "set-model", "--all", "demo")
    assert (await majlis.ok("model", "remove", "team")).out == "Removed team.\n"
    await majlis.ok("agent", "remove", "Nadim")
    assert "majlis model list" in await majlis.line("model", "test", "team", code=1)


async def test_j8_a_prompt_asks_for_the_key_without_echo(majlis: Command, world: World, model: ModelServer) -> None:
    model.script = sequence(say("Hello."))
    adding = majlis, "model", "add", "scripted", "--base-url", model.base_url
    async with in_terminal(*adding) as terminal:
        await terminal.until("Key (empty: none)")
        terminal.type(f"{KEY}\n")
        shown = await terminal.until("Connected openai:scripted as scripted.")
    assert KEY not in shown


async def test_j8_what_is_missing_is_named(
    majlis: Command, world: World, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setattr("majlis.model_providers._is_installed", lambda module: False)
    for provider in ("google", "groq", "mistral", "bedrock", "xai"):
        told = await majlis.line("model", "add", f"{provider}:x", code=1)
        assert f'Run pip install "pydantic-ai-slim[{provider}]==' in told
    assert "needs a key" in await majlis.line("model", "add", "anthropic:claude-x", code=1)
    assert "majlis model providers" in await majlis.line("model", "add", "nothing:x", code=1)
    listed = (await majlis.ok("model", "providers")).out
    assert "ANTHROPIC_API_KEY (not set)" in listed
    assert "Found no Ollama" in (await majlis.ok("model", "find")).out


async def test_set_model_warns_about_a_model_that_cannot_be_used(
    majlis: Command, world: World, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    await world.agent("Scout")
    changed = await majlis.ok("agent", "set-model", "Scout", "anthropic:claude-x")
    assert changed.out == "Scout now uses anthropic:claude-x.\n"
    assert "warning: Anthropic needs a key" in changed.err
    changed = await majlis.ok("agent", "set-model", "Scout", "x", "--base-url", "http://127.0.0.1:1/v1")
    assert "cannot be reached" in changed.err


async def test_doctor_finds_agents_whose_model_cannot_be_used(
    local: Command, world: World, model: ModelServer, settings: Settings
) -> None:
    for name in ("Ann", "Ben", "Cid"):
        await world.agent(name, model="deepseek:x")
    await world.agent("Dan", model=model.model)
    asking = local.given(DEEPSEEK_API_KEY="", MAJLIS_PORT=world.base_url.rpartition(":")[2])
    ran = await asking("doctor", "--json")
    problems = {each["message"]: each["advice"] for each in ran.json["findings"] if each["area"] == "models"}
    assert ran.code == 1
    missing, refused = sorted(problems)
    assert missing.startswith("deepseek:x, which Ann, Ben, Cid use, cannot be used: DeepSeek needs a key.")
    assert "majlis model add deepseek:x" in problems[missing]
    assert "openai:scripted, which Dan uses, cannot be used" in refused
    model.key = None
    for name in ("Ann", "Ben", "Cid"):
        [agent] = [each for each in await world.owner.ok("GET", "/api/agents") if each["name"] == name]
        await world.owner.ok("DELETE", f"/api/agents/{agent['id']}")
    ran = await asking("doctor", "--json")
    assert [each["message"] for each in ran.json["findings"] if each["area"] == "models"] == [
        "openai:scripted, which Dan uses, can be used. A request may have 32,000 tokens, says its server."
    ]
    model.context = 2_000
    [few] = [each for each in (await asking("doctor", "--json")).json["findings"] if each["area"] == "models"]
    assert few["level"] == "warning"
    assert "A request may have 2,000 tokens, says its server. Agents need 4,000." in few["message"]
