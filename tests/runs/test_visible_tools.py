"""J4: visible tools. Their arguments stream while the model writes them; secret fields are never shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from majlis.runs.calls.masks import MASK, hide, masked, secrets_in
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.tables import cards, events, messages, runs, steps
from majlis.store.transactions import Tx
from majlis.tools.python.functions import read_signature
from tests.model_server import call, say, sequence, silent
from tests.runs import deploy_tools
from tests.runs.cards import card_in, submit
from tests.runs.deploy_tools import HERE, SCHEMA, tool
from tests.runs.house import House, open_house

SECRET = "hunter2-and-more"


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[House]:
    deploy_tools.deployed.clear()
    deploy_tools.release.clear()
    async with open_house(settings.model_copy(update={"tool_modules": [HERE]})) as opened:
        yield opened


async def test_j4_the_arguments_of_a_visible_tool_stream_and_its_message_ends_the_stream(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("deploy", visible=True)])
    space = await house.space("Releases", bot)
    reply = call("deploy", version="1.4 of our wonderful program")
    reply.gate_mid = asyncio.Event()
    house.model.script = sequence(reply, silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        start = await follower.until("tool-call.start")
        stream = start.data["streamId"]
        assert (start.data["toolName"], start.data["agentId"]) == ("deploy", bot.id)
        first = await follower.until("tool-input-delta", streamId=stream)
        reply.gate_mid.set()
        begun = await follower.until("space.message", streamId=stream)
        assert begun.data["message"]["tool"]["status"] == "running"
        ended = await follower.until("space.message")
        assert ended.data["message"]["id"] == begun.data["message"]["id"]
        assert ended.data["message"]["tool"]["status"] == "complete"
        complete = await follower.until("tool-call.complete", streamId=stream)
        deltas = [each.data for each in follower.seen if each.type == "tool-input-delta"]
    assert first.data["offset"] == 0
    assert json.loads("".join(each["argsDelta"] for each in deltas)) == {"version": "1.4 of our wonderful program"}
    assert complete.data["result"] == ended.data["message"]["tool"]["output"]


async def test_j4_a_tool_that_is_not_visible_streams_nothing(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("deploy")])
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("deploy", version="1.4"), say("Done."))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        start = await follower.until("tool-call.start")
        await follower.until_message("Done.")
    assert start.data["toolName"] == "send_message"
    assert [message["kind"] for message in (await house.owner.history(space))["messages"]] == ["text", "text"]


async def test_j4_a_failed_visible_call_ends_its_stream_with_the_error(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("explode", visible=True)])
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("explode", password="x"), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        ended = await follower.until("tool-call.error")
    await house.until_idle()
    assert "RuntimeError" in ended.data["error"]
    shown = (await house.owner.history(space))["messages"][-1]["tool"]
    assert (shown["status"], shown["output"]["error"]) == ("error", ended.data["error"])


async def test_j3_a_canceled_run_leaves_no_call_that_looks_as_if_it_went_on(house: House) -> None:
    bot = await house.agent("Bot", tools=[tool("hold", visible=True)])
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("hold"))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        begun = await follower.until("space.message")
        while begun.data["message"]["kind"] != "tool":
            begun = await follower.until("space.message")
        await house.owner.ok("POST", f"/api/runs/{begun.data['message']['runId']}/cancel")
        ended = await follower.until("space.message")
    deploy_tools.release.set()
    assert ended.data["message"]["id"] == begun.data["message"]["id"]
    assert (ended.data["message"]["tool"]["status"], ended.data["message"]["tool"]["output"]) == (
        "error",
        {"status": "canceled"},
    )


async def test_j6_a_run_that_ends_in_the_middle_of_a_call_leaves_none_that_looks_as_if_it_went_on(house: House) -> None:
    """It timed out during the call, and the space showed the call as running forever."""
    bot = await house.agent("Bot", tools=[tool("hold", visible=True)], limits={"runSeconds": 4})
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("hold"))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        completed = await follower.until("run.completed")
    deploy_tools.release.set()
    [made] = [m for m in (await house.owner.history(space))["messages"] if m["kind"] == "tool"]
    assert (completed.data["reason"], made["tool"]["status"], made["tool"]["output"]) == (
        "limit",
        "error",
        {"status": "canceled"},
    )


async def test_j4_secret_fields_are_seen_nowhere(house: House, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither on streams nor in stored data afterwards; the tool itself got it."""
    sara = await house.person("Sara")
    tools = [tool("deploy", visible=True, inputSchema=SCHEMA), tool("explode", visible=True, inputSchema=SCHEMA)]
    bot = await house.agent("Bot", tools=tools, policy=[{"tools": "deploy", "do": "ask"}])
    space = await house.space("Releases", bot, sara)
    too_long = SECRET * 3
    house.model.script = sequence(
        call("explode", password=SECRET),
        call("deploy", version="1.4", password=too_long),
        call("deploy", version="1.4", password=SECRET),
        say("Done."),
    )
    async with sara.follow(space) as follower:
        await house.owner.say(space, "go")
        await follower.until("run.waiting_tool")
        card = await card_in(house, space)
        assert card["tool"]["input"] == {"version": "1.4", "password": MASK}
        assert (await submit(house.owner, card, True)).status_code == 200
        await follower.until_message("Done.")
        seen = json.dumps([event.data for event in follower.seen])
    await house.until_idle()
    # The tool got it: it returned it, and that was masked too.
    [made] = [
        each["tool"]
        for each in (await sara.history(space))["messages"]
        if each.get("tool", {}).get("output") == {"deployed": "1.4", "with": MASK}
    ]
    assert made["name"] == "deploy"
    journal = json.dumps([await person.ok("GET", f"/api/runs/{card['runId']}/steps") for person in (sara, house.owner)])
    stored = await house.world.gateway.db.read(_everything)
    logged = "".join(capfd.readouterr())
    for where in (seen, journal, stored, logged, json.dumps(await sara.history(space))):
        assert SECRET not in where
    assert MASK in seen
    assert '"argsDelta": "{\\"version\\":\\"1.4\\",\\"password\\":\\"***\\"}"' in seen
    assert (await sara.get(f"/api/runs/{card['runId']}/context")).status_code == 403


