"""Questions that programs put to a space, and the answers (D5)."""

import sqlalchemy as sa

from majlis.card_kinds import ASK_KINDS
from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

asks = sa.Table(
    "asks",
    metadata,
    key("id", primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    key("message_id", nullable=False, unique=True),
    key("asker_id", sa.ForeignKey("entities.id"), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    # Empty after the question was deleted.
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("result_schema", Json, nullable=False),
    # The ids of the members who can answer; null for any member. Members who leave are removed from it.
    sa.Column("named", Json),
    # How many members have to answer; null for all that are named.
    sa.Column("need", sa.Integer),
    sa.Column("state", sa.String(16), nullable=False, server_default="open"),
    # Why it expired: `timeout`, `left`, `withdrawn` or `deleted`.
    sa.Column("reason", sa.String(16)),
    moment("deadline", nullable=False),
    moment("created_at", nullable=False),
    moment("ended_at"),
    one_of("kind", *ASK_KINDS),
    one_of("state", "open", "answered", "expired"),
    sa.CheckConstraint("need IS NOT NULL OR named IS NOT NULL", name="need"),
)
# As text: SQLite uses a partial index only if the query's condition reads like the index's.
_OPEN = sa.text("state = 'open'")
index_where("ix_asks_deadline", asks.c.deadline, where=_OPEN)
index_where("ix_asks_open", asks.c.space_id, asks.c.id, where=_OPEN)
index_where("ix_asks_asker", asks.c.asker_id, where=_OPEN)

# The first valid answer of each member.
ask_answers = sa.Table(
    "ask_answers",
    metadata,
    key("ask_id", sa.ForeignKey("asks.id"), primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False, index=True),
    # Null after the message with the answer was deleted.
    sa.Column("result", Json),
    # The reply that answered. Null if the answer was submitted as a value.
    key("message_id"),
    # Given after the end; it does not count.
    sa.Column("late", sa.Boolean, nullable=False),
    moment("created_at", nullable=False),
)
index_where("ix_ask_answers_message_id", ask_answers.c.message_id, where=ask_answers.c.message_id.is_not(None))
