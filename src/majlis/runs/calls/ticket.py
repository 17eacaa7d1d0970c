"""Held runs of one cause in one space decide again one after another (E8): the one with the ticket does, the others
wait. Deciding together, most of them would cross each other again.

A ticket is free when it has expired, and when its run has posted, has ended, waits, or has left the space. So the death
of its worker delays the others by a few seconds only.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.runs.run import Run
from majlis.store.tables import runs, tickets
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx

TICKET_MILLIS = 20_000
# Of runs that did not give theirs back.
_KEPT_MILLIS = 3_600_000

_PLACE = tickets.c.space_id == sa.bindparam("space"), tickets.c.cause_id == sa.bindparam("cause")
# As text: in ON CONFLICT, SQLAlchemy would read the table again, with the rows of the statement's start.
_at_work = sa.exists().where(
    runs.c.id == sa.literal_column("tickets.run_id", sa.String),
    runs.c.status == word("running"),
    runs.c.active_space_id == sa.literal_column("tickets.space_id", sa.String),
)
_is_free = sa.or_(
    tickets.c.run_id == sa.bindparam("run"), tickets.c.expires_at <= sa.bindparam("now", type_=sa.BigInteger), ~_at_work
)
_TAKEN = sa.select(tickets.c.run_id).where(*_PLACE, ~_is_free)
_GIVE_BACK = tickets.delete().where(tickets.c.run_id == sa.bindparam("run"))
_FORGET = tickets.delete().where(
    tickets.c.space_id == sa.bindparam("space"), tickets.c.expires_at < sa.bindparam("long_ago", type_=sa.BigInteger)
)


def _take(insert: Any) -> Any:
    made = insert(tickets)
    return made.on_conflict_do_update(
        index_elements=["space_id", "cause_id"],
        set_={"run_id": made.excluded.run_id, "expires_at": made.excluded.expires_at},
        where=_is_free,
    )


_TAKE: dict[Dialect, Any] = {"sqlite": _take(sqlite.insert), "postgresql": _take(postgresql.insert)}


def take_ticket(tx: Tx, run: Run, space_id: str) -> bool:
    """False if another run has it."""
    tx.execute(_FORGET, {"space": space_id, "long_ago": tx.now - _KEPT_MILLIS})
    row = {"space_id": space_id, "cause_id": _line_of(run), "run_id": run.id, "expires_at": tx.now + TICKET_MILLIS}
    return tx.execute(_TAKE[tx.dialect], {**row, "run": run.id, "now": tx.now}).rowcount == 1


def is_taken(tx: Tx, run: Run, space_id: str) -> bool:
    given = {"space": space_id, "cause": _line_of(run), "run": run.id, "now": tx.now}
    return tx.one(_TAKEN, given) is not None


def give_back(tx: Tx, run: Run) -> None:
    tx.execute(_GIVE_BACK, {"run": run.id})


def _line_of(run: Run) -> str:
    """A run without a cause waits for no other."""
    return run.cause_id or run.id
