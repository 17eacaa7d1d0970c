"""A wait: what a paused run waits for, and how that ends.

A wait is a row, not a task: no memory and no connection is held (M4). The first of answer, timeout and cancel wins by
one conditional update; the others change nothing (M8). The run goes back to `queued`, and any worker may resume it.
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from majlis.clock import iso
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.shapes import MessageJson
from majlis.store.tables import entities, messages, runs, steps, wait_answers
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
_ANSWERS = (
    sa.select(wait_answers.c.entity_id, wait_answers.c.message_id, entities.c.name, messages.c.chain_depth)
    .join(entities, entities.c.id == wait_answers.c.entity_id)
    .join(messages, messages.c.id == wait_answers.c.message_id)
    .where(wait_answers.c.run_id == sa.bindparam("run"), wait_answers.c.wait_n == sa.bindparam("n"))
    .order_by(messages.c.seq)
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


class Answer(_Stored):
    """One of the answers that a wait has collected (W4)."""

    entity_id: str
    name: str
    message_id: str


class Outcome(_Stored):
    """How a wait ended."""

    status: Literal["replied", "timeout", "answered", "withdrawn"]
    at: str
    # The reply, and who sent it. A card's answer has no message.
    message_id: str | None = None
    sender_id: str | None = None
    sender_name: str | None = None
    # Why a timeout came early: `deadlock` (M12), or `left` if a named member has left the space (W9).
    reason: str | None = None
    # Only for a wait that names members or needs several answers: what it collected, and the names that are missing.
    answers: tuple[Answer, ...] | None = None
    missing: tuple[str, ...] | None = None
    # The name of the member who left.
    left: str | None = None
    # Only for a card (J5).
    tool_name: str | None = None
    purpose: Literal["answer", "permission"] | None = None
    approved: bool | None = None
    # The card was a question of an MCP server: its call goes on with the answer, or is told that there is none (D6).
    continues: bool | None = None


class Wait(_Stored):
    """The column `runs.wait`. It stays after the wait has ended, with its outcome, until the run waits again."""

    space_id: str
    message_id: str
    started_at: str
    timeout_seconds: int
    # The members who can answer, if it names them, and how many have to (W1). Without them any one answer will do.
    from_: tuple[str, ...] | None = Field(default=None, alias="from")
    from_names: tuple[str, ...] | None = None
    need: int | Literal["all"] | None = None
    # Which of the run's waits this is; only if it collects answers.
    n: int | None = None
    # Only for a card: the call that people are asked about.
    tool_call_id: str | None = None
    tool_name: str | None = None
    # Questions of this run that timed out: a late answer to one is still recognised (M8).
    expired: tuple[str, ...] | None = None
    outcome: Outcome | None = None
    # The span in which it ended (D7).
    trace: str | None = None

    @property
    def needed(self) -> int:
        return len(self.from_ or ()) if self.need == "all" else self.need or 1

    @property
    def is_plain(self) -> bool:
        """Any one answer ends it."""
        return self.from_ is None and self.needed == 1

    @property
    def expired_questions(self) -> tuple[str, ...]:
        """The questions of earlier waits, and this one's if it timed out."""
        timed_out = self.outcome is not None and self.outcome.status == "timeout"
        return (*(self.expired or ()), *((self.message_id,) if timed_out else ()))

    @property
    def call_to_make(self) -> str | None:
        """The call to make when the run resumes: a person has permitted it, or its server has asked people."""
        due = self.outcome is not None and (self.outcome.approved or self.outcome.continues)
        return self.tool_call_id if due else None

    def without(self, entity_id: str) -> Wait:
        """A named member can no longer answer (W9)."""
        left = [pair for pair in zip(self.from_ or (), self.from_names or (), strict=True) if pair[0] != entity_id]
        changes = {"from_": tuple(each for each, _ in left), "from_names": tuple(name for _, name in left)}
        return self.model_copy(update=changes)


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


def replied(message: MessageJson, answers: tuple[Answer, ...] | None = None) -> Outcome:
    sender = message["sender"]
    return Outcome(
        status="replied",
        at=message["createdAt"],
        message_id=message["id"],
        sender_id=sender["id"],
        sender_name=sender["name"],
        answers=answers,
    )


def end_reply_wait(tx: Tx, run_id: str, wait: Wait, depth: int, outcome: Outcome) -> bool:
    """True if this ended it. The journal then says how: the waiting call's result is `replied` or `timeout`."""
    if not end_wait(tx, run_id, "waiting_reply", wait, depth, outcome):
        return False
    tx.execute(_WRITE_RESULT, {"run": run_id, "result": _result(wait, outcome)})
    return True


def end_unanswered(
    tx: Tx,
    run: Any,
    reason: str | None = None,
    left: str | None = None,
    status: Literal["timeout", "withdrawn"] = "timeout",
) -> bool:
    """Ends a wait without the answers that it needs, with those it has. `run` has `id`, `wait` and `chain_depth`."""
    wait = Wait.model_validate(run.wait)
    if wait.is_plain:
        return end_reply_wait(tx, run.id, wait, run.chain_depth, Outcome(status=status, at=iso(tx.now), reason=reason))
    answers, depth = load_answers(tx, run.id, wait)
    heard = {answer.entity_id for answer in answers}
    named = zip(wait.from_ or (), wait.from_names or (), strict=True)
    outcome = Outcome(
        status=status,
        at=iso(tx.now),
        reason=reason,
        answers=answers,
        missing=tuple(name for entity_id, name in named if entity_id not in heard),
        left=left,
    )
    return end_reply_wait(tx, run.id, wait, max(run.chain_depth, depth), outcome)


def load_answers(tx: Tx, run_id: str, wait: Wait) -> tuple[tuple[Answer, ...], int]:
    """The answers in the order of the messages, and their greatest chain depth."""
    rows = tx.all(_ANSWERS, {"run": run_id, "n": wait.n}) if wait.n is not None else ()
    found = tuple(Answer(entity_id=row.entity_id, name=row.name, message_id=row.message_id) for row in rows)
    return found, max((row.chain_depth for row in rows), default=0)


def end_wait(tx: Tx, run_id: str, status: WaitStatus, wait: Wait, depth: int, outcome: Outcome) -> bool:
    ended = wait.model_copy(update={"outcome": outcome, "trace": tx.trace}).to_json()
    return tx.execute(_END[status], {"run": run_id, "ended": ended, "depth": depth}).rowcount == 1


def _result(wait: Wait, outcome: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"success": True, "messageId": wait.message_id, "status": outcome.status}
    if outcome.status == "replied":
        names = {"messageId": outcome.message_id, "senderId": outcome.sender_id, "senderName": outcome.sender_name}
        result["reply"] = names
    if outcome.reason is not None:
        result["reason"] = outcome.reason
    if outcome.answers is not None:
        result |= {"answers": [answer.to_json() for answer in outcome.answers], "need": wait.needed}
    return {**result, "missing": list(outcome.missing)} if outcome.missing else result


def time_out(tx: Tx, limit: int = 200) -> int:
    """Ends the waits whose deadline has passed (M9, W5)."""
    due = [run for run in tx.all(_DUE, {"now": tx.now, "limit": limit}) if run.status == "waiting_reply"]
    for run in due:
        end_unanswered(tx, run)
    if due:
        tx.outbox.append(WorkAvailable(payload=QUEUED))
    return len(due)