async def wants_to_deploy(house: House) -> str:
    """A space where an agent waits for permission to call a tool with a secret."""
    bot = await house.agent(
        "Bot", tools=[tool("deploy", inputSchema=SCHEMA)], policy=[{"tools": "deploy", "do": "ask"}]
    )
    space = await house.space("Releases", bot)
    house.model.script = sequence(call("deploy", version="1.4", password=SECRET), silent())
    await house.owner.say(space, "go")
    await house.until_waiting()
    return space


async def test_j2_a_secret_is_kept_only_while_the_call_waits_for_permission(house: House) -> None:
    space = await wants_to_deploy(house)
    assert SECRET in await house.world.gateway.db.read(_everything)
    await house.owner.ok("POST", f"/api/runs/{(await card_in(house, space))['runId']}/cancel")
    assert SECRET not in await house.world.gateway.db.read(_everything)


@pytest.mark.parametrize("end", ["canceled", "limit"])
async def test_j2_a_secret_is_forgotten_when_the_run_ends_in_the_middle_of_the_call(house: House, end: str) -> None:
    """The call is not repeated, and its secret used to stay in the database."""
    limits = {"runSeconds": 4} if end == "limit" else {}
    hold = tool("hold", inputSchema=SCHEMA, visible=True)
    space = await house.space("Releases", await house.agent("Bot", tools=[hold], limits=limits))
    house.model.script = sequence(call("hold", password=SECRET))
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "go")
        begun = await follower.until("space.message")
        while begun.data["message"]["kind"] != "tool":
            begun = await follower.until("space.message")
        assert SECRET in await house.world.gateway.db.read(_everything)
        if end == "canceled":
            await house.owner.ok("POST", f"/api/runs/{begun.data['message']['runId']}/cancel")
        await follower.until("agent.inactive")
    deploy_tools.release.set()
    assert SECRET not in await house.world.gateway.db.read(_everything)


