"""Summaries of blocks of 25 messages (F3): their rows, which a deletion or an edit of a message drops."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.clock import iso
from majlis.entities.caller import Caller
from majlis.spaces.access import access_space
from majlis.store.tables import messages, summaries
from majlis.store.transactions import Tx

BLOCK = 25
_OF_SPACE = summaries.c.space_id == sa.bindparam("space")
_FIRST_MESSAGE = (
    sa.select(messages.c.id)
    .where(messages.c.space_id == summaries.c.space_id, messages.c.seq == summaries.c.block * BLOCK + 1)
    .scalar_subquery()
)
_PAGE = (
    sa.select(summaries, _FIRST_MESSAGE.label("first_message_id"))
    .where(_OF_SPACE, summaries.c.text.is_not(None), summaries.c.block < sa.bindparam("before", type_=sa.BigInteger))
    .order_by(summaries.c.block.desc())
    .limit(sa.bindparam("limit"))
)
_BEFORE_ALL = 2**53


class SummaryJson(TypedDict):
    """The summary of the messages with the numbers `firstSeq` to `lastSeq`."""

    firstSeq: int
    lastSeq: int
    firstMessageId: str | None
    text: str
    model: str
    createdAt: str


class SummariesJson(TypedDict):
    """Oldest first."""

    summaries: list[SummaryJson]
    hasMore: bool


def block_of(seq: int) -> int:
    return (seq - 1) // BLOCK


def list_summaries(tx: Tx, caller: Caller, space_id: str, limit: int, before: int | None) -> SummariesJson:
    access_space(tx, caller, space_id)
    until = block_of(before) if before is not None else _BEFORE_ALL
    rows = tx.all(_PAGE, {"space": space_id, "before": until, "limit": limit + 1})
    return {"summaries": [_json(row) for row in reversed(rows[:limit])], "hasMore": len(rows) > limit}


def drop_summary(tx: Tx, message: sa.Row[Any]) -> None:
    """Drops the summary of the block of a message that is deleted or edited. The caller holds the space's lock, so a
    summary that is being made from the old text finds its row gone."""
    which = summaries.c.space_id == message.space_id, summaries.c.block == block_of(message.seq)
    tx.execute(summaries.delete().where(*which))


def drop_summaries(tx: Tx, space_id: str) -> None:
    tx.execute(summaries.delete().where(summaries.c.space_id == space_id))


def _json(row: sa.Row[Any]) -> SummaryJson:
    first = row.block * BLOCK + 1
    return {
        "firstSeq": first,
        "lastSeq": first + BLOCK - 1,
        "firstMessageId": row.first_message_id,
        "text": row.text,
        "model": row.model,
        "createdAt": iso(row.created_at),
    }
