"""`route`: the orchestrator of a space decides who acts on what it was called for (R8)."""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import Field

from majlis.entities.names import name_key
from majlis.errors import Conflict, Forbidden, Invalid
from majlis.inbox.trigger import EventJson, to_route
from majlis.inbox.turns import NewTurn, begin_turn, is_under_way, request_of
from majlis.runs.calls.context import Acting, ToolResult
from majlis.spaces.access import lock_space
from majlis.spaces.phases import PhaseChange, change_phase
from majlis.spaces.post import post_notice
from majlis.store.tables import entities, members
from majlis.store.transactions import Tx
from majlis.tools.builtin.base import BuiltIn, Input

Name = Annotated[str, Field(min_length=1, max_length=128)]
_NONE = "Nothing was routed: no message called you. Speak to agents with send_message and @Name."
_WHICH = (
    "Nothing was routed: messages have come from several spaces that you are the orchestrator of. Call enter_space "
    "with the one that you mean first."
)


class Route(Input):
    agents: Annotated[list[Name], Field(min_length=1, max_length=20)]
    """Names of agents of this space."""
    phase: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The phase that the work enters with this; left out: it stays as it is."""
    reason: Annotated[str, Field(min_length=1, max_length=2000)] | None = None
    """Why these, for whoever looks at the turn later."""


def route(tx: Tx, acting: Acting, input: Route) -> ToolResult:
    event = _event_to_route(acting)
    space_id, message_id = event["spaceId"], event["messageId"]
    space = lock_space(tx, acting.caller, space_id, "write")
    if space.triggers != "orchestrated" or space.orchestrator_id != acting.id:
        raise Forbidden("not_orchestrator", "Nothing was routed: you are not the orchestrator of this space.")
    agents = _agents(tx, acting, space_id, input.agents)
    turn = event.get("turnId")
    request_id = (turn and request_of(tx, turn)) or message_id
    if is_under_way(tx, space_id, request_id):
        raise Conflict(
            "turn_under_way",
            "Nothing was routed: a turn of this request is under way. End this run; you are called when it is over.",
        )
    depth = acting.chain_depth + 1
    if depth >= tx.hooks.max_chain_depth:
        return _too_deep(tx, acting, space_id, request_id)
    if input.phase is not None and input.phase != space.phase:
        change_phase(tx, acting.caller, space_id, PhaseChange(input.phase, reason=input.reason))
    new = NewTurn(
        space_id, request_id, message_id, acting.run_id, tuple(agents), input.phase or space.phase, input.reason, depth
    )
    return {"success": True, "turnId": begin_turn(tx, new), "routedTo": list(agents.values())}


def _event_to_route(acting: Acting) -> EventJson:
    """A run's trigger. A cycle has many events: of those, what came from where the agent stands, or from the only space
    that it could mean."""
    events = acting.trigger.get("events")
    if events is not None:
        conducted = {event["spaceId"] for event in events if "orchestrates" in event}
        meant = conducted if len(conducted) == 1 else conducted & {acting.active_space_id}
        found = to_route(events, meant.pop()) if meant else None
        if found is None:
            raise Invalid("no_message", _WHICH if conducted else _NONE)
        return found
    if "messageId" not in acting.trigger:
        raise Invalid("no_message", _NONE)
    return acting.trigger


def _agents(tx: Tx, acting: Acting, space_id: str, asked: list[str]) -> dict[str, str]:
    """Their ids and names. A model may give either."""
    known = {each.id: each.name for each in _members(tx, space_id) if each.id != acting.id}
    by_name = {name_key(name): agent_id for agent_id, name in known.items()}
    found: dict[str, str] = {}
    for each in asked:
        agent_id = each if each in known else by_name.get(name_key(each.removeprefix("@")))
        if agent_id is None:
            listed = ", ".join(sorted(known.values())) or "none"
            raise Invalid(
                "unknown_agent", f"Nothing was routed: there is no other agent {each} here. The agents are: {listed}."
            )
        found[agent_id] = known[agent_id]
    return found


def _members(tx: Tx, space_id: str) -> list[sa.Row[Any]]:
    statement = (
        sa.select(entities.c.id, entities.c.name)
        .join(members, members.c.entity_id == entities.c.id)
        .where(members.c.space_id == space_id, entities.c.type == "agent")
    )
    return list(tx.all(statement))


def _too_deep(tx: Tx, acting: Acting, space_id: str, request_id: str) -> ToolResult:
    """Not a refusal, which would take the notice back: people have to see why it ends here (T5)."""
    limit = tx.hooks.max_chain_depth
    post_notice(
        tx,
        space_id,
        f"Agents have acted {limit} times in a row on this, so {acting.name} could route it no further. A message from "
        "a person starts afresh.",
        request_id,
        once=f"depth:{request_id}",
    )
    return {
        "success": False,
        "error": f"Nothing was routed: agents have acted {limit} times in a row on this request. Sum up what there is "
        "with send_message, and end this run.",
    }


TOOL = BuiltIn(
    "route",
    "Give the message that you were called for to agents of this space. You are called again when all of them have "
    "completed their turn.",
    Route,
    route,
)
