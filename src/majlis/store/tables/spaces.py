"""Spaces, members, phases and turns."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment, one_of

spaces = sa.Table(
    "spaces",
    metadata,
    key("id", primary_key=True),
    sa.Column("name", sa.String(128), nullable=False),
    sa.Column("description", sa.Text, nullable=False, server_default=""),
    sa.Column("triggers", sa.String(16), nullable=False, server_default="everyone"),
    key("orchestrator_id", sa.ForeignKey("entities.id")),
    sa.Column("phase", sa.String(64)),
    # Which tools agents may use here; null allows all.
    sa.Column("tool_policy", Json),
    # How long agents' messages gather at most (E1); 0 delivers them at once.
    sa.Column("gather_millis", sa.Integer, nullable=False, server_default="12000"),
    # While it is paused, no agent works here (E7).
    moment("paused_at"),
    key("paused_by"),
    # The numbers of the newest message and the newest event. Both are assigned under this row's lock, so they ascend in
    # commit order without gaps.
    sa.Column("head_seq", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("event_seq", sa.BigInteger, nullable=False, server_default="0"),
    moment("event_at", nullable=False),
    moment("created_at", nullable=False),
    moment("deleted_at"),
    # Where chains of agents end here; null for the gateway's limit (E11).
    sa.Column("max_chain_depth", sa.Integer),
    # How many messages are pinned.
    sa.Column("pins", sa.Integer, nullable=False, server_default="0"),
    # True: messages that left the window are summarised (F3). Then the newest one that was.
    sa.Column("summaries", sa.Boolean, nullable=False, server_default=sa.true()),
    sa.Column("summarised_seq", sa.BigInteger, nullable=False, server_default="0"),
    # The ids of the two members of a direct conversation, in order (L8).
    sa.Column("direct_key", sa.String(64)),
    one_of("triggers", "everyone", "mentioned", "orchestrated", "elected"),
    sa.CheckConstraint("triggers <> 'orchestrated' OR orchestrator_id IS NOT NULL", name="orchestrator"),
)
sa.Index("uq_spaces_direct_key", spaces.c.direct_key, unique=True)
index_where("ix_spaces_paused_at", spaces.c.id, where=spaces.c.paused_at.is_not(None))
index_where("ix_spaces_deleted_at", spaces.c.deleted_at, where=spaces.c.deleted_at.is_not(None))

members = sa.Table(
    "members",
    metadata,
    key("space_id", sa.ForeignKey("spaces.id"), primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    sa.Column("role", sa.String(16), nullable=False, server_default="member"),
    # For agents: the newest message that a completed run was shown or wrote.
    sa.Column("processed_seq", sa.BigInteger),
    # The newest message seen. A new member starts at the head and posting moves it, so the messages after it are from
    # others and the unread count is a difference.
    sa.Column("seen_seq", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("session_id", sa.String(256), unique=True),
    moment("joined_at", nullable=False),
    one_of("role", "admin", "member", "viewer"),
    sa.CheckConstraint("seen_seq >= 0", name="seen_seq"),
)
sa.Index("ix_members_entity_id", members.c.entity_id, members.c.space_id)

phases = sa.Table(
    "phases",
    metadata,
    key("id", primary_key=True),
    key("space_id", sa.ForeignKey("spaces.id"), nullable=False),
    sa.Column("from_phase", sa.String(64)),
    sa.Column("to_phase", sa.String(64), nullable=False),
    sa.Column("message", sa.Text),
    sa.Column("summary", sa.Text),
    sa.Column("reason", sa.Text),
    key("entity_id", sa.ForeignKey("entities.id"), nullable=False),
    # The newest message when the phase changed.
    sa.Column("at_seq", sa.BigInteger, nullable=False),
    moment("created_at", nullable=False),
)
sa.Index("ix_phases_space_id_id", phases.c.space_id, phases.c.id)

# Turns of an orchestrated space (R8). The deliveries whose event is the turn say which agents are in it.
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

# The spaces to which a member has added people on a day (days since 1970, UTC).
additions = sa.Table(
    "additions",
    metadata,
    key("entity_id", primary_key=True),
    sa.Column("day", sa.BigInteger, primary_key=True, autoincrement=False),
    key("space_id", primary_key=True),
)
