"""`route`: the orchestrator of a space chooses the agents that act on a message (R8)."""

from __future__ import annotations

from typing import Annotated

import sqlalchemy as sa
from pydantic import Field

from majlis.entities.names import name_key
from majlis.errors import Conflict, Forbidden, Invalid
from majlis.inbox.trigger_shapes import EventJson, to_route
from majlis.inbox.turns import NewTurn, begin_turn, is_under_way, request_of
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.spaces.access import lock_space
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.spaces.post import post_notice
from majlis.store.tables import entities, members
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import Input, built_in

Name = Annotated[str, Field(min_length=1, max_length=128)]
_NO_MESSAGE = "Nothing was routed: no message called you. To address agents, call send_message and write @Name."
_SEVERAL_SPACES = (
    "Nothing was routed: messages came from several spaces that you orchestrate. Call enter_space with one of them "
    "first."
)


class Route(Input):
    agents: Annotated[list[Name], Field(min_length=1, max_length=20)]
    """Names of agents in this space."""
    phase: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The phase to start. Omit it to stay in the current phase."""
    reason: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    """Why you chose these agents, for people who view the turn later."""


@built_in(
    "Pass the message that called you to agents in this space. You are called again when all of them have completed "
    "their turn."
)
def route(tx: Tx, call: CallContext, input: Route) -> ToolResult:
    event = _event_to_route(call)
    space_id, message_id = event["spaceId"], event["messageId"]
    space = lock_space(tx, call.run.caller, space_id, "write")
    if space.triggers != "orchestrated" or space.orchestrator_id != call.run.agent_id:
        raise Forbidden("not_orchestrator", "Nothing was routed: you are not the orchestrator of this space.")
    agents = _agents(tx, call, space_id, input.agents)
    turn = event.get("turnId")
    request_id = (turn and request_of(tx, turn)) or message_id
    if is_under_way(tx, space_id, request_id):
        raise Conflict(
            "turn_under_way",
            "Nothing was routed: a turn of this request is in progress. End this run; you are called again when the "
            "turn has finished.",
        )
    depth = call.run.chain_depth + 1
    limit = tx.hooks.depth_limit(space.max_chain_depth)
    if depth >= limit:
        return _too_deep(tx, call, space_id, request_id, limit)
    if input.phase is not None and input.phase != space.phase:
        change_phase(tx, call.run.caller, space_id, PhaseChange(input.phase, reason=input.reason))
    new = NewTurn(
        space_id, request_id, message_id, call.run.id, tuple(agents), input.phase or space.phase, input.reason, depth
    )
    return {"success": True, "turnId": begin_turn(tx, new), "routedTo": list(agents.values())}


def _event_to_route(call: CallContext) -> EventJson:
    """The trigger of the run. In a cycle: the event of the active space, or of the only space that the agent
    orchestrates."""
    events = call.run.trigger.get("events")
    if events is not None:
        orchestrated = {event["spaceId"] for event in events if "orchestrates" in event}
        meant = orchestrated if len(orchestrated) == 1 else orchestrated & {call.run.active_space_id}
        found = to_route(events, meant.pop()) if meant else None
        if found is None:
            raise Invalid("no_message", _SEVERAL_SPACES if orchestrated else _NO_MESSAGE)
        return found
    if "messageId" not in call.run.trigger:
        raise Invalid("no_message", _NO_MESSAGE)
    return call.run.trigger


def _agents(tx: Tx, call: CallContext, space_id: str, asked: list[str]) -> dict[str, str]:
    """Agents by id, with their names. The model may give names or ids."""
    statement = (
        sa.select(entities.c.id, entities.c.name)
        .join(members, members.c.entity_id == entities.c.id)
        .where(members.c.space_id == space_id, entities.c.type == "agent", entities.c.id != call.run.agent_id)
    )
    known: dict[str, str] = {each.id: each.name for each in tx.all(statement)}
    by_name = {name_key(name): agent_id for agent_id, name in known.items()}
    found: dict[str, str] = {}
    for each in asked:
        agent_id = each if each in known else by_name.get(name_key(each.removeprefix("@")))
        if agent_id is None:
            listed = ", ".join(sorted(known.values())) or "none"
            raise Invalid(
                "unknown_agent",
                f"Nothing was routed: there is no other agent named {each} in this space. The agents are: {listed}.",
            )
        found[agent_id] = known[agent_id]
    return found


def _too_deep(tx: Tx, call: CallContext, space_id: str, request_id: str, limit: int) -> ToolResult:
    """Returned, not raised: an exception would roll back the notice that tells people why it ends here (T5)."""
    post_notice(
        tx,
        space_id,
        f"Agents have acted {limit} times in a row on this request, so {call.run.agent_name} could not route it again. "
        "A message from a person resets this.",
        request_id,
        once=f"depth:{request_id}",
    )
    return {
        "success": False,
        "error": f"Nothing was routed: agents have acted {limit} times in a row on this request. Sum up the results "
        "with send_message, then end this run.",
    }
