"""A preview: what an agent would be shown for this message now, and what its model answers. Nothing is stored.

The message is really posted and delivered, in a transaction that never commits, so that the preview is what a run would
see, for every mind.
"""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn

import sqlalchemy as sa

from majlis import clock
from majlis.agents.agents import access_agent
from majlis.agents.config.config import AgentConfig, parse_config
from majlis.entities.caller import Caller, require_administrator
from majlis.errors import Conflict
from majlis.inbox.build_trigger import build_triggers, cycle_trigger
from majlis.inbox.deliver import insert_delivery, new_delivery, post_message
from majlis.inbox.services import trigger_agent
from majlis.models.chat.wire_format import chat_messages, chat_tools
from majlis.models.estimate_tokens import estimate_tools, estimate_turns
from majlis.models.port import ModelFailed, Prompt, final_answer, read_input
from majlis.runs.calls.permission import offered_specs
from majlis.runs.claim.arrivals import look_at_arrivals
from majlis.runs.engine import Engine
from majlis.runs.loop.perceive import mind_of
from majlis.runs.run import Run
from majlis.runs.view.shapes import TriedAnswerJson, TriedCallJson, TryJson
from majlis.spaces.cause import Cause
from majlis.spaces.post import Draft, checked_text
from majlis.store import ids
from majlis.store.tables import deliveries
from majlis.store.transactions import Tx

# The sender when no space is named.
SERVICE = "try"
_ANSWER_SECONDS = 120.0

_DELIVERY = sa.select(deliveries).where(
    deliveries.c.agent_id == sa.bindparam("agent"), deliveries.c.event_id == sa.bindparam("event")
)
_MAKE_PENDING = deliveries.update().where(deliveries.c.id == sa.bindparam("delivery")).values(state="pending")


class _Rollback(Exception):
    """Carries the scene out of the transaction, which must not commit."""

    def __init__(self, scene: Any) -> None:
        super().__init__()
        self.scene = scene


async def preview_agent(
    engine: Engine,
    caller: Caller,
    agent_id: str,
    text: str,
    space_id: str | None,
    config: dict[str, Any] | None,
    ask: bool = False,
) -> TryJson:
    """`config` replaces the agent's own. `ask` sends the request to the model, once."""
    agent = await engine.db.read(_access, caller, agent_id)
    parsed = await asyncio.to_thread(parse_config, agent.config if config is None else config)
    # A preview starts no program (G12); the tools of programs that already run are shown.
    reached = tuple(server for server in parsed.mcp if server.command is None)
    missing = await engine.toolbox.open(parsed.model_copy(update={"mcp": reached}))
    specs = offered_specs(parsed, engine.toolbox.specs(parsed))
    room = await engine.room(parsed, specs)
    specs, parsed = room.tools, room.config_of(parsed)
    try:
        await engine.db.write(_load, caller, agent, parsed, text, space_id)
    except _Rollback as rollback:
        view = mind_of(parsed).perceive(rollback.scene, room.for_turns)
    prompt = Prompt(view.turns, (*specs, *engine.toolbox.beside(view.beside)), outline=view.outline)
    tried: TryJson = {
        "messages": chat_messages(prompt),
        "tools": chat_tools(prompt),
        "tokens": estimate_turns(prompt.turns) + estimate_tools(prompt.tools),
        "notes": [*missing, *view.notes],
    }
    if ask:
        try:
            tried["answer"] = await _ask(engine, parsed, prompt)
        except ModelFailed as failed:
            tried["problem"] = {"code": failed.code, "message": failed.message}
    return tried


async def _ask(engine: Engine, config: AgentConfig, prompt: Prompt) -> TriedAnswerJson:
    started = clock.now()
    await engine.prices.load(config.model_name)
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            answer = await final_answer(engine.models.get(config.model), prompt)
    except TimeoutError:
        message = f"The model did not answer within {_ANSWER_SECONDS:.0f} seconds."
        raise ModelFailed(message, True, "model_timeout") from None
    calls: list[TriedCallJson] = []
    for call in answer.calls:
        given = read_input(call)
        calls.append({"name": call.name, "input": call.arguments if given is None else given})
    return {
        "text": answer.text,
        "calls": calls,
        "inputTokens": answer.usage.input,
        "cachedTokens": answer.usage.cached,
        "outputTokens": answer.usage.output,
        "cost": engine.prices.cost(config.model_name, answer.usage, started),
        "millis": clock.now() - started,
    }


def _access(tx: Tx, caller: Caller, agent_id: str) -> sa.Row[Any]:
    require_administrator(caller)
    return access_agent(tx, caller, agent_id)


def _load(tx: Tx, caller: Caller, agent: sa.Row[Any], config: AgentConfig, text: str, space_id: str | None) -> NoReturn:
    """Membership and the right to write are checked as for any message."""
    delivery = _deliver(tx, caller, agent.id, text, space_id)
    cycle = config.mind == "consciousness"
    run = Run(
        id=ids.new("run"),
        agent_id=agent.id,
        agent_name=agent.name,
        agent_version=agent.version,
        trigger=_cycle_trigger(tx, agent, delivery) if cycle else _trigger(tx, agent, delivery),
        trigger_space_id=delivery.space_id,
        active_space_id=agent.active_space_id if cycle else delivery.space_id,
        chain_depth=0,
        cause_id=delivery.cause_id,
        person_id=delivery.person_id,
        cycle=cycle,
        config=config,
    )
    raise _Rollback(mind_of(config).load(tx, run))


def _deliver(tx: Tx, caller: Caller, agent_id: str, text: str, space_id: str | None) -> sa.Row[Any]:
    if space_id is None:
        triggered = trigger_agent(tx, caller, agent_id, SERVICE, {"text": checked_text(text)})
        return tx.execute(sa.select(deliveries).where(deliveries.c.id == triggered["deliveryId"])).one()
    message = post_message(tx, caller, space_id, Draft(text))
    # Even if the message alone would not trigger this agent.
    row = new_delivery(
        tx,
        agent_id,
        "space_message",
        message["id"],
        {"senderExpectsReply": False},
        cause=Cause(None, caller.id),
        space_id=space_id,
        message_id=message["id"],
    )
    insert_delivery(tx, row)
    return tx.execute(_DELIVERY, {"agent": agent_id, "event": message["id"]}).one()


def _trigger(tx: Tx, agent: sa.Row[Any], delivery: sa.Row[Any]) -> Any:
    trigger = build_triggers(tx, [delivery]).get(delivery.id)
    if trigger is None:
        raise _not_a_member(agent)
    return trigger


def _cycle_trigger(tx: Tx, agent: sa.Row[Any], delivery: sa.Row[Any]) -> Any:
    """A cycle takes all pending events of the agent, this one among them (K2)."""
    tx.execute(_MAKE_PENDING, {"delivery": delivery.id})
    arrived = look_at_arrivals(tx, agent.id)
    if all(each.delivery.id != delivery.id for each in arrived):
        raise _not_a_member(agent)
    return cycle_trigger([each.event for each in arrived])


def _not_a_member(agent: sa.Row[Any]) -> Conflict:
    return Conflict(
        "agent_not_a_member", f"{agent.name} is not a member of this space. Add the agent, or choose another space."
    )