async def test_j2_a_secret_is_forgotten_when_a_run_ends_that_a_dead_worker_had_begun(house: House) -> None:
    """The call has an unknown outcome and is not idempotent: it is not repeated, and its secret is not kept."""
    bot = await house.agent("Bot", tools=[tool("deploy", inputSchema=SCHEMA)])
    await house.world.gateway.db.write(_leave_behind, bot.id)
    assert SECRET in await house.world.gateway.db.read(_everything)
    worker = house.world.gateway.worker
    assert worker is not None
    worker.wake()
    await house.until_idle()
    [run] = await house.runs()
    assert (run["status"], deploy_tools.deployed) == ("completed", [])
    assert SECRET not in await house.world.gateway.db.read(_everything)


async def test_j2_a_call_whose_secret_did_not_come_along_is_not_made_without_it(house: House) -> None:
    """An import brings approved calls without secrets: the tool used to get the mask as a password."""
    space = await wants_to_deploy(house)
    card = await card_in(house, space)
    await house.world.gateway.db.write(lambda tx: tx.execute(steps.update().values(secret=sa.null())).rowcount)
    await submit(house.owner, card, {"approved": True})
    await house.until_idle()
    assert deploy_tools.deployed == []
    assert "its secret input was not kept" in house.model.asked[-1].text


def _leave_behind(tx: Tx, agent_id: str) -> None:
    trigger = {"type": "service", "serviceName": "Shop", "payload": {}, "eventId": "o-7", "chainDepth": 0}
    run = {"id": ids.new("run"), "agent_id": agent_id, "status": "queued", "trigger": trigger, "created_at": tx.now}
    tx.execute(runs.insert(), {**run, "attempts": 1})
    step = {"run_id": run["id"], "n": 1, "kind": "tool", "state": "started", "name": "deploy", "started_at": tx.now}
    tx.execute(steps.insert(), {**step, "call_id": "c1", "input": {"password": MASK}, "secret": {"password": SECRET}})


NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "user": {"$ref": "#/$defs/user"},
        "keys": {"type": "array", "items": {"type": "string", "writeOnly": True}},
        "either": {"anyOf": [{"type": "null"}, {"type": "string", "writeOnly": True}]},
        "map": {"type": "object", "additionalProperties": {"type": "string", "writeOnly": True}},
        "pin": {"type": "integer", "writeOnly": True},
        "name": {"type": "string"},
    },
    "$defs": {"user": {"type": "object", "properties": {"token": {"writeOnly": True}, "age": {"type": "integer"}}}},
}


def test_secrets_are_found_wherever_a_schema_puts_them() -> None:
    given = {
        "user": {"token": {"deep": ["abcd", "efgh"]}, "age": 3}, "keys": ["ijkl"], "either": "mnop",
        "map": {"x": "qrst"}, "pin": 1234, "name": "Sara", "unknown": 1,
    }  # fmt: skip
    assert masked(NESTED, given) == {
        "user": {"token": MASK, "age": 3}, "keys": [MASK], "either": MASK,
        "map": {"x": MASK}, "pin": MASK, "name": "Sara", "unknown": 1,
    }  # fmt: skip
    assert sorted(secrets_in(NESTED, given)) == ["1234", "abcd", "efgh", "ijkl", "mnop", "qrst"]
    assert masked(NESTED, "no object") == MASK
    read = read_signature(_with_secret)
    assert masked(read.schema, {"user": "Sara", "password": "abcd"}) == {"user": "Sara", "password": MASK}
    assert hide(["abcd"], {"abcd!": ["x abcd y", 1, None]}) == {f"{MASK}!": [f"x {MASK} y", 1, None]}


def _with_secret(user: str, password: SecretStr) -> None:
    """A Python tool marks it with a type."""


def _everything(tx: Tx) -> str:
    """All stored data about calls, except what the model itself was shown."""
    rows = [tx.all(sa.select(table)) for table in (steps, messages, events, cards)]
    return str([tuple(row) for table in rows for row in table])
