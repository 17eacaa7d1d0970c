"""Cards: questions of tools to the people in a space (J5), and calls that need approval."""

import sqlalchemy as sa

from majlis.card_kinds import CARD_KINDS
from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

cards = sa.Table(
    "cards",
    metadata,
    key("id", primary_key=True),
    key("run_id", sa.ForeignKey("runs.id"), nullable=False),
    # The model's id of the call, made unique within the run.
    sa.Column("call_id", sa.String(160), nullable=False),
    # The call's step in the journal.
    sa.Column("step", sa.Integer, nullable=False),
    key("agent_id", sa.ForeignKey("agents.id"), nullable=False),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    key("message_id", nullable=False),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("ui", sa.String(16), nullable=False),
    sa.Column("purpose", sa.String(16), nullable=False),
    sa.Column("result_schema", Json, nullable=False),
    # For approvals: a digest of the call's input.
    sa.Column("input_digest", sa.String(64)),
    # For approvals: the rules that say who may approve, and whether the admins of the gateway are asked.
    sa.Column("approvals", Json),
    sa.Column("to_admins", sa.Boolean, nullable=False, server_default=sa.false()),
    # True if the run waits for the answer. Otherwise the answer is an event for a consciousness, unless an MCP server
    # asked: then the worker holds the call and looks for the answer.
    sa.Column("paused", sa.Boolean, nullable=False),
    # For questions of MCP servers: what its call needs to go on. Never shown.
    sa.Column("elicitation", Json),
    sa.Column("chain_depth", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False, server_default="open"),
    moment("deadline", nullable=False),
    sa.Column("answer", Json),
    key("answered_by", sa.ForeignKey("entities.id")),
    moment("answered_at"),
    # For approvals: when the approved call began. It can be used once.
    moment("used_at"),
    moment("created_at", nullable=False),
    sa.UniqueConstraint("run_id", "call_id"),
    one_of("ui", *CARD_KINDS),
    one_of("purpose", "answer", "permission"),
    one_of("state", "open", "answered", "timeout", "withdrawn"),
)
# As text: SQLite uses a partial index only if the query's condition reads like the index's.
_OPEN = sa.text("state = 'open'")
index_where("ix_cards_deadline", cards.c.deadline, where=_OPEN)
index_where("ix_cards_open", cards.c.space_id, cards.c.id, where=_OPEN)
sa.Index("ix_cards_agent_id", cards.c.agent_id, cards.c.state, cards.c.input_digest)
