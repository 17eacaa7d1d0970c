"""Answers to waits: which messages count (W2, W6), how they gather in the one waiting run (W4), and what happens to a
wait when a named member leaves, or an answer or the question is deleted (W9).

All of it happens under the lock of the space that the run waits in, so answers arrive one after another. The run's row
decides between an answer and the timeout.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.live import log
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import runs, wait_answers
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx
from majlis.waits.wait import Answer, Outcome, Wait, end_reply_wait, end_unanswered, load_answers, replied

# A wait that is older than an hour is answered only by a reply (W6).
_REPLIES_ONLY_AFTER_MILLIS = 3_600_000

_IS_OPEN = runs.c.id == sa.bindparam("run"), runs.c.status == word("waiting_reply")
# Keeps the wait from ending until this transaction commits; nothing if it has ended.
_HOLD_OPEN = runs.update().where(*_IS_OPEN).values(wait_space_id=runs.c.wait_space_id)
_CHANGE = runs.update().where(*_IS_OPEN).values(wait=sa.bindparam("changed", type_=runs.c.wait.type))
_INSERT: dict[Dialect, Any] = {
    "sqlite": sqlite.insert(wait_answers).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(wait_answers).on_conflict_do_nothing(),
}
_WAITING = sa.select(runs.c.id, runs.c.agent_id, runs.c.wait, runs.c.chain_depth).where(
    runs.c.wait_space_id == sa.bindparam("space"), runs.c.status == word("waiting_reply")
)

_FORGET_ANSWER = wait_answers.delete().where(
    wait_answers.c.run_id == sa.bindparam("run"), wait_answers.c.message_id == sa.bindparam("message")
)


class Taken(NamedTuple):
    """What becomes of the delivery of an answer: its run resumes with it (`taken`), or waits for more (`collected`)."""

    run_id: str
    state: Literal["taken", "collected"]


def answer_waits(tx: Tx, message: MessageJson, waiting: Sequence[sa.Row[Any]]) -> dict[str, Taken]:
    """The waits that the message answers, by agent. A reply answers only runs that wait on the message it replies to;
    any other message answers each agent's newest wait (M5–M7)."""
    newest: dict[str, tuple[sa.Row[Any], Wait]] = {}
    for row in waiting:
        wait = Wait.model_validate(row.wait)
        if not counts(wait, row.agent_id, message["sender"]["id"], message["replyTo"], message["mentions"], tx.now):
            continue
        best = newest.get(row.agent_id)
        if best is None or (wait.started_at, row.run_id) > (best[1].started_at, best[0].run_id):
            newest[row.agent_id] = row, wait
    found = {agent: _answer(tx, message, row, wait) for agent, (row, wait) in newest.items()}
    return {agent: taken for agent, taken in found.items() if taken is not None}


def counts(
    wait: Wait, agent_id: str, sender_id: str, reply_to: str | None, mentions: Collection[str], now: int
) -> bool:
    """True if a message answers this agent's wait. A reply answers its question. Any other message answers if it does
    not mention only other members and the question is recent (W6). With `from`, only those members can answer (W2)."""
    if wait.from_ is not None and sender_id not in wait.from_:
        return False
    if reply_to:
        return reply_to == wait.message_id
    addressed = not mentions or agent_id in mentions
    return addressed and wait.started_at > iso(now - _REPLIES_ONLY_AFTER_MILLIS)


