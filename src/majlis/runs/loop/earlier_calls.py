"""The calls a run has made so far, from its journal: shown to the model when the run resumes (M10, J2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from majlis.minds.timeline.scene import Action
from majlis.store.hot import hot
from majlis.store.tables import messages, runs, spaces, steps
from majlis.store.transactions import Tx

_CALLS = (
    sa.select(
        steps.c.started_at,
        steps.c.name,
        steps.c.input,
        steps.c.output,
        steps.c.state,
        messages.c.id.label("message_id"),
        messages.c.space_id,
        spaces.c.name.label("space_name"),
    )
    .join(runs, runs.c.id == steps.c.run_id)
    .outerjoin(
        messages,
        sa.or_(
            sa.and_(
                steps.c.name.in_(("send_message", "send_files")),
                messages.c.id == steps.c.output["messageId"].as_string(),
            ),
            # A visible tool's message stands for the call, which is then not shown twice.
            sa.and_(
                messages.c.space_id == runs.c.active_space_id,
                messages.c.sender_id == runs.c.agent_id,
                messages.c.client_id == steps.c.run_id + ":" + sa.cast(steps.c.n, sa.String),
            ),
        ),
    )
    .outerjoin(spaces, spaces.c.id == messages.c.space_id)
    .where(steps.c.run_id.in_(sa.bindparam("runs", expanding=True)), steps.c.kind == "tool")
    .order_by(steps.c.started_at, steps.c.run_id, steps.c.n)
)
_LAST = hot(sa.select(sa.func.max(steps.c.n)).where(steps.c.run_id == sa.bindparam("run")))
_UNKNOWN = hot(
    sa.select(steps.c.n, steps.c.call_id, steps.c.name, steps.c.input, steps.c.secret, steps.c.started_at)
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.kind == "tool", steps.c.state == "started")
    .order_by(steps.c.n)
)


def load_actions(tx: Tx, run_ids: Sequence[str]) -> tuple[Action, ...]:
    """The calls of all these runs, oldest first."""
    return tuple(
        Action(
            at=row.started_at,
            name=row.name,
            input=row.input,
            output=row.output,
            state=row.state,
            message_id=row.message_id,
            space_id=row.space_id,
            space_name=row.space_name,
        )
        for row in tx.all(_CALLS, {"runs": list(run_ids)})
    )


def next_step(tx: Tx, run_id: str) -> int:
    last: int | None = tx.execute(_LAST, {"run": run_id}).scalar_one()
    return 0 if last is None else last + 1


def unknown_outcomes(tx: Tx, run_id: str) -> Sequence[sa.Row[Any]]:
    """Calls that were started when the worker died."""
    return tx.all(_UNKNOWN, {"run": run_id})
