"""From the database to what a cycle begins with. Costs the same after ten cycles and after ten thousand: summaries that
were grouped are one row, and of the others only those are read whole that are shown whole (K7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
import structlog

from majlis.agents.config import AgentConfig
from majlis.inbox.triggers import to_route
from majlis.minds.consciousness.budget import room_for_past
from majlis.minds.consciousness.compaction import compacted
from majlis.minds.consciousness.scene import Cycle, Event, Group, Head, Past, Waking
from majlis.minds.consciousness.views import count_around
from majlis.minds.roles.loading import load_routing
from majlis.minds.roles.scene import Scene as RoutingScene
from majlis.minds.timeline import statements
from majlis.minds.timeline.loading import load_scene
from majlis.minds.timeline.scene import Action, ActiveSpace, Scene, Who
from majlis.spaces.damage import Unreadable, reading
from majlis.store.tables import agents, cycles, members, pasts, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_CONDUCTS = sa.exists().where(
    members.c.entity_id == agents.c.id,
    spaces.c.id == members.c.space_id,
    spaces.c.orchestrator_id == agents.c.id,
    spaces.c.triggers == word("orchestrated"),
    spaces.c.deleted_at.is_(None),
)
# How the past was shown last, if it was ever compacted; and whether the agent is some space's orchestrator.
_BEFORE = (
    sa.select(*pasts.c, _CONDUCTS.label("conducts"))
    .select_from(agents)
    .outerjoin(pasts, pasts.c.agent_id == agents.c.id)
    .where(agents.c.id == sa.bindparam("agent"))
)
# More orchestrated spaces than this in one inbox are routed one after the other, with read_messages.
_MOST_ROUTINGS = 5
_LATER = sa.and_(cycles.c.agent_id == sa.bindparam("agent"), cycles.c.n > sa.bindparam("through"))
_HEADS = (
    sa.select(cycles.c.n, cycles.c.tokens, cycles.c.summary, cycles.c.created_at).where(_LATER).order_by(cycles.c.n)
)
_MESSAGES = sa.select(cycles.c.messages).where(
    cycles.c.agent_id == sa.bindparam("agent"), cycles.c.n == sa.bindparam("n")
)
_CYCLES = sa.select(cycles.c.n, cycles.c.messages, cycles.c.summary, cycles.c.tokens).where(_LATER).order_by(cycles.c.n)
_logger = structlog.get_logger(__name__)


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
    before, conducts = _before(tx, agent.id)
    routings = _routings(tx, agent, config, world, inbox) if conducts else ()
    waking = Waking(
        world, _active(tx, agent, active_space_id), tuple(inbox), before, conducts=conducts, routings=routings
    )
    heads = [_head(row) for row in tx.all(_HEADS, {"agent": agent.id, "through": before.through})]
    settings = config.consciousness
    room = room_for_past(settings.max_tokens, count_around(waking))
    past = compacted(before, heads, room, settings.max_tokens, settings.min_recent_cycles)
    recent = _recent(tx, agent.id, [head for head in heads if head.n > past.through])
    return replace(waking, past=past, recent=recent, compacted=past is not before)


def _recent(tx: Tx, agent_id: str, heads: Sequence[Head]) -> tuple[Cycle, ...]:
    if not heads:
        return ()
    try:
        with reading():
            rows = tx.all(_CYCLES, {"agent": agent_id, "through": heads[0].n - 1})
    except Unreadable:
        return tuple(_one_cycle(tx, agent_id, head) for head in heads)
    return tuple(Cycle(row.n, row.messages, row.summary or "", row.tokens) for row in rows)


def _one_cycle(tx: Tx, agent_id: str, head: Head) -> Cycle:
    """A row that cannot be read must not silence the agent for good: it is shown by its summary."""
    try:
        with reading():
            messages = tx.execute(_MESSAGES, {"agent": agent_id, "n": head.n}).scalar_one()
    except Unreadable:
        _logger.warning("a cycle is damaged and is shown by its summary", agent=agent_id, cycle=head.n)
        messages = [{"role": "user", "content": f"(Cycle {head.n} cannot be read.)"}]
    return Cycle(head.n, messages, head.summary, head.tokens)


def _active(tx: Tx, agent: Who, space_id: str | None) -> ActiveSpace | None:
    """None once the agent is no member there any more (A7)."""
    if space_id is None:
        return None
    row = tx.one(statements.ACTIVE_SPACE, {"space": space_id, "agent": agent.id})
    return ActiveSpace(row.id, row.name, row.head_seq, row.processed_seq or 0) if row else None


def _before(tx: Tx, agent_id: str) -> tuple[Past, bool]:
    row = tx.execute(_BEFORE, {"agent": agent_id}).one()
    if row.agent_id is None:
        return Past(), bool(row.conducts)
    return Past(row.through, row.trimmed, row.cap, tuple(_group(each) for each in row.groups)), bool(row.conducts)


def _routings(tx: Tx, agent: Who, config: AgentConfig, world: Scene, inbox: Sequence[Any]) -> tuple[RoutingScene, ...]:
    """In the order of the inbox."""
    asked = dict.fromkeys(event["spaceId"] for event in inbox if "orchestrates" in event)
    events = [to_route(inbox, space_id) for space_id in list(asked)[:_MOST_ROUTINGS]]
    found = (load_routing(tx, agent, config, world, event) for event in events if event is not None)
    return tuple(each for each in found if each is not None)


def _group(kept: dict[str, Any]) -> Group:
    return Group(kept["first"], kept["last"], kept["since"], kept["until"], tuple(kept["said"]))


def _head(row: sa.Row[Any]) -> Head:
    return Head(row.n, row.tokens, row.summary or "(no summary)", row.created_at)
