"""The audit log. Rows are only added; sealing fills `n` and `seal` (majlis.audit.seal)."""

import sqlalchemy as sa

from majlis.store.tables.columns import Json, index_where, key, metadata, moment

audit = sa.Table(
    "audit",
    metadata,
    key("id", primary_key=True),
    moment("at", nullable=False),
    # No foreign key: the entry outlives what it is about.
    key("actor_id", nullable=False),
    sa.Column("actor_name", sa.String(64), nullable=False),
    sa.Column("action", sa.String(64), nullable=False),
    # An id or a name.
    sa.Column("target", sa.String(256)),
    sa.Column("details", Json, nullable=False),
    # A key of which there is one entry only.
    sa.Column("once", sa.String(64), unique=True),
    # The number in the hash chain and the hash, once sealed.
    sa.Column("n", sa.BigInteger, unique=True),
    sa.Column("seal", sa.String(64)),
)
sa.Index("ix_audit_actor_id_id", audit.c.actor_id, audit.c.id)
sa.Index("ix_audit_action_id", audit.c.action, audit.c.id)
index_where("ix_audit_unsealed", audit.c.id, where=audit.c.n.is_(None))
