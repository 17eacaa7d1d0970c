"""From the database to what a cycle begins with. Costs the same after ten cycles and after ten thousand: summaries that
were grouped are one row, and of the others only those are read whole that are shown whole (K7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from majlis.agents.config import AgentConfig
from majlis.minds.consciousness.budget import room_for_past
from majlis.minds.consciousness.compaction import compacted
from majlis.minds.consciousness.scene import Cycle, Event, Group, Head, Past, Waking
from majlis.minds.consciousness.views import count_around
from majlis.minds.timeline import statements
from majlis.minds.timeline.loading import load_scene
from majlis.minds.timeline.scene import Action, ActiveSpace, Who
from majlis.store.tables import cycles, pasts
from majlis.store.transactions import Tx

_PAST = sa.select(pasts).where(pasts.c.agent_id == sa.bindparam("agent"))
_LATER = sa.and_(cycles.c.agent_id == sa.bindparam("agent"), cycles.c.n > sa.bindparam("through"))
_HEADS = (
    sa.select(cycles.c.n, cycles.c.tokens, cycles.c.summary, cycles.c.created_at).where(_LATER).order_by(cycles.c.n)
)
_CYCLES = sa.select(cycles.c.n, cycles.c.messages, cycles.c.summary, cycles.c.tokens).where(_LATER).order_by(cycles.c.n)


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
    waking = Waking(world, _active(tx, agent, active_space_id), tuple(inbox))
    before = _load_past(tx, agent.id)
    heads = [_head(row) for row in tx.all(_HEADS, {"agent": agent.id, "through": before.through})]
    settings = config.consciousness
    room = room_for_past(settings.max_tokens, count_around(waking))
    past = compacted(before, heads, room, settings.max_tokens, settings.min_recent_cycles)
    rows = tx.all(_CYCLES, {"agent": agent.id, "through": past.through}) if heads else ()
    recent = tuple(Cycle(row.n, row.messages, row.summary or "", row.tokens) for row in rows)
    return replace(waking, past=past, recent=recent, compacted=past is not before)


def _active(tx: Tx, agent: Who, space_id: str | None) -> ActiveSpace | None:
    """None once the agent is no member there any more (A7)."""
    if space_id is None:
        return None
    row = tx.one(statements.ACTIVE_SPACE, {"space": space_id, "agent": agent.id})
    return ActiveSpace(row.id, row.name, row.head_seq, row.processed_seq or 0) if row else None


def _load_past(tx: Tx, agent_id: str) -> Past:
    row = tx.one(_PAST, {"agent": agent_id})
    if row is None:
        return Past()
    return Past(row.through, row.trimmed, row.cap, tuple(_group(each) for each in row.groups))


def _group(kept: dict[str, Any]) -> Group:
    return Group(kept["first"], kept["last"], kept["since"], kept["until"], tuple(kept["said"]))


def _head(row: sa.Row[Any]) -> Head:
    return Head(row.n, row.tokens, row.summary or "(no summary)", row.created_at)
