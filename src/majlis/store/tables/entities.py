"""People, agents and services, their tokens, and facts about the gateway."""

import sqlalchemy as sa

from majlis.store.tables.columns import index_where, key, metadata, moment, one_of

entities = sa.Table(
    "entities",
    metadata,
    key("id", primary_key=True),
    sa.Column("type", sa.String(16), nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
    # The name folded for case and width. Unique among entities that are not deleted.
    sa.Column("name_key", sa.String(256), nullable=False),
    # The name in the plainest characters that look like it, folded. Unique too.
    sa.Column("look_key", sa.String(256)),
    sa.Column("role", sa.String(16), nullable=False, server_default="member"),
    sa.Column("external_id", sa.String(256)),
    # The number of the entity's newest notice in the event log.
    sa.Column("event_seq", sa.BigInteger, nullable=False, server_default="0"),
    moment("created_at", nullable=False),
    moment("deleted_at"),
    # When the person last opened or closed the app.
    moment("seen_at"),
    # Until then the person is taken to look at the app; nothing is pushed.
    moment("active_until"),
    one_of("type", "human", "agent", "service"),
    one_of("role", "owner", "admin", "member"),
)
index_where("uq_entities_name_key", entities.c.name_key, where=entities.c.deleted_at.is_(None), unique=True)
index_where("uq_entities_look_key", entities.c.look_key, where=entities.c.deleted_at.is_(None), unique=True)
index_where(
    "uq_entities_external_id",
    entities.c.external_id,
    where=sa.and_(entities.c.deleted_at.is_(None), entities.c.external_id.is_not(None)),
    unique=True,
)

tokens = sa.Table(
    "tokens",
    metadata,
    key("id", primary_key=True),
    key("entity_id", sa.ForeignKey("entities.id"), nullable=False, index=True),
    # api: a bearer token; session: a cookie; sign_in: a one-time link.
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
    sa.Column("label", sa.String(128)),
    moment("created_at", nullable=False),
    moment("expires_at"),
    moment("ended_at"),
    # The token (or `owner-token.…`) that this one was opened with and ends with.
    sa.Column("parent_id", sa.String(64)),
    # Separated by commas; null allows everything that the entity may do.
    sa.Column("scopes", sa.String(64)),
    one_of("kind", "api", "session", "sign_in"),
)
index_where("ix_tokens_parent_id", tokens.c.parent_id, where=tokens.c.parent_id.is_not(None))
index_where("ix_tokens_expires_at", tokens.c.expires_at, where=tokens.c.expires_at.is_not(None))
index_where("ix_tokens_ended_at", tokens.c.ended_at, where=tokens.c.ended_at.is_not(None))

gateway = sa.Table(
    "gateway", metadata, sa.Column("key", sa.String(64), primary_key=True), sa.Column("value", sa.Text, nullable=False)
)

# The entity does not want to be added to spaces by the blocked one.
blocks = sa.Table(
    "blocks",
    metadata,
    key("entity_id", sa.ForeignKey("entities.id"), primary_key=True),
    key("blocked_id", sa.ForeignKey("entities.id"), primary_key=True),
    moment("created_at", nullable=False),
)
