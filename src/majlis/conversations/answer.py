"""Reads the answer to a message of a conversation from the database (D3).

An agent's answer is everything that its run says in the conversation's space until it ends or waits there. A space's
answer is the first message of another member that answers. Both can be read again at any time, so a client that was
disconnected asks again and gets the same answer.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from majlis.conversations.post import Turn
from majlis.errors import MajlisError, TooMany
from majlis.models.port import Usage
from majlis.store.tables import deliveries, entities, members, messages, runs, steps
from majlis.store.transactions import Tx

_MOST_MESSAGES = 200
_SETTLED = ("done", "passed", "failed", "collected", "parked", "withdrawn")

_TEXTS = sa.select(
    messages.c.id, messages.c.text, messages.c.kind, messages.c.tool, messages.c.stream_id, messages.c.run_id
).order_by(messages.c.seq)


class AgentFailed(MajlisError):
    status = 502


@dataclass(frozen=True, slots=True)
class Answer:
    texts: tuple[str, ...] = ()
    # The streams that the stored texts have replaced.
    stream_ids: frozenset[str] = frozenset()
    run_id: str | None = None
    # Nothing will be added.
    over: bool = False
    error: MajlisError | None = None
    usage: Usage = field(default_factory=Usage)


def read_answer(tx: Tx, turn: Turn) -> Answer:
    return _of_agent(tx, turn) if turn.model.kind == "agent" else _of_space(tx, turn)


def _of_agent(tx: Tx, turn: Turn) -> Answer:
    given = sa.select(deliveries.c.state, deliveries.c.run_id).where(
        deliveries.c.agent_id == turn.model.id, deliveries.c.event_id == turn.message_id
    )
    delivery = tx.one(given)
    if delivery is None:
        return Answer(over=True)
    if delivery.state == "parked":
        problem = f"The budget of {turn.model.name} is spent. It answers again when the budget allows it."
        return Answer(over=True, error=TooMany("insufficient_quota", problem, retry_after=60))
    run = None
    if delivery.run_id is not None:
        facts = sa.select(runs.c.id, runs.c.status, runs.c.wait_space_id, runs.c.wait_message_id)
        run = tx.one(facts.where(runs.c.id == delivery.run_id))
    later = _taken_later(tx, turn, run.id) if run is not None else None
    waits = run is not None and run.status.startswith("waiting") and run.wait_space_id == turn.space_id
    rows = _said(tx, turn, run, later)
    failed = delivery.state == "failed"
    problem = f"{turn.model.name} failed to answer. An admin of this gateway can see why in its runs."
    run_ids = {row.run_id for row in rows} | ({run.id} if run is not None else set())
    return Answer(
        tuple(_text(row) for row in rows),
        frozenset(row.stream_id for row in rows if row.stream_id is not None),
        run.id if run is not None else None,
        over=later is not None or waits or delivery.state in _SETTLED,
        error=AgentFailed("agent_failed", problem) if failed else None,
        usage=_usage(tx, run_ids, turn.created_at, later.created_at if later is not None else None),
    )


def _taken_later(tx: Tx, turn: Turn, run_id: str) -> sa.Row[Any] | None:
    """The next message that the same run was resumed with: what follows it is the answer to that one."""
    return tx.one(
        sa.select(messages.c.seq, messages.c.created_at)
        .join(deliveries, deliveries.c.message_id == messages.c.id)
        .where(deliveries.c.run_id == run_id, messages.c.space_id == turn.space_id, messages.c.seq > turn.seq)
        .order_by(messages.c.seq)
        .limit(1)
    )


def _said(tx: Tx, turn: Turn, run: sa.Row[Any] | None, later: sa.Row[Any] | None) -> list[sa.Row[Any]]:
    """Messages of the run and of earlier attempts, which have the same cause, and of their cards only the one that the
    run waits on."""
    ours = messages.c.cause_id == turn.cause_id
    card = sa.false()
    if run is not None:
        ours = sa.or_(ours, messages.c.run_id == run.id)
        if run.status == "waiting_tool":
            card = messages.c.id == run.wait_message_id
    statement = _TEXTS.where(
        messages.c.space_id == turn.space_id,
        messages.c.seq > turn.seq,
        messages.c.sender_id == turn.model.id,
        sa.or_(messages.c.kind == "text", card),
        ours,
    ).limit(_MOST_MESSAGES)
    return list(tx.all(statement if later is None else statement.where(messages.c.seq < later.seq)))


def _text(row: sa.Row[Any]) -> str:
    if row.kind == "text" or row.text:
        return str(row.text)
    return f"I need a decision about {row.tool['name']}. Open this conversation in Majlis to decide."


def _of_space(tx: Tx, turn: Turn) -> Answer:
    """The first message that replies, comes of this message, or is a member's and addresses no one else."""
    free = sa.and_(entities.c.type != "agent", messages.c.reply_to.is_(None), messages.c.mentions.is_(None))
    answers = sa.or_(messages.c.reply_to == turn.message_id, messages.c.cause_id == turn.cause_id, free)
    found = tx.one(
        _TEXTS.join(entities, entities.c.id == messages.c.sender_id)
        .where(
            messages.c.space_id == turn.space_id,
            messages.c.seq > turn.seq,
            messages.c.sender_id != turn.asker_id,
            messages.c.kind == "text",
            answers,
        )
        .limit(1)
    )
    if found is None:
        return Answer(over=not _may_be_answered(tx, turn))
    used = _usage(tx, {found.run_id} - {None}, 0, None)
    return Answer((found.text,), run_id=found.run_id, over=True, usage=used)


def _may_be_answered(tx: Tx, turn: Turn) -> bool:
    """True if an agent that has not settled the message, or another member, may answer."""
    unsettled = sa.exists().where(
        deliveries.c.message_id == turn.message_id, deliveries.c.state.not_in(("done", "passed", "failed", "withdrawn"))
    )
    others = sa.exists().where(
        members.c.space_id == turn.space_id,
        members.c.entity_id != turn.asker_id,
        members.c.role != "viewer",
        entities.c.id == members.c.entity_id,
        entities.c.type != "agent",
    )
    return bool(tx.execute(sa.select(sa.or_(unsettled, others))).scalar_one())


def _usage(tx: Tx, run_ids: Collection[str], since: int, before: int | None) -> Usage:
    if not run_ids:
        return Usage()
    asked = sa.select(steps.c.usage).where(
        steps.c.run_id.in_(sorted(run_ids)), steps.c.kind == "model", steps.c.started_at >= since
    )
    rows = tx.all(asked if before is None else asked.where(steps.c.started_at < before))
    used = [row.usage for row in rows if row.usage]
    names = "inputTokens", "cachedTokens", "outputTokens"
    return Usage(*(sum(int(each.get(name) or 0) for each in used) for name in names))
