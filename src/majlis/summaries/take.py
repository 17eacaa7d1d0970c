"""Which summaries are made, each by one node (F3).

A node takes a block of messages by a row with a lease. It reads the messages in a later transaction. A deletion or an
edit of one of them deletes the row while it holds the space's lock, as taking it does: so a text that is gone is either
not read, or its summary is not stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from majlis.minds.timeline.load import read_window
from majlis.minds.timeline.scene import Message
from majlis.models.port import Usage
from majlis.runs.budget.check import Budgets, Keys, charge, check_budgets
from majlis.spaces.access import lock_spaces
from majlis.spaces.summaries import BLOCK
from majlis.store import ids
from majlis.store.tables import spaces, summaries, summary_requests
from majlis.store.transactions import Tx

SUMMARY_LEASE_MILLIS = 180_000
_FIRST_RETRY_MILLIS = 600_000
_MAX_RETRY_MILLIS = 24 * 3_600_000
_SPACE = sa.select(spaces.c.head_seq, spaces.c.summaries, spaces.c.deleted_at).where(
    spaces.c.id == sa.bindparam("space")
)
_ROW = sa.select(summaries).where(
    summaries.c.space_id == sa.bindparam("space"), summaries.c.block == sa.bindparam("block")
)
_LEASED = sa.and_(
    summaries.c.space_id == sa.bindparam("of_space"),
    summaries.c.block == sa.bindparam("of_block"),
    summaries.c.lease == sa.bindparam("by"),
)


@dataclass(frozen=True, slots=True)
class Leased:
    space_id: str
    block: int
    lease: str

    @property
    def row(self) -> dict[str, Any]:
        return {"of_space": self.space_id, "of_block": self.block, "by": self.lease}

    @property
    def keys(self) -> Keys:
        return {"gateway": "", "space": self.space_id}


@dataclass(frozen=True, slots=True)
class Made:
    """`usage` and `cost` are of the request, `text` is None if it failed."""

    model: str
    text: str | None
    usage: Usage
    cost: float | None


def take(tx: Tx, space_id: str, block: int, budgets: Budgets) -> Leased | None:
    """None if there is nothing to do: it exists, another node makes it, it has failed lately, or a budget is spent."""
    lock_spaces(tx, [space_id])
    space = tx.one(_SPACE, {"space": space_id})
    if space is None or space.deleted_at is not None or not space.summaries or space.head_seq < (block + 1) * BLOCK:
        return None
    row = tx.one(_ROW, {"space": space_id, "block": block})
    if row is not None and (row.text is not None or row.lease_until > tx.now):
        return None
    leased = Leased(space_id, block, ids.new("sum"))
    if budgets.apply and check_budgets(tx, leased.keys, budgets.today(), budgets.usd_per_day).spent is not None:
        return None
    values = {"lease": leased.lease, "lease_until": tx.now + SUMMARY_LEASE_MILLIS}
    if row is None:
        tx.execute(summaries.insert(), {"space_id": space_id, "block": block, **values})
    else:
        which = summaries.c.space_id == space_id, summaries.c.block == block
        tx.execute(summaries.update().where(*which).values(**values))
    return leased


def read_block(tx: Tx, leased: Leased) -> Sequence[Message]:
    """The messages of the block, without damaged ones (R9)."""
    first = leased.block * BLOCK + 1
    return read_window(tx, leased.space_id, first, first + BLOCK - 1)[0]


def keep(tx: Tx, leased: Leased, made: Made, budgets: Budgets) -> bool:
    """Stores the summary and what it cost. False if it is not wanted any more: a message of it was changed meanwhile,
    or the space has turned summaries off."""
    lock_spaces(tx, [leased.space_id])
    space = tx.execute(_SPACE, {"space": leased.space_id}).one()
    if made.text is None:
        kept = False
        _put_off(tx, leased)
    else:
        values = {"text": made.text, "at_seq": space.head_seq, "model": made.model, "created_at": tx.now}
        values |= {"lease": None, "lease_until": None}
        kept = bool(tx.execute(summaries.update().where(_LEASED).values(**values), leased.row).rowcount)
    if kept:
        last = (leased.block + 1) * BLOCK
        older = spaces.c.id == leased.space_id, spaces.c.summarised_seq < last
        tx.execute(spaces.update().where(*older).values(summarised_seq=last))
    _charge(tx, leased, made, budgets)
    return kept


def let_go(tx: Tx, leased: Leased) -> None:
    """Nothing was asked: there is nothing to summarise, or the server stops."""
    tx.execute(summaries.update().where(_LEASED).values(lease=None, lease_until=tx.now), leased.row)


def _put_off(tx: Tx, leased: Leased) -> None:
    row = tx.one(sa.select(summaries.c.attempts).where(_LEASED), leased.row)
    if row is not None:
        pause = min(_MAX_RETRY_MILLIS, _FIRST_RETRY_MILLIS << min(row.attempts, 10))
        values = {"lease": None, "lease_until": tx.now + pause, "attempts": row.attempts + 1}
        tx.execute(summaries.update().where(_LEASED).values(**values), leased.row)


def _charge(tx: Tx, leased: Leased, made: Made, budgets: Budgets) -> None:
    used = made.usage
    if used == Usage():
        return
    values = {
        "space_id": leased.space_id,
        "model": made.model,
        "input_tokens": used.input,
        "cached_tokens": used.cached,
        "output_tokens": used.output,
        "cost": made.cost,
        "created_at": tx.now,
    }
    tx.execute(summary_requests.insert(), values)
    if budgets.apply:
        scopes = check_budgets(tx, leased.keys, budgets.today(), budgets.usd_per_day).scopes
        charge(tx, budgets.charges(leased.keys, scopes, made.cost or 0.0, used.input + used.output))
