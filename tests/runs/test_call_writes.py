"""C2: a transaction may run more than once; only the attempt that commits counts."""

from __future__ import annotations

import pytest

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.inbox.trigger_shapes import TriggerJson
from majlis.runs.calls.commit import Started, start_call
from majlis.runs.calls.tool_port import Outside
from majlis.runs.journal import Entry
from majlis.runs.run import Run
from majlis.settings import Settings
from majlis.store.transactions import Tx
from tests.past_runs import add_run
from tests.runs.deploy_tools import HERE, tool
from tests.world import Person, World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"workers": 0, "tool_modules": [HERE]})


class Torn(Exception):
    """The database wants the transaction to be repeated."""


async def test_c2_a_repeated_transaction_leaves_no_message_number_behind(world: World) -> None:
    """The number used to remain, and a message of another member with that number counted as the agent's own: seen,
    never read."""
    bot = await world.agent("Bot")
    space = await world.owner.create_space("Releases", bot)
    config = parse_config({"tools": [tool("deploy", visible=True)]})
    run = await working(world, bot, space, config)
    deploy = world.gateway.engine.toolbox.find(config, "deploy")
    assert deploy is not None
    assert deploy.outside
    entry = Entry(0, "tool", 0, "started", "call_1", "deploy", {})

    with pytest.raises(Torn):
        await world.gateway.db.write(torn, run, deploy, entry)
    other = await world.owner.say(space, "in between")
    started = await world.gateway.db.write(start_call, run, deploy, entry, [], None, ())
    assert run.wrote == {}
    assert started.run.wrote == {space: [other["seq"] + 1]}


def torn(tx: Tx, run: Run, deploy: Outside, entry: Entry) -> Started:
    start_call(tx, run, deploy, entry, [], None, ())
    raise Torn


async def working(world: World, bot: Person, space: str, config: AgentConfig) -> Run:
    run_id = await add_run(world, bot, status="running", active_space_id=space, fence=1)
    trigger: TriggerJson = {"type": "service", "serviceName": "ci", "payload": {}}
    return Run(run_id, bot.id, "Bot", 1, trigger, None, space, 0, config=config)
