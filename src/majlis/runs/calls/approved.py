"""Makes a call that a person has approved, once, when the run resumes. A call whose server has asked people something
is made in the same way after their answer (`elicit.py`).

The approval is used up in the transaction that journals the call as started, in which a built-in tool also acts. If the
worker dies before, the next one makes the call; if it dies after, the call's outcome is unknown and J2 applies.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.cards.ask import use_permission
from majlis.runs.calls.commit import Started, context_of, write_effects
from majlis.runs.calls.context import CallContext
from majlis.runs.calls.permission import judge, place_of
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.calls.visible import show_started
from majlis.runs.journal import Entry, Fenced, finish_entry, update_fenced
from majlis.runs.run import Run
from majlis.store.tables import cards, steps
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

_APPROVED = (
    sa.select(
        cards.c.id.label("card_id"), steps.c.n, steps.c.call_id, steps.c.name,
        steps.c.input, steps.c.secret, steps.c.started_at,
        cards.c.elicitation, cards.c.result_schema, cards.c.state, cards.c.answer, cards.c.deadline, cards.c.created_at,
    )
    .join(steps, sa.and_(steps.c.run_id == cards.c.run_id, steps.c.n == cards.c.step))
    .where(
        cards.c.run_id == sa.bindparam("run"),
        cards.c.call_id == sa.bindparam("call"),
        sa.or_(
            sa.and_(cards.c.purpose == word("permission"), cards.c.state == word("answered")),
            sa.and_(cards.c.elicitation.is_not(None), cards.c.state != word("open")),
        ),
        cards.c.used_at.is_(None),
    )
)  # fmt: skip
_START = (
    steps.update()
    .where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"), steps.c.state == word("done"))
    .values(state="started", output=sa.null(), ended_at=None)
)


def find_approved(tx: Tx, run_id: str, call_id: str) -> sa.Row[Any] | None:
    """None if it was started already."""
    return tx.one(_APPROVED, {"run": run_id, "call": call_id})


def start_approved(tx: Tx, run: Run, tool: Outside, entry: Entry, card_id: str) -> Started:
    """Raises Forbidden if a policy now denies the call."""
    place = place_of(tx, run.active_space_id)
    judge(run.config, place, tool.name)
    copy = run.copy()
    if tool.visible:
        show_started(tx, copy, entry)
    _use(tx, run, entry, card_id)
    update_fenced(tx, run.id, run.fence, **copy.columns())
    return Started(place.name, copy)


def commit_approved(
    tx: Tx, run: Run, tool: InTransaction, input: Any, entry: Entry, card_id: str
) -> tuple[CallContext, dict[str, Any]]:
    """Makes a call that people have approved: its effect, and the end of the approval, in one transaction. Raises
    Forbidden if a policy denies the call by now."""
    judge(run.config, place_of(tx, run.active_space_id), tool.name)
    context = context_of(run, entry, None)
    context.permitted = context.approved = True
    result = tool.call(tx, context, input)
    entry.state, entry.output = "done", result
    _use(tx, run, entry, card_id)
    finish_entry(tx, run.id, entry)
    write_effects(tx, run, context, [], ())
    return context, result


def give_up_approved(tx: Tx, run: Run, entry: Entry, card_id: str) -> None:
    """The call can no longer be made: the tool is gone, or its input is no longer valid."""
    values = {"state": "error", "output": entry.output, "ended_at": tx.now, "secret": sa.null()}
    tx.execute(steps.update().where(steps.c.run_id == run.id, steps.c.n == entry.n).values(values))
    if not use_permission(tx, card_id):
        raise Fenced
    update_fenced(tx, run.id, run.fence, **run.columns())


def _use(tx: Tx, run: Run, entry: Entry, card_id: str) -> None:
    if not use_permission(tx, card_id) or tx.execute(_START, {"run": run.id, "step": entry.n}).rowcount == 0:
        raise Fenced
