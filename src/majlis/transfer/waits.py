"""Runs that wait for people to answer a card, and the card did not come along: it was asked in a space that stayed
where it was, or its line was set aside. No clock ends such a wait, so it ends here."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.clock import iso
from majlis.store.tables import cards, runs, steps
from majlis.store.tables.columns import word
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

_LOST = sa.select(runs.c.id, runs.c.wait).where(
    NOT_OVER,
    runs.c.status == word("waiting_tool"),
    ~sa.exists().where(cards.c.run_id == runs.c.id, cards.c.paused, cards.c.state == word("open")),
)
_LAST_CALL = sa.select(sa.func.max(steps.c.n)).where(steps.c.run_id == sa.bindparam("run"), steps.c.kind == "tool")


def free_waits(tx: Tx) -> None:
    """As if the cards had been withdrawn: each run goes on, and its model is told."""
    for run in tx.all(_LOST):
        wait = run.wait or {}
        outcome = {"status": "withdrawn", "at": iso(tx.now), "toolName": wait.get("toolName", "")}
        changes = {"status": "queued", "wait": {**wait, "outcome": outcome}, "wait_space_id": None}
        tx.execute(runs.update().where(runs.c.id == run.id, runs.c.status == "waiting_tool").values(changes))
        _tell(tx, run.id, wait.get("toolName", "The call"))


def _tell(tx: Tx, run_id: str, name: Any) -> None:
    """The call that a run pauses with is its last."""
    last = tx.execute(_LAST_CALL, {"run": run_id}).scalar_one()
    error = f"{name} was withdrawn before anybody answered: this gateway was moved without the question."
    output = {"success": False, "status": "withdrawn", "error": error}
    which = steps.c.run_id == run_id, steps.c.n == last
    tx.execute(steps.update().where(*which).values(state="error", output=output, ended_at=tx.now))
