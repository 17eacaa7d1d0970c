"""A dry run: what an agent would be shown if somebody said this now. No model is asked and nothing is kept.

The message is really posted and really delivered, in a transaction that never commits: so what is shown is what a run
would see, for every mind, and nobody hears of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, Protocol

import orjson
import sqlalchemy as sa

from majlis.agents.agents import access_agent
from majlis.agents.config.config import AgentConfig, parse_config
from majlis.entities.caller import Caller, require_administrator
from majlis.errors import Conflict
from majlis.inbox.build_trigger import build_triggers
from majlis.inbox.deliver import post_message
from majlis.inbox.deliveries import INSERT_DELIVERY, owed
from majlis.inbox.services import trigger_agent
from majlis.minds.consciousness.token_budget import count, count_turns
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.port import Prompt
from majlis.runs.calls.permission import offered_specs
from majlis.runs.claim.arrivals import look_at_arrivals
from majlis.runs.claim.claimed import Claimed
from majlis.runs.claim.cycle import with_events
from majlis.runs.engine import Engine
from majlis.runs.loop.perceive import mind_of
from majlis.runs.view.shapes import TryJson
from majlis.spaces.post import Draft
from majlis.spaces.text import checked_text
from majlis.store import ids
from majlis.store.tables import deliveries
from majlis.store.transactions import P, T, Tx

# Who speaks when no space is named.
SERVICE = "try"

_OWED = sa.select(deliveries).where(
    deliveries.c.agent_id == sa.bindparam("agent"), deliveries.c.event_id == sa.bindparam("event")
)
_OWED_NOW = deliveries.update().where(deliveries.c.id == sa.bindparam("delivery")).values(state="pending")


class Asked(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def space_id(self) -> str | None: ...
    @property
    def config(self) -> dict[str, Any] | None: ...


class Hands(Protocol):
    """Somebody on whose behalf work is run in a transaction."""

    async def read(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
    async def write(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


class _Undone(Exception):
    """The scene is loaded; what it was loaded from must not commit."""

    def __init__(self, scene: Any) -> None:
        super().__init__()
        self.scene = scene


async def try_agent(engine: Engine, hands: Hands, agent_id: str, asked: Asked) -> TryJson:
    """`config` stands in the place of the agent's own."""
    agent = await hands.read(_access, agent_id)
    config = await asyncio.to_thread(parse_config, agent.config if asked.config is None else asked.config)
    view = mind_of(config).perceive(await _scene(hands, agent, config, asked))
    missing = await engine.toolbox.open(config)
    specs = offered_specs(config, engine.toolbox.specs(config), engine.toolbox.is_own)
    prompt = Prompt(view.turns, (*specs, *engine.toolbox.beside(view.beside)))
    tools = chat_tools(prompt)
    return {
        "messages": chat_messages(prompt),
        "tools": tools,
        "tokens": count_turns(prompt.turns) + count(orjson.dumps(tools).decode()),
        "notes": [*missing, *view.notes],
    }


def _access(tx: Tx, caller: Caller, agent_id: str) -> sa.Row[Any]:
    require_administrator(caller)
    return access_agent(tx, caller, agent_id)


async def _scene(hands: Hands, agent: sa.Row[Any], config: AgentConfig, asked: Asked) -> Any:
    try:
        await hands.write(_load, agent, config, asked)
    except _Undone as undone:
        return undone.scene
    raise AssertionError("a try never commits")


def _load(tx: Tx, caller: Caller, agent: sa.Row[Any], config: AgentConfig, asked: Asked) -> NoReturn:
    """Membership and the right to write are asked for as for any message."""
    delivery = _owe(tx, caller, agent.id, asked)
    run = _run(tx, agent, delivery) if config.mind != "consciousness" else _cycle(tx, agent, delivery)
    raise _Undone(mind_of(config).load(tx, run, config))


def _owe(tx: Tx, caller: Caller, agent_id: str, asked: Asked) -> sa.Row[Any]:
    if asked.space_id is None:
        told = trigger_agent(tx, caller, agent_id, SERVICE, {"text": checked_text(asked.text)})
        return tx.execute(sa.select(deliveries).where(deliveries.c.id == told["deliveryId"])).one()
    message = post_message(tx, caller, asked.space_id, Draft(asked.text))
    # Also in a space where only those are woken who are called.
    row = owed(tx, agent_id, asked.space_id, message["id"], {"senderExpectsReply": False}, 0)
    tx.execute(INSERT_DELIVERY[tx.dialect], row)
    return tx.execute(_OWED, {"agent": agent_id, "event": message["id"]}).one()


def _run(tx: Tx, agent: sa.Row[Any], delivery: sa.Row[Any]) -> Claimed:
    trigger = build_triggers(tx, [delivery]).get(delivery.id)
    if trigger is None:
        raise _stranger(agent)
    return _claimed(agent, trigger, delivery.space_id, delivery.space_id)


def _cycle(tx: Tx, agent: sa.Row[Any], delivery: sa.Row[Any]) -> Claimed:
    """It wakes with all that it is owed, this among the rest (K2), where its last cycle left it (A5)."""
    tx.execute(_OWED_NOW, {"delivery": delivery.id})
    arrived = look_at_arrivals(tx, agent.id)
    if all(each.delivery.id != delivery.id for each in arrived):
        raise _stranger(agent)
    events: list[Any] = [each.event for each in arrived]
    return _claimed(agent, with_events({}, events), delivery.space_id, agent.active_space_id)


def _claimed(agent: sa.Row[Any], trigger: Any, space_id: str | None, active_space_id: str | None) -> Claimed:
    return Claimed(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=trigger,
        trigger_space_id=space_id,
        active_space_id=active_space_id,
        chain_depth=0,
        fence=1,
        attempts=1,
        cycle="events" in trigger,
    )


def _stranger(agent: sa.Row[Any]) -> Conflict:
    return Conflict("agent_not_a_member", f"{agent.name} is no member of this space. Add it, or try another space.")
