"""Loads what a cycle starts with.

The cost does not grow with the number of cycles: grouped summaries are one row, and only cycles that are shown in full
are read in full (K7). A damaged row must not silence the agent (R9): a cycle that cannot be read is shown by its
summary or only named, and a damaged compaction is made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa
import structlog

from majlis.agents.config.config import AgentConfig
from majlis.inbox.trigger_shapes import to_route
from majlis.minds.consciousness.compaction import compacted
from majlis.minds.consciousness.perceive import count_around
from majlis.minds.consciousness.scene import Cycle, Group, Head, Past, Waking
from majlis.minds.consciousness.token_budget import room_for_past
from majlis.minds.roles.load import load_routing
from majlis.minds.roles.scene import Scene as RoutingScene
from majlis.minds.timeline.load import load_scene, read_active_space
from majlis.minds.timeline.scene import Look, Scene, Who
from majlis.spaces.damaged_rows import Unreadable, reading
from majlis.store.tables import agents, cycles, members, pasts, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

# Routing views in one prompt. The agent reads further orchestrated spaces with read_messages.
_MAX_ROUTINGS = 5
_ORCHESTRATES = sa.exists().where(
    members.c.entity_id == agents.c.id,
    spaces.c.id == members.c.space_id,
    spaces.c.orchestrator_id == agents.c.id,
    spaces.c.triggers == word("orchestrated"),
    spaces.c.deleted_at.is_(None),
)
_BEFORE = (
    sa.select(*pasts.c, _ORCHESTRATES.label("orchestrates"))
    .select_from(agents)
    .outerjoin(pasts, pasts.c.agent_id == agents.c.id)
    .where(agents.c.id == sa.bindparam("agent"))
)
_OF_AGENT = cycles.c.agent_id == sa.bindparam("agent")
_LATER = sa.and_(_OF_AGENT, cycles.c.n > sa.bindparam("through"))
_ONE = sa.and_(_OF_AGENT, cycles.c.n == sa.bindparam("n"))
_HEAD = sa.select(cycles.c.n, cycles.c.tokens, cycles.c.summary, cycles.c.created_at)
_MESSAGES = sa.select(cycles.c.n, cycles.c.messages)
# The messages of all later cycles, and of one.
_HEADS = (_HEAD.where(_LATER).order_by(cycles.c.n), _HEAD.where(_ONE))
_CYCLES = (_MESSAGES.where(_LATER).order_by(cycles.c.n), _MESSAGES.where(_ONE))
_NUMBERS = sa.select(cycles.c.n).where(_LATER).order_by(cycles.c.n)
_logger = structlog.get_logger(__name__)
T = TypeVar("T")


def load_waking(tx: Tx, look: Look) -> Waking:
    agent, config, inbox = look.agent, look.config, look.trigger.get("events", ())
    world = load_scene(tx, replace(look, trigger={"type": "cycle"}, active_space_id=None, alone=True))
    before, orchestrates = _read_before(tx, agent.id)
    waking = Waking(
        world,
        read_active_space(tx, agent.id, look.active_space_id),
        tuple(inbox),
        before,
        orchestrates=orchestrates,
        routings=_routings(tx, agent, config, world, inbox) if orchestrates else (),
    )
    heads = _read_rows(tx, agent.id, before.through, _HEADS, _head, lambda n: Head(n, 0, "(cannot be read)", 0))
    settings = config.consciousness
    room = room_for_past(settings.max_tokens, count_around(waking))
    past = compacted(before, heads, room, settings.max_tokens, settings.min_recent_cycles)
    recent = _read_cycles(tx, agent.id, [head for head in heads if head.n > past.through])
    return replace(waking, past=past, recent=recent, compacted=past is not before)


def _routings(tx: Tx, agent: Who, config: AgentConfig, world: Scene, inbox: Sequence[Any]) -> tuple[RoutingScene, ...]:
    """The routing views, in the order of the inbox."""
    asked = dict.fromkeys(event["spaceId"] for event in inbox if "orchestrates" in event)
    events = [to_route(inbox, space_id) for space_id in list(asked)[:_MAX_ROUTINGS]]
    found = (load_routing(tx, agent, config, world, event) for event in events if event is not None)
    return tuple(each for each in found if each is not None)


def _read_before(tx: Tx, agent_id: str) -> tuple[Past, bool]:
    """The last compaction of the past, and whether the agent is an orchestrator."""
    asked = {"agent": agent_id}
    try:
        with reading():
            row = tx.execute(_BEFORE, asked).one()
            return _past(row), bool(row.orchestrates)
    except (Unreadable, KeyError):
        _logger.warning("the compacted past is damaged and is made again", agent=agent_id)
        return Past(), bool(tx.execute(_BEFORE.with_only_columns(_ORCHESTRATES), asked).scalar_one())


def _past(row: sa.Row[Any]) -> Past:
    if row.agent_id is None:
        return Past()
    groups = (Group(**{**each, "said": tuple(each["said"])}) for each in row.groups)
    return Past(row.through, row.trimmed, row.cap, tuple(groups))


def _read_cycles(tx: Tx, agent_id: str, heads: Sequence[Head]) -> tuple[Cycle, ...]:
    """`heads` are all cycles from the first of them on."""
    if not heads:
        return ()
    found = dict(_read_rows(tx, agent_id, heads[0].n - 1, _CYCLES, _messages, _damaged))
    return tuple(Cycle(head.n, found[head.n], head.summary, head.tokens) for head in heads)


def _read_rows(
    tx: Tx,
    agent_id: str,
    through: int,
    statements: tuple[sa.Select[Any], sa.Select[Any]],
    parse: Callable[[sa.Row[Any]], T],
    damaged: Callable[[int], T],
) -> list[T]:
    """All cycles after `through` at once; one by one only if that fails."""
    later, one = {"agent": agent_id, "through": through}, statements[1]
    with suppress(Unreadable), reading():
        return [parse(row) for row in tx.all(statements[0], later)]
    found: list[T] = []
    for n in tx.execute(_NUMBERS, later).scalars():
        try:
            with reading():
                found.append(parse(tx.execute(one, {"agent": agent_id, "n": n}).one()))
        except Unreadable:
            _logger.warning("a cycle is damaged", agent=agent_id, cycle=n)
            found.append(damaged(n))
    return found


def _head(row: sa.Row[Any]) -> Head:
    if not isinstance(row.summary, str | None):
        raise TypeError("the summary of a cycle is not text")
    return Head(row.n, int(row.tokens), row.summary or "(no summary)", int(row.created_at))


def _messages(row: sa.Row[Any]) -> tuple[int, list[dict[str, Any]]]:
    if not isinstance(row.messages, list):
        raise TypeError("the messages of a cycle are not a list")
    return row.n, row.messages


def _damaged(n: int) -> tuple[int, list[dict[str, Any]]]:
    return n, [{"role": "user", "content": f"(Cycle {n} cannot be read.)"}]
