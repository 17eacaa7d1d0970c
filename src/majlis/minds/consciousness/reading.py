"""Cycles and how they were shown last, as they are stored. One damaged row must not silence an agent for good (R9): a
cycle that cannot be read is shown by its summary, or only named; what was compacted is compacted once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
import structlog

from majlis.minds.consciousness.scene import Cycle, Group, Head, Past
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
_LATER = sa.and_(cycles.c.agent_id == sa.bindparam("agent"), cycles.c.n > sa.bindparam("through"))
_ONE = sa.and_(cycles.c.agent_id == sa.bindparam("agent"), cycles.c.n == sa.bindparam("n"))
_HEAD = sa.select(cycles.c.n, cycles.c.tokens, cycles.c.summary, cycles.c.created_at)
_HEADS = _HEAD.where(_LATER).order_by(cycles.c.n)
_ONE_HEAD = _HEAD.where(_ONE)
_NUMBERS = sa.select(cycles.c.n).where(_LATER).order_by(cycles.c.n)
_CYCLES = sa.select(cycles.c.n, cycles.c.messages).where(_LATER).order_by(cycles.c.n)
_ONE_CYCLE = sa.select(cycles.c.messages).where(_ONE)
_logger = structlog.get_logger(__name__)


def read_before(tx: Tx, agent_id: str) -> tuple[Past, bool]:
    """How the past was shown last, and whether the agent conducts."""
    asked = {"agent": agent_id}
    try:
        with reading():
            row = tx.execute(_BEFORE, asked).one()
            return _past(row), bool(row.conducts)
    except (Unreadable, KeyError):
        _logger.warning("what was compacted is damaged and is compacted once more", agent=agent_id)
        conducts = tx.execute(_BEFORE.with_only_columns(_CONDUCTS), asked).scalar_one()
        return Past(), bool(conducts)


def read_heads(tx: Tx, agent_id: str, through: int) -> list[Head]:
    later = {"agent": agent_id, "through": through}
    try:
        with reading():
            return [_head(row) for row in tx.all(_HEADS, later)]
    except Unreadable:
        return [_one_head(tx, agent_id, row.n) for row in tx.all(_NUMBERS, later)]


def read_cycles(tx: Tx, agent_id: str, heads: Sequence[Head]) -> tuple[Cycle, ...]:
    """Those of the `heads`, which are all from the first of them on."""
    if not heads:
        return ()
    try:
        with reading():
            rows = tx.all(_CYCLES, {"agent": agent_id, "through": heads[0].n - 1})
            whole = {row.n: _messages(row.messages) for row in rows}
    except Unreadable:
        whole = {head.n: _one_cycle(tx, agent_id, head.n) for head in heads}
    return tuple(Cycle(head.n, whole[head.n], head.summary, head.tokens) for head in heads)


def _past(row: sa.Row[Any]) -> Past:
    if row.agent_id is None:
        return Past()
    return Past(row.through, row.trimmed, row.cap, tuple(_group(each) for each in row.groups))


def _group(kept: dict[str, Any]) -> Group:
    return Group(kept["first"], kept["last"], kept["since"], kept["until"], tuple(kept["said"]))


def _head(row: sa.Row[Any]) -> Head:
    if not isinstance(row.summary, str | None):
        raise TypeError("a summary is text")
    return Head(row.n, int(row.tokens), row.summary or "(no summary)", int(row.created_at))


def _one_head(tx: Tx, agent_id: str, n: int) -> Head:
    try:
        with reading():
            return _head(tx.execute(_ONE_HEAD, {"agent": agent_id, "n": n}).one())
    except Unreadable:
        _logger.warning("a cycle's summary is damaged", agent=agent_id, cycle=n)
        return Head(n, 0, "(cannot be read)", 0)


def _messages(kept: Any) -> list[dict[str, Any]]:
    if not isinstance(kept, list):
        raise TypeError("what was said in a cycle is a list")
    return kept


def _one_cycle(tx: Tx, agent_id: str, n: int) -> list[dict[str, Any]]:
    try:
        with reading():
            return _messages(tx.execute(_ONE_CYCLE, {"agent": agent_id, "n": n}).scalar_one())
    except Unreadable:
        _logger.warning("a cycle is damaged and is shown by its summary", agent=agent_id, cycle=n)
        return [{"role": "user", "content": f"(Cycle {n} cannot be read.)"}]
