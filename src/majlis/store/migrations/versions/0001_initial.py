"""The first data model, with full-text search over messages."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

KEY = sa.String(length=64).with_variant(sa.String(length=64, collation="C"), "postgresql")

# An FTS5 index of the messages, kept up to date by triggers.
SQLITE_SEARCH = (
    """CREATE VIRTUAL TABLE messages_fts USING fts5(
        text, content='messages', content_rowid='n', tokenize='unicode61 remove_diacritics 2', prefix='2 3')""",
    """CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages WHEN new.text <> '' BEGIN
        INSERT INTO messages_fts (rowid, text) VALUES (new.n, new.text); END""",
    """CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages WHEN old.text <> '' BEGIN
        INSERT INTO messages_fts (messages_fts, rowid, text) VALUES ('delete', old.n, old.text); END""",
    """CREATE TRIGGER messages_fts_update AFTER UPDATE OF text ON messages WHEN old.text <> new.text BEGIN
        INSERT INTO messages_fts (messages_fts, rowid, text)
            SELECT 'delete', old.n, old.text WHERE old.text <> '';
        INSERT INTO messages_fts (rowid, text) SELECT new.n, new.text WHERE new.text <> ''; END""",
)

# Letters and digits only, so that both databases split a text into the same words.
POSTGRES_SEARCH = (
    """CREATE INDEX ix_messages_words ON messages USING gin
        (to_tsvector('simple'::regconfig, regexp_replace(text, '[^[:alnum:]]+', ' ', 'g')))""",
)


def upgrade() -> None:
    op.create_table(
        "entities",
        sa.Column("id", KEY, nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("name_key", sa.String(length=256), nullable=False),
        sa.Column("role", sa.String(length=16), server_default="member", nullable=False),
        sa.Column("external_id", sa.String(length=256), nullable=True),
        sa.Column("event_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("role IN ('owner', 'admin', 'member')", name=op.f("ck_entities_role")),
        sa.CheckConstraint("type IN ('human', 'agent', 'service')", name=op.f("ck_entities_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entities")),
    )
    op.create_index(
        "uq_entities_external_id",
        "entities",
        ["external_id"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL AND external_id IS NOT NULL"),
        postgresql_where=sa.text("deleted_at IS NULL AND external_id IS NOT NULL"),
    )
    op.create_index(
        "uq_entities_name_key",
        "entities",
        ["name_key"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "events",
        sa.Column("topic", KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "seq", name=op.f("pk_events")),
    )
    op.create_index(op.f("ix_events_at"), "events", ["at"], unique=False)
    op.create_table(
        "gateway",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_gateway")),
    )
    op.create_table(
        "spaces",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("triggers", sa.String(length=16), server_default="everyone", nullable=False),
        sa.Column("orchestrator_id", KEY, nullable=True),
        sa.Column("phase", sa.String(length=64), nullable=True),
        sa.Column("head_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("event_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("event_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "triggers <> 'orchestrated' OR orchestrator_id IS NOT NULL", name=op.f("ck_spaces_orchestrator")
        ),
        sa.CheckConstraint("triggers IN ('everyone', 'mentioned', 'orchestrated')", name=op.f("ck_spaces_triggers")),
        sa.ForeignKeyConstraint(["orchestrator_id"], ["entities.id"], name=op.f("fk_spaces_orchestrator_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_spaces")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=128), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('api', 'session', 'sign_in')", name=op.f("ck_tokens_kind")),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name=op.f("fk_tokens_entity_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("hash", name=op.f("uq_tokens_hash")),
    )
    op.create_index(op.f("ix_tokens_entity_id"), "tokens", ["entity_id"], unique=False)
    op.create_table(
        "agents",
        sa.Column("id", KEY, nullable=False),
        sa.Column("config", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("active_space_id", KEY, nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["active_space_id"], ["spaces.id"], name=op.f("fk_agents_active_space_id")),
        sa.ForeignKeyConstraint(["id"], ["entities.id"], name=op.f("fk_agents_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
    )
    op.create_table(
        "members",
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("role", sa.String(length=16), server_default="member", nullable=False),
        sa.Column("processed_seq", sa.BigInteger(), nullable=True),
        sa.Column("seen_seq", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("session_id", sa.String(length=256), nullable=True),
        sa.Column("joined_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("role IN ('admin', 'member', 'viewer')", name=op.f("ck_members_role")),
        sa.CheckConstraint("seen_seq >= 0", name=op.f("ck_members_seen_seq")),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name=op.f("fk_members_entity_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_members_space_id")),
        sa.PrimaryKeyConstraint("space_id", "entity_id", name=op.f("pk_members")),
        sa.UniqueConstraint("session_id", name=op.f("uq_members_session_id")),
    )
    op.create_index("ix_members_entity_id", "members", ["entity_id", "space_id"], unique=False)
    op.create_table(
        "messages",
        sa.Column("n", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("sender_id", KEY, nullable=False),
        sa.Column("kind", sa.String(length=16), server_default="text", nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tool", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("reply_to", KEY, nullable=True),
        sa.Column("mentions", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("origin", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("run_id", KEY, nullable=True),
        sa.Column("chain_depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("root_cause", KEY, nullable=True),
        sa.Column("client_id", sa.String(length=128), nullable=True),
        sa.Column("stream_id", KEY, nullable=True),
        sa.Column("session_id", sa.String(length=256), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('text', 'tool', 'notice')", name=op.f("ck_messages_kind")),
        sa.CheckConstraint("seq > 0", name=op.f("ck_messages_seq")),
        sa.ForeignKeyConstraint(["sender_id"], ["entities.id"], name=op.f("fk_messages_sender_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_messages_space_id")),
        sa.PrimaryKeyConstraint("n", name=op.f("pk_messages")),
        sa.UniqueConstraint("id", name=op.f("uq_messages_id")),
        sa.UniqueConstraint("space_id", "seq", name=op.f("uq_messages_space_id_seq")),
    )
    op.create_index(
        "uq_messages_client_id",
        "messages",
        ["space_id", "sender_id", "client_id"],
        unique=True,
        sqlite_where=sa.text("client_id IS NOT NULL"),
        postgresql_where=sa.text("client_id IS NOT NULL"),
    )
    op.create_table(
        "phases",
        sa.Column("id", KEY, nullable=False),
        sa.Column("space_id", KEY, nullable=False),
        sa.Column("from_phase", sa.String(length=64), nullable=True),
        sa.Column("to_phase", sa.String(length=64), nullable=False),
        sa.Column("message", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("entity_id", KEY, nullable=False),
        sa.Column("at_seq", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["entity_id"], ["entities.id"], name=op.f("fk_phases_entity_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_phases_space_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_phases")),
    )
    op.create_index(op.f("ix_phases_space_id"), "phases", ["space_id"], unique=False)
    op.create_table(
        "goals",
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("priority", sa.Integer(), server_default="0", nullable=False),
        sa.Column("long_term", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status IN ('active', 'completed')", name=op.f("ck_goals_status")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_goals_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", "id", name=op.f("pk_goals")),
    )
    op.create_table(
        "memories",
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_memories_agent_id")),
        sa.PrimaryKeyConstraint("agent_id", "key", name=op.f("pk_memories")),
    )
    op.create_table(
        "plans",
        sa.Column("id", KEY, nullable=False),
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("instruction", sa.Text(), nullable=False),
        sa.Column("cron", sa.String(length=128), nullable=True),
        sa.Column("scheduled_at", sa.BigInteger(), nullable=True),
        sa.Column("run_after", sa.String(length=64), nullable=True),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("chain_depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("status <> 'active' OR next_at IS NOT NULL", name=op.f("ck_plans_next_at")),
        sa.CheckConstraint("status IN ('active', 'completed')", name=op.f("ck_plans_status")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_plans_agent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
    )
    op.create_index(op.f("ix_plans_agent_id"), "plans", ["agent_id"], unique=False)
    op.create_index(op.f("ix_plans_next_at"), "plans", ["next_at"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", KEY, nullable=False),
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.Column("trigger", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("trigger_space_id", KEY, nullable=True),
        sa.Column("active_space_id", KEY, nullable=True),
        sa.Column("chain_depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("wait", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("wait_space_id", KEY, nullable=True),
        sa.Column("wait_message_id", KEY, nullable=True),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("lease_owner", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("usage", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("error", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'waiting_reply', 'waiting_tool', 'completed', 'failed', 'canceled')",
            name=op.f("ck_runs_status"),
        ),
        sa.ForeignKeyConstraint(["active_space_id"], ["spaces.id"], name=op.f("fk_runs_active_space_id")),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_runs_agent_id")),
        sa.ForeignKeyConstraint(["trigger_space_id"], ["spaces.id"], name=op.f("fk_runs_trigger_space_id")),
        sa.ForeignKeyConstraint(["wait_space_id"], ["spaces.id"], name=op.f("fk_runs_wait_space_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index("ix_runs_agent_id", "runs", ["agent_id", "status"], unique=False)
    op.create_index(op.f("ix_runs_deadline"), "runs", ["deadline"], unique=False)
    op.create_index("ix_runs_status_lease_until", "runs", ["status", "lease_until"], unique=False)
    op.create_index("ix_runs_trigger_space_id", "runs", ["trigger_space_id", "id"], unique=False)
    op.create_index(
        "ix_runs_wait_space_id",
        "runs",
        ["wait_space_id"],
        unique=False,
        sqlite_where=sa.text("status = 'waiting_reply'"),
        postgresql_where=sa.text("status = 'waiting_reply'"),
    )
    op.create_table(
        "cycles",
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("messages", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_cycles_agent_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_cycles_run_id")),
        sa.PrimaryKeyConstraint("agent_id", "n", name=op.f("pk_cycles")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", KEY, nullable=False),
        sa.Column("agent_id", KEY, nullable=False),
        sa.Column("event_id", sa.String(length=256), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("space_id", KEY, nullable=True),
        sa.Column("message_id", KEY, nullable=True),
        sa.Column("payload", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("chain_depth", sa.Integer(), server_default="0", nullable=False),
        sa.Column("state", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("run_id", KEY, nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('pending', 'taken', 'done', 'passed', 'failed')", name=op.f("ck_deliveries_state")
        ),
        sa.CheckConstraint(
            "type IN ('space_message', 'plan', 'service', 'tool_result', 'heartbeat')", name=op.f("ck_deliveries_type")
        ),
        sa.ForeignKeyConstraint(["agent_id"], ["agents.id"], name=op.f("fk_deliveries_agent_id")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_deliveries_run_id")),
        sa.ForeignKeyConstraint(["space_id"], ["spaces.id"], name=op.f("fk_deliveries_space_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("agent_id", "event_id", name=op.f("uq_deliveries_agent_id_event_id")),
    )
    op.create_index(op.f("ix_deliveries_message_id"), "deliveries", ["message_id"], unique=False)
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["not_before", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(op.f("ix_deliveries_run_id"), "deliveries", ["run_id"], unique=False)
    op.create_table(
        "steps",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("call_id", sa.String(length=64), nullable=True),
        sa.Column("name", sa.String(length=128), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("input", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("output", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("usage", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('model', 'tool')", name=op.f("ck_steps_kind")),
        sa.CheckConstraint("state IN ('started', 'done', 'error')", name=op.f("ck_steps_state")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_steps_run_id")),
        sa.PrimaryKeyConstraint("run_id", "n", name=op.f("pk_steps")),
    )
    op.create_table(
        "views",
        sa.Column("run_id", KEY, nullable=False),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_views_run_id")),
        sa.PrimaryKeyConstraint("run_id", "step", name=op.f("pk_views")),
    )
    op.create_index(op.f("ix_views_created_at"), "views", ["created_at"], unique=False)

    dialect = op.get_bind().dialect.name
    for statement in SQLITE_SEARCH if dialect == "sqlite" else POSTGRES_SEARCH:
        op.execute(sa.text(statement.replace(":", "\\:")))
