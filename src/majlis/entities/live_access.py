"""Live access of an entity: its tokens, browser sessions and unused sign-in links, listed and ended (G7)."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller, require_power_over
from majlis.entities.entities import access_entity
from majlis.entities.shapes import AccessJson, access_json
from majlis.entities.tokens import end_tokens
from majlis.errors import NotFound
from majlis.store.tables import tokens
from majlis.store.transactions import Tx


def list_access(tx: Tx, caller: Caller, entity_id: str) -> list[AccessJson]:
    """Oldest first."""
    _require_power(tx, caller, entity_id)
    statement = sa.select(tokens).where(_live(tx, entity_id)).order_by(tokens.c.id)
    return [access_json(row, caller) for row in tx.all(statement)]


def end_access(tx: Tx, caller: Caller, token_id: str) -> None:
    """Ends a token, session or link, and everything that was opened with it."""
    row = tx.one(sa.select(tokens.c.entity_id).where(tokens.c.id == token_id, tokens.c.ended_at.is_(None)))
    if row is None or not (caller.administers or row.entity_id == caller.id):
        raise NotFound("unknown_token", f"There is no token {token_id}.")
    _require_power(tx, caller, row.entity_id)
    end_tokens(tx, tokens.c.id == token_id)
    record(tx, caller, "access.ended", row.entity_id, accessId=token_id)


def end_all_access(tx: Tx, caller: Caller, entity_id: str, keep_current: bool = False) -> None:
    """`keep_current`: except the session or token of this request, and the token it was opened with."""
    _require_power(tx, caller, entity_id)
    # Waits for sign-ins under way; the update then sees their sessions.
    tx.execute(sa.select(tokens.c.id).where(_live(tx, entity_id)).order_by(tokens.c.id).with_for_update())
    which = tokens.c.entity_id == entity_id
    if keep_current:
        which = sa.and_(which, tokens.c.id.not_in([caller.token_id, caller.parent_id or ""]))
    end_tokens(tx, which)
    record(tx, caller, "access.ended", entity_id, all=True)


def _live(tx: Tx, entity_id: str) -> sa.ColumnElement[bool]:
    lasting = sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > tx.now)
    return sa.and_(tokens.c.entity_id == entity_id, tokens.c.ended_at.is_(None), lasting)


def _require_power(tx: Tx, caller: Caller, entity_id: str) -> None:
    if caller.id != entity_id:
        require_power_over(caller, access_entity(tx, entity_id).role)
