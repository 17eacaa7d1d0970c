"""Tokens: 256 random bits, stored only as an HMAC under the server key, found by one indexed look-up.

A random token cannot be guessed, so it needs no slow hash. Because of the key, read or write access to the table alone
gives no access to the gateway. The look-up is by digest, so its timing reveals nothing about the token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Literal

import sqlalchemy as sa

from majlis.entities.caller import Caller, require_power_over
from majlis.entities.entities import access_entity, access_entity_to_change
from majlis.entities.shapes import TokenJson, token_json
from majlis.errors import Invalid, NotFound, Unauthenticated
from majlis.live.log import TokenEnded
from majlis.store import ids
from majlis.store.tables import entities, tokens
from majlis.store.transactions import Tx

TokenKind = Literal["api", "session", "sign_in"]

_PREFIX: dict[TokenKind, str] = {"api": "mj_", "session": "ms_", "sign_in": "mc_"}

_FIND = (
    sa.select(
        entities.c.id,
        entities.c.name,
        entities.c.type,
        entities.c.role,
        tokens.c.id.label("token_id"),
        tokens.c.expires_at,
    )
    .join(entities, entities.c.id == tokens.c.entity_id)
    .where(
        tokens.c.hash == sa.bindparam("hash"),
        tokens.c.kind == sa.bindparam("kind"),
        tokens.c.ended_at.is_(None),
        sa.or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > sa.bindparam("now")),
        entities.c.deleted_at.is_(None),
    )
)


class Hasher:
    """`owner_token` is the fixed token of the settings, if there is one."""

    def __init__(self, server_key: bytes, owner_token: str | None = None) -> None:
        self._key = hashlib.sha256(b"majlis token key" + server_key).digest()
        self._owner_hash = self.hash(owner_token) if owner_token is not None else None

    def hash(self, token: str) -> str:
        return hmac.new(self._key, token.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()

    def is_owner(self, token_hash: str) -> bool:
        return self._owner_hash is not None and hmac.compare_digest(self._owner_hash, token_hash)


def create_token(
    tx: Tx, caller: Caller, hasher: Hasher, entity_id: str, label: str | None = None, expires_at: int | None = None
) -> tuple[TokenJson, str]:
    access_entity_to_change(tx, caller, entity_id)
    if expires_at is not None and expires_at <= tx.now:
        raise Invalid("expired", "expiresAt is in the past. Choose a later time.", {"path": "expiresAt"})
    return issue(tx, hasher, entity_id, "api", label, expires_at)


def issue(
    tx: Tx, hasher: Hasher, entity_id: str, kind: TokenKind, label: str | None = None, expires_at: int | None = None
) -> tuple[TokenJson, str]:
    """Without a permission check. The token itself is returned and never stored."""
    token = _PREFIX[kind] + secrets.token_urlsafe(32)
    values = {
        "id": ids.new("tok"),
        "entity_id": entity_id,
        "kind": kind,
        "hash": hasher.hash(token),
        "label": label,
        "created_at": tx.now,
        "expires_at": expires_at,
    }
    return token_json(tx.execute(tokens.insert().returning(*tokens.c), values).one()), token


def list_tokens(tx: Tx, caller: Caller, entity_id: str) -> list[TokenJson]:
    access_entity_to_change(tx, caller, entity_id)
    statement = (
        sa.select(tokens)
        .where(tokens.c.entity_id == entity_id, tokens.c.kind == "api", tokens.c.ended_at.is_(None))
        .order_by(tokens.c.id)
    )
    return [token_json(row) for row in tx.all(statement)]


def revoke_token(tx: Tx, caller: Caller, token_id: str) -> None:
    """Callers may revoke their own tokens; other tokens need power over their entity. Sessions that were opened with
    the token end as well."""
    row = tx.one(sa.select(tokens.c.entity_id).where(tokens.c.id == token_id, tokens.c.ended_at.is_(None)))
    if row is None or not (caller.administers or row.entity_id == caller.id):
        raise NotFound("unknown_token", f"There is no token {token_id}.")
    if row.entity_id != caller.id:
        require_power_over(caller, access_entity(tx, row.entity_id).role)
    its_sessions = sa.and_(
        tokens.c.entity_id == row.entity_id, tokens.c.kind == "session", tokens.c.label == opened_with(token_id)
    )
    end_tokens(tx, sa.or_(tokens.c.id == token_id, its_sessions))


def opened_with(token_id: str) -> str:
    """The label of a session that was opened with this token and ends with it."""
    return f"browser, with {token_id}"


def end_tokens(tx: Tx, which: sa.ColumnElement[bool]) -> None:
    ended = tx.execute(
        tokens.update().where(which, tokens.c.ended_at.is_(None)).values(ended_at=tx.now).returning(tokens.c.id)
    )
    tx.outbox.extend(TokenEnded(row.id) for row in ended)


def invalid_token() -> Unauthenticated:
    return Unauthenticated("invalid_token", "This token is invalid, expired or revoked.")


def find_caller(tx: Tx, hash: str, kind: TokenKind) -> Caller | None:
    row = tx.one(_FIND, {"hash": hash, "kind": kind, "now": tx.now})
    return None if row is None else Caller(row.id, row.name, row.type, row.role, row.token_id, row.expires_at)
