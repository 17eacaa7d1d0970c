"""Turns of an orchestrated space (R8). The deliveries whose event is the turn say which agents are in it."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.store.tables.columns import index_where, key, metadata, moment

turns = sa.Table(
    "turns",
    metadata,
    key("id", primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    # The message that started the work, and the one that this turn is about.
    key("request_id", nullable=False),
    key("message_id", nullable=False),
    # The orchestrator's run that routed it.
    key("run_id"),
    sa.Column("phase", sa.String(64)),
    sa.Column("reason", sa.Text),
    # The depth of the runs it triggers.
    sa.Column("chain_depth", sa.Integer, nullable=False),
    moment("created_at", nullable=False),
    moment("finished_at"),
)
sa.Index("ix_turns_request_id", turns.c.request_id, turns.c.id)
index_where("ix_turns_open", turns.c.space_id, turns.c.id, where=turns.c.finished_at.is_(None))
