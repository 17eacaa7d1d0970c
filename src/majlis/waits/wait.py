"""A wait: what a paused run waits for, and how that ends.

A wait is a row, not a task: no memory and no connection is held (M4). The first of answer, timeout and cancel wins by
one conditional update; the others change nothing (M8). The run goes back to `queued`, and any worker may resume it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import runs, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

WaitStatus = Literal["waiting_reply", "waiting_tool"]


def _end(status: WaitStatus) -> sa.Update:
    return (
        runs.update()
        .where(runs.c.id == sa.bindparam("run"), runs.c.status == word(status))
        .values(
            status="queued",
            wait=sa.bindparam("ended", type_=runs.c.wait.type),
            wait_space_id=None,
            deadline=None,
            among_agents=False,
            chain_depth=sa.bindparam("depth", type_=sa.Integer),
        )
    )


_END = {"waiting_reply": _end("waiting_reply"), "waiting_tool": _end("waiting_tool")}
# The waiting call is the last entry of its run's journal: the run paused right after it.
_last = sa.alias(steps)
_WRITE_RESULT = (
    steps.update()
    .where(
        steps.c.run_id == sa.bindparam("run"),
        steps.c.n == sa.select(sa.func.max(_last.c.n)).where(_last.c.run_id == sa.bindparam("run")).scalar_subquery(),
    )
    .values(output=sa.bindparam("result", type_=steps.c.output.type))
)
_DUE = (
    sa.select(runs.c.id, runs.c.status, runs.c.wait, runs.c.chain_depth)
    # Only waiting runs have a deadline, so the index on it finds the due ones without the status.
    .where(runs.c.deadline <= sa.bindparam("now"))
    .order_by(runs.c.deadline)
    .limit(sa.bindparam("limit"))
    .with_for_update(skip_locked=True)
)


class _Stored(BaseModel):
    """Kept as JSON with camelCase keys; fields that are None are left out."""

    # Unknown keys are ignored, so that a newer version's rows can be read.
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")

    def to_json(self) -> dict[str, Any]:
        return self.model_dump(by_alias=True, exclude_none=True)


class Outcome(_Stored):
    """How a wait ended."""

    status: Literal["replied", "timeout", "answered", "withdrawn"]
    at: str
    # The reply, and who sent it. A card's answer has no message.
    message_id: str | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    # `deadlock` for a timeout that came early (M12).
    reason: str | None = None
    # Only for a card (J5).
    tool_name: str | None = None
    purpose: Literal["answer", "permission"] | None = None
    approved: bool | None = None


class Wait(_Stored):
    """The column `runs.wait`. It stays after the wait has ended, with its outcome, until the run waits again."""

    space_id: str
    message_id: str
    started_at: str
    timeout_seconds: int
    # Only for a card: the call that people are asked about.
    tool_call_id: str | None = None
    tool_name: str | None = None
    # Questions of this run that timed out: a late answer to one is still recognised (M8).
    expired: tuple[str, ...] | None = None
    outcome: Outcome | None = None

    @property
    def expired_questions(self) -> tuple[str, ...]:
        """Those of earlier waits, and this one's if it timed out."""
        timed_out = self.outcome is not None and self.outcome.status == "timeout"
        return (*(self.expired or ()), *((self.message_id,) if timed_out else ()))

    @property
    def approved_call(self) -> str | None:
        """The call that a person has permitted, to be made when the run resumes."""
        return self.tool_call_id if self.outcome is not None and self.outcome.approved else None


def parse_wait(stored: Any) -> Wait | None:
    return None if stored is None else Wait.model_validate(stored)


def pause_columns(wait: Wait, status: WaitStatus, now: int, among_agents: bool) -> dict[str, Any]:
    """The columns of a waiting run."""
    return {
        "status": status,
        "wait": wait.to_json(),
        "wait_space_id": wait.space_id,
        "wait_message_id": wait.message_id,
        # A card has a deadline of its own.
        "deadline": now + wait.timeout_seconds * 1000 if status == "waiting_reply" else None,
        "among_agents": among_agents,
        "lease_owner": None,
    }


def resume_answered(tx: Tx, message: MessageJson, waiting: Sequence[sa.Row[Any]]) -> dict[str, str]:
    """Agent → the run of that agent which this message resumes. An explicit reply resumes only runs that wait on the
    message it answers; any other message answers each agent's newest wait (M5–M7)."""
    answered: dict[str, sa.Row[Any]] = {}
    for row in waiting:
        if message["replyTo"] and row.wait_message_id != message["replyTo"]:
            continue
        best = answered.get(row.agent_id)
        if best is None or (row.wait["startedAt"], row.run_id) > (best.wait["startedAt"], best.run_id):
            answered[row.agent_id] = row
    if not answered:
        return {}
    sender = message["sender"]
    outcome = Outcome(
        status="replied",
        at=message["createdAt"],
        message_id=message["id"],
        sender_id=sender["id"],
        sender_name=sender["name"],
    )
    return {
        agent: row.run_id
        for agent, row in answered.items()
        if end_reply_wait(tx, row.run_id, row.wait, max(row.chain_depth, message["chainDepth"]), outcome)
    }


def end_reply_wait(tx: Tx, run_id: str, stored: Any, depth: int, outcome: Outcome) -> bool:
    """True if this ended it. The journal then says how: the waiting call's result is `replied` or `timeout`."""
    wait = Wait.model_validate(stored)
    if not end_wait(tx, run_id, "waiting_reply", wait, depth, outcome):
        return False
    tx.execute(_WRITE_RESULT, {"run": run_id, "result": _result(wait.message_id, outcome)})
    return True


def end_wait(tx: Tx, run_id: str, status: WaitStatus, wait: Wait, depth: int, outcome: Outcome) -> bool:
    ended = wait.model_copy(update={"outcome": outcome}).to_json()
    return tx.execute(_END[status], {"run": run_id, "ended": ended, "depth": depth}).rowcount == 1


def _result(question: str, outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"success": True, "messageId": question, "status": outcome.status}
    if outcome.status == "replied":
        names = {"messageId": outcome.message_id, "senderId": outcome.sender_id, "senderName": outcome.sender_name}
        return {**result, "reply": names}
    return {**result, "reason": outcome.reason} if outcome.reason is not None else result


def time_out(tx: Tx, limit: int = 200) -> int:
    """Ends the waits whose deadline has passed (M9)."""
    due = [run for run in tx.all(_DUE, {"now": tx.now, "limit": limit}) if run.status == "waiting_reply"]
    outcome = Outcome(status="timeout", at=iso(tx.now))
    for run in due:
        end_reply_wait(tx, run.id, run.wait, run.chain_depth, outcome)
    if due:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return len(due)
