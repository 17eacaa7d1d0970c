"""From the database to what a cycle begins with. Costs the same after ten cycles and after ten thousand: summaries that
were grouped are one row, and of the others only those are read whole that are shown whole (K7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from majlis.agents.config.config import AgentConfig
from majlis.inbox.trigger import to_route
from majlis.minds.consciousness.budget import room_for_past
from majlis.minds.consciousness.compaction import compacted
from majlis.minds.consciousness.perceive import count_around
from majlis.minds.consciousness.reading import read_before, read_cycles, read_heads
from majlis.minds.consciousness.scene import Event, Waking
from majlis.minds.roles.load import load_routing
from majlis.minds.roles.scene import Scene as RoutingScene
from majlis.minds.timeline import statements
from majlis.minds.timeline.load import load_scene
from majlis.minds.timeline.scene import Action, ActiveSpace, Scene, Who
from majlis.store.transactions import Tx

# More orchestrated spaces than this in one inbox are routed one after the other, with read_messages.
_MOST_ROUTINGS = 5


def load_waking(
    tx: Tx,
    agent: Who,
    config: AgentConfig,
    run_id: str,
    inbox: Sequence[Event],
    active_space_id: str | None,
    actions: Sequence[Action] = (),
) -> Waking:
    world = load_scene(tx, agent, config, run_id, {"type": "cycle"}, None, actions, alone=True)
    before, conducts = read_before(tx, agent.id)
    routings = _routings(tx, agent, config, world, inbox) if conducts else ()
    waking = Waking(
        world, _active(tx, agent, active_space_id), tuple(inbox), before, conducts=conducts, routings=routings
    )
    heads = read_heads(tx, agent.id, before.through)
    settings = config.consciousness
    room = room_for_past(settings.max_tokens, count_around(waking))
    past = compacted(before, heads, room, settings.max_tokens, settings.min_recent_cycles)
    recent = read_cycles(tx, agent.id, [head for head in heads if head.n > past.through])
    return replace(waking, past=past, recent=recent, compacted=past is not before)


def _active(tx: Tx, agent: Who, space_id: str | None) -> ActiveSpace | None:
    """None once the agent is no member there any more (A7)."""
    if space_id is None:
        return None
    row = tx.one(statements.ACTIVE_SPACE, {"space": space_id, "agent": agent.id})
    return ActiveSpace(row.id, row.name, row.head_seq, row.processed_seq or 0) if row else None


def _routings(tx: Tx, agent: Who, config: AgentConfig, world: Scene, inbox: Sequence[Any]) -> tuple[RoutingScene, ...]:
    """In the order of the inbox."""
    asked = dict.fromkeys(event["spaceId"] for event in inbox if "orchestrates" in event)
    events = [to_route(inbox, space_id) for space_id in list(asked)[:_MOST_ROUTINGS]]
    found = (load_routing(tx, agent, config, world, event) for event in events if event is not None)
    return tuple(each for each in found if each is not None)
