"""A call that people have approved: made once, by whoever takes the run up again.

The approval is used in the transaction that journals the call as begun. Before that a dead worker has done nothing and
the next one begins; after it the call's outcome may be unknown, and the rules for that hold (J2).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.cards.ask import use_permission
from majlis.runs.calls.permission import judge, place_of
from majlis.runs.calls.tool_port import Outside
from majlis.runs.calls.transactions import Begun
from majlis.runs.calls.visible import show_begun
from majlis.runs.journal import Entry, Fenced, hold
from majlis.runs.run import Working
from majlis.store.tables import cards, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_APPROVED = (
    sa.select(
        cards.c.id.label("card_id"), steps.c.n, steps.c.call_id, steps.c.name,
        steps.c.input, steps.c.secret, steps.c.started_at,
    )
    .join(steps, sa.and_(steps.c.run_id == cards.c.run_id, steps.c.n == cards.c.step))
    .where(
        cards.c.run_id == sa.bindparam("run"),
        cards.c.call_id == sa.bindparam("call"),
        cards.c.purpose == word("permission"),
        cards.c.state == word("answered"),
        cards.c.used_at.is_(None),
    )
)  # fmt: skip
_BEGIN = (
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"), steps.c.state == word("done"))
    .values(state="started", output=sa.null(), ended_at=None)
)


def approved_call(wait: dict[str, Any] | None) -> str | None:
    """The id of the call that the run's last wait was about, if it was approved. Costs nothing to ask."""
    outcome = (wait or {}).get("outcome") or {}
    return wait["toolCallId"] if wait is not None and outcome.get("approved") else None


def find_approved(tx: Tx, run_id: str, call_id: str) -> sa.Row[Any] | None:
    """Unless it has been begun already."""
    return tx.one(_APPROVED, {"run": run_id, "call": call_id})


def begin_approved(tx: Tx, run: Working, tool: Outside, entry: Entry, card_id: str) -> Begun:
    """What was denied meanwhile is denied."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool.name)
    copy = run.copied()
    if tool.visible:
        show_begun(tx, copy, entry)
    if not use_permission(tx, card_id) or tx.execute(_BEGIN, {"run": run.id, "step": entry.n}).rowcount == 0:
        raise Fenced
    hold(tx, run.id, run.fence, **copy.columns())
    return Begun(place.name, copy)


def give_up_approved(tx: Tx, run: Working, entry: Entry, card_id: str) -> None:
    """It cannot be made any more: the tool is gone, or does not take this input now."""
    values = {"state": "error", "output": entry.output, "ended_at": tx.now, "secret": sa.null()}
    tx.execute(steps.update().where(steps.c.run_id == run.id, steps.c.n == entry.n).values(values))
    if not use_permission(tx, card_id):
        raise Fenced
    hold(tx, run.id, run.fence, **run.columns())
