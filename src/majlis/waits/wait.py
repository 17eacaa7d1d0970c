"""How waits end: by an answer, by time, or because a ring of agents waits for itself.

A wait is a row. The first of answer, time-out and cancel wins by one conditional update; the losers change nothing
(M8). The run goes back to `queued`, so that any worker may take it up again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import runs, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_END = (
    runs.update()
    .where(runs.c.id == sa.bindparam("run"), runs.c.status == word("waiting_reply"))
    .values(
        status="queued",
        wait=sa.bindparam("ended", type_=runs.c.wait.type),
        wait_space_id=None,
        deadline=None,
        among_agents=False,
        chain_depth=sa.bindparam("depth", type_=sa.Integer),
    )
)
# The call that waits is the last line of its run's journal: the run has paused right behind it.
_last = sa.alias(steps)
_WRITE_DOWN = (
    steps.update()
    .where(
        steps.c.run_id == sa.bindparam("run"),
        steps.c.n == sa.select(sa.func.max(_last.c.n)).where(_last.c.run_id == sa.bindparam("run")).scalar_subquery(),
    )
    .values(output=sa.bindparam("result", type_=steps.c.output.type))
)
_DUE = (
    sa.select(runs.c.id, runs.c.status, runs.c.wait, runs.c.chain_depth)
    # By the deadline alone: only a run that waits has one, and the index on it finds those that are due.
    .where(runs.c.deadline <= sa.bindparam("now"))
    .order_by(runs.c.deadline)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)


class Outcome(TypedDict, total=False):
    status: Literal["replied", "timeout", "answered", "withdrawn"]
    at: str
    # replied
    messageId: str
    senderId: str
    senderName: str
    # timeout: `deadlock` when it ended before its time (M12)
    reason: str
    # of a tool's card (J5, see `closing_cards`)
    toolName: str
    purpose: str
    approved: bool


def resume_answered(tx: Tx, message: MessageJson, waiting: Sequence[sa.Row[Any]]) -> dict[str, str]:
    """Agent → the run of it that this message resumes. An explicit reply resumes only those that wait on the
    message it answers; anything else answers, of each agent, the wait that began last (M5–M7)."""
    answered: dict[str, sa.Row[Any]] = {}
    for row in waiting:
        if row.run_id is None or (message["replyTo"] and row.wait_message_id != message["replyTo"]):
            continue
        best = answered.get(row.agent_id)
        if best is None or (row.wait["startedAt"], row.run_id) > (best.wait["startedAt"], best.run_id):
            answered[row.agent_id] = row
    outcome: Outcome = {
        "status": "replied",
        "at": message["createdAt"],
        "messageId": message["id"],
        "senderId": message["sender"]["id"],
        "senderName": message["sender"]["name"],
    }
    return {
        agent: row.run_id
        for agent, row in answered.items()
        if end_wait(tx, row.run_id, row.wait, max(row.chain_depth, message["chainDepth"]), outcome)
    }


def end_wait(tx: Tx, run_id: str, wait: dict[str, Any], depth: int, outcome: Outcome) -> bool:
    """Whether it was this that ended it. The journal then says how: its last call came to `replied` or `timeout`."""
    ended = {**wait, "outcome": outcome}
    if tx.execute(_END, {"run": run_id, "ended": ended, "depth": depth}).rowcount == 0:
        return False
    tx.execute(_WRITE_DOWN, {"run": run_id, "result": _result(wait["messageId"], outcome)})
    return True


def _result(question: str, outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"success": True, "messageId": question, "status": outcome["status"]}
    if outcome["status"] == "replied":
        reply = {name: outcome[name] for name in ("messageId", "senderId", "senderName")}
        return {**result, "reply": reply}
    return {**result, "reason": outcome["reason"]} if "reason" in outcome else result


def time_out(tx: Tx, limit: int = 200) -> int:
    """Ends the waits whose time is over (M9)."""
    due = [run for run in tx.all(_DUE, {"now": tx.now, "limit": limit}) if run.status == "waiting_reply"]
    for run in due:
        end_wait(tx, run.id, run.wait, run.chain_depth, {"status": "timeout", "at": iso(tx.now)})
    if due:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return len(due)


def expired_questions(wait: dict[str, Any] | None) -> list[str]:
    """Messages of a run that nobody answered in time: those of earlier waits, and of the last one."""
    if wait is None:
        return []
    timed_out = wait.get("outcome", {}).get("status") == "timeout"
    return [*wait.get("expired", ()), *([wait["messageId"]] if timed_out else [])]
