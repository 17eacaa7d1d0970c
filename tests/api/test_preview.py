"""A preview shows what a run of the agent would see, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import deliveries, events, messages, runs
from majlis.store.transactions import Tx
from tests.api.test_bad_input import UNKNOWN, assert_error
from tests.model_server import Asked, ModelServer, Reply, say
from tests.world import Person, World

MINDS = ("timeline", "roles", "consciousness")


def _counts(tx: Tx) -> dict[str, int]:
    tables = (messages, deliveries, runs, events)
    return {table.name: tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in tables}


async def tried(world: World, agent: Person, text: str, **more: Any) -> Any:
    return await world.owner.ok("POST", f"/api/agents/{agent.id}/try", {"text": text, **more})


def words(shown: Any) -> str:
    return "\n".join(str(message["content"]) for message in shown["messages"])


@pytest.mark.parametrize("mind", MINDS)
async def test_it_shows_what_the_agent_would_see_and_leaves_no_trace(world: World, mind: str) -> None:
    scout = await world.agent("Scout", mind=mind, instructions="Speak like a sailor.")
    space = await world.owner.create_space("Project Alpha", scout, triggers="mentioned")
    await world.owner.say(space, "The door is green.")
    before = await world.gateway.db.read(_counts)
    async with world.owner.follow() as follower:
        await follower.until("connected")
        shown = await tried(world, scout, "What colour is the door?", spaceId=space)
        assert "Speak like a sailor." in words(shown)
        assert "What colour is the door?" in words(shown)
        # A consciousness reads earlier messages only after it has entered the space (K4).
        assert ("The door is green." in words(shown)) == (mind != "consciousness")
        assert "send_message" in [tool["function"]["name"] for tool in shown["tools"]]
        assert shown["tokens"] > 100
        assert await world.gateway.db.read(_counts) == before
        assert (await world.owner.space(space))["lastMessage"]["seq"] == 1
        # The next real message gets the next number, and its event is the next one.
        said = await world.owner.say(space, "Now for real.")
        assert said["seq"] == 2
        heard = await follower.until("space.message")
        assert heard.data["message"]["text"] == "Now for real."


async def test_it_is_what_a_run_is_shown_then(world: World) -> None:
    scout = await world.agent("Scout")
    space = await world.owner.create_space("Project Alpha", scout)
    shown = await tried(world, scout, "Hello there", spaceId=space)
    async with world.owner.follow() as follower:
        await world.owner.say(space, "Hello there")
        ended = await follower.until("run.completed")
    request = (await world.owner.ok("GET", f"/api/runs/{ended.data['runId']}/context"))["requests"][0]
    assert request["tools"] == shown["tools"]
    assert [each["role"] for each in request["messages"]] == [each["role"] for each in shown["messages"]]
    # Only ids and times differ: same length, same headings.
    assert len(words(request)) == len(words(shown))


async def test_a_config_can_be_tried_before_it_is_saved(world: World) -> None:
    scout = await world.agent("Scout", instructions="Be brief.")
    space = await world.owner.create_space("Project Alpha", scout)
    shown = await tried(world, scout, "Hi", spaceId=space, config={"instructions": "Be long.", "mind": "consciousness"})
    assert "Be long." in words(shown)
    assert "INBOX (1 event" in words(shown)
    assert (await world.owner.ok("GET", f"/api/agents/{scout.id}"))["config"]["instructions"] == "Be brief."
    bad = await world.owner.post(f"/api/agents/{scout.id}/try", {"text": "Hi", "config": {"mind": "none"}})
    assert_error(bad, 422, "invalid_config")


@pytest.mark.parametrize("mind", MINDS)
async def test_without_a_space_it_comes_from_a_service(world: World, mind: str) -> None:
    scout = await world.agent("Scout", mind=mind)
    assert "Wake up" in words(await tried(world, scout, "Wake up"))
    assert await world.owner.ok("GET", f"/api/agents/{scout.id}/inbox") == []


async def test_only_administrators_try_and_only_in_spaces_where_both_are(world: World) -> None:
    scout, sara = await world.agent("Scout"), await world.person("Sara")
    hers = await sara.create_space("Hers", scout)
    ours = await world.owner.create_space("Ours")
    path = f"/api/agents/{scout.id}/try"
    for stranger in (sara, scout):
        assert_error(await stranger.post(path, {"text": "Hi"}), 403, "not_allowed")
    assert_error(await world.owner.post(path, {"text": "Hi", "spaceId": hers}), 404, "unknown_space")
    for mind in MINDS:
        body = {"text": "Hi", "spaceId": ours, "config": {"mind": mind}}
        assert_error(await world.owner.post(path, body), 409, "agent_not_a_member")
    assert_error(await world.owner.post(f"/api/agents/ent_{UNKNOWN}/try", {"text": "Hi"}), 404, "unknown_agent")
    assert_error(await world.owner.post(path, {"text": " "}), 422, "empty_text")


@pytest.fixture
def settings(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """Without workers, except for the test that looks at a run."""
    works = request.function is test_it_is_what_a_run_is_shown_then
    return settings if works else settings.model_copy(update={"workers": 0})


async def test_with_ask_the_model_answers_and_its_calls_are_not_made(world: World) -> None:
    def script(asked: Asked) -> Reply:
        return Reply(status=401, text="no key") if "refuse" in asked.trigger_text else say("Green.")

    async with ModelServer(script) as server:
        model = {"provider": "openai", "name": "scripted", "baseUrl": server.base_url}
        scout = await world.agent("Scout", model=model)
        space = await world.owner.create_space("Project Alpha", scout)
        before = await world.gateway.db.read(_counts)
        answer = (await tried(world, scout, "What colour is the door?", spaceId=space, ask=True))["answer"]
        assert answer["calls"] == [{"name": "send_message", "input": {"text": "Green."}}]
        assert answer["inputTokens"] > 0
        refused = await tried(world, scout, "refuse", spaceId=space, ask=True)
        assert refused["problem"]["code"] == "model_unauthorized"
        assert "answer" not in refused
        assert await world.gateway.db.read(_counts) == before


async def test_the_demo_model_can_be_asked_too(world: World) -> None:
    scout = await world.agent("Scout")
    space = await world.owner.create_space("Project Alpha", scout)
    assert (await tried(world, scout, "Hello", spaceId=space, ask=True))["answer"]["calls"]