def _answer(tx: Tx, message: MessageJson, row: sa.Row[Any], wait: Wait) -> Taken | None:
    """None if the wait has ended meanwhile, or if the member has answered before: then the message triggers as
    usual."""
    depth = max(row.chain_depth, message["chainDepth"])
    if wait.n is None:
        ended = end_reply_wait(tx, row.run_id, wait, depth, replied(message))
        return Taken(row.run_id, "taken") if ended else None
    if tx.execute(_HOLD_OPEN, {"run": row.run_id}).rowcount == 0:
        return None
    answer = {"entity_id": message["sender"]["id"], "message_id": message["id"]}
    if tx.execute(_INSERT[tx.dialect], {"run_id": row.run_id, "wait_n": wait.n, **answer}).rowcount == 0:
        return None
    answers, deepest = load_answers(tx, row.run_id, wait)
    if len(answers) < wait.needed:
        tell_wait(tx, row.run_id, row.agent_id, wait, answers)
        return Taken(row.run_id, "collected")
    end_reply_wait(tx, row.run_id, wait, max(depth, deepest), replied(message, answers))
    return Taken(row.run_id, "taken")


def strike_member(tx: Tx, space_id: str, entity_id: str) -> None:
    """Hook for a member who leaves or becomes a viewer. Waits that name this member complete, end or go on without it
    (W9). An answer that it gave before still counts."""
    for run in tx.all(_WAITING, {"space": space_id}):
        wait = Wait.model_validate(run.wait)
        if wait.from_ is not None and entity_id in wait.from_ and tx.execute(_HOLD_OPEN, {"run": run.id}).rowcount:
            _strike(tx, run, wait, entity_id)


def _strike(tx: Tx, run: sa.Row[Any], wait: Wait, entity_id: str) -> None:
    answers, depth = load_answers(tx, run.id, wait)
    heard = {answer.entity_id for answer in answers}
    if entity_id in heard:
        return
    rest = wait.without(entity_id)
    if answers and len(answers) >= rest.needed:
        last = answers[-1]
        outcome = Outcome(
            status="replied",
            at=iso(tx.now),
            message_id=last.message_id,
            sender_id=last.entity_id,
            sender_name=last.name,
            answers=answers,
        )
        end_reply_wait(tx, run.id, rest, max(run.chain_depth, depth), outcome)
    elif len(rest.from_ or ()) < max(rest.needed, 1):
        names = dict(zip(wait.from_ or (), wait.from_names or (), strict=True))
        end_unanswered(tx, run, "left", names[entity_id])
    else:
        tx.execute(_CHANGE, {"run": run.id, "changed": rest.to_json()})
        tell_wait(tx, run.id, run.agent_id, rest, answers)
        return
    tx.outbox.append(WorkAvailable(payload=QUEUED))


def forget_message(tx: Tx, space_id: str, message_id: str) -> None:
    """A deleted answer no longer counts while its wait is open. A deleted question ends its wait (W9)."""
    for run in tx.all(_WAITING, {"space": space_id}):
        wait = Wait.model_validate(run.wait)
        if wait.message_id == message_id:
            if end_unanswered(tx, run, status="withdrawn"):
                tx.outbox.append(WorkAvailable(payload=QUEUED))
        elif wait.n is not None and tx.execute(_FORGET_ANSWER, {"run": run.id, "message": message_id}).rowcount:
            tell_wait(tx, run.id, run.agent_id, wait, load_answers(tx, run.id, wait)[0])


def tell_wait(tx: Tx, run_id: str, agent_id: str, wait: Wait, answers: Sequence[Answer] = ()) -> None:
    """The event `wait.updated` (W10). Call it under the space's lock."""
    log.record_for_space(tx, wait.space_id, "wait.updated", wait_event(run_id, agent_id, wait, answers))


def wait_event(
    run_id: str, agent_id: str, wait: Wait, answers: Sequence[Answer] = (), is_open: bool = True
) -> dict[str, Any]:
    return {
        "spaceId": wait.space_id,
        "id": wait_id(run_id, wait),
        "runId": run_id,
        "agentId": agent_id,
        "messageId": wait.message_id,
        "open": is_open and wait.outcome is None,
        "need": wait.needed,
        "answered": [{"entityId": answer.entity_id, "messageId": answer.message_id} for answer in answers],
    }


def wait_id(run_id: str, wait: Wait) -> str:
    """A run waits for one thing at a time, but may ask several questions one after another."""
    return f"{run_id}.{wait.message_id}"
