"""Tokens: 256 random bits, stored only as an HMAC under the server key, found by one indexed look-up.

A random token cannot be guessed, so it needs no slow hash. Because of the key, read or write access to the table alone
gives no access to the gateway. The look-up is by digest, so its timing reveals nothing about the token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from typing import Any, Literal

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.audit.seal import sealing_key
from majlis.entities.caller import Caller, GatewayRole
from majlis.entities.entities import access_entity_to_change
from majlis.entities.scopes import ALL_SCOPES, Scope, read_scopes
from majlis.entities.shapes import TokenJson, token_json
from majlis.errors import Forbidden, Invalid, Unauthenticated
from majlis.live.log import TokenEnded
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import entities, tokens
from majlis.store.transactions import Tx

TokenKind = Literal["api", "session", "sign_in"]

OWNER_TOKEN = "owner-token."  # noqa: S105 - how `parent_id` names MAJLIS_OWNER_TOKEN, before a part of its digest
_PREFIX: dict[TokenKind, str] = {"api": "mj_", "session": "ms_", "sign_in": "mc_"}

_FIND = hot(
    sa.select(
        entities.c.id,
        entities.c.name,
        entities.c.type,
        entities.c.role,
        tokens.c.id.label("token_id"),
        tokens.c.expires_at,
        tokens.c.parent_id,
        tokens.c.scopes,
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
        # Copied for each token, which takes a seventh of the time of making it.
        self._keyed = hmac.new(hashlib.sha256(b"majlis token key" + server_key).digest(), digestmod=hashlib.sha256)
        self.audit_key = sealing_key(server_key)
        self.secret_key = hashlib.sha256(b"majlis secret key" + server_key).digest()
        self._owner_hash = self.hash(owner_token) if owner_token is not None else None

    def hash(self, token: str) -> str:
        keyed = self._keyed.copy()
        keyed.update(token.encode("utf-8", "surrogatepass"))
        return keyed.hexdigest()

    @property
    def owner_token(self) -> str | None:
        """The `parent_id` of what is opened with the owner's fixed token."""
        return OWNER_TOKEN + self._owner_hash[:32] if self._owner_hash is not None else None

    def is_owner(self, token_hash: str) -> bool:
        return self._owner_hash is not None and hmac.compare_digest(self._owner_hash, token_hash)


def create_token(
    tx: Tx,
    caller: Caller,
    hasher: Hasher,
    entity_id: str,
    label: str | None = None,
    expires_at: int | None = None,
    scopes: Iterable[Scope] | None = None,
) -> tuple[TokenJson, str]:
    """`scopes` are the caller's by default, and never more than those."""
    access_entity_to_change(tx, caller, entity_id)
    allowed = caller.scopes if scopes is None else frozenset(scopes)
    if excess := sorted(allowed - caller.scopes):
        raise Forbidden("missing_scope", f"Your own token does not have the scope {', '.join(excess)}.")
    if expires_at is not None and expires_at <= tx.now:
        raise Invalid("expired", "expiresAt is in the past. Choose a later time.", {"path": "expiresAt"})
    made = issue(tx, hasher, entity_id, "api", label, expires_at, parent_for(caller, entity_id), allowed)
    record(tx, caller, "token.created", entity_id, tokenId=made[0]["id"], label=label, scopes=made[0]["scopes"])
    return made


def issue(
    tx: Tx,
    hasher: Hasher,
    entity_id: str,
    kind: TokenKind,
    label: str | None = None,
    expires_at: int | None = None,
    parent_id: str | None = None,
    scopes: frozenset[Scope] = ALL_SCOPES,
) -> tuple[TokenJson, str]:
    """Checks no permission. The token itself is returned and never stored."""
    _require_live(tx, parent_id)
    token = _PREFIX[kind] + secrets.token_urlsafe(32)
    values = {
        "id": ids.new("tok"),
        "entity_id": entity_id,
        "kind": kind,
        "hash": hasher.hash(token),
        "label": label,
        "created_at": tx.now,
        "expires_at": expires_at,
        "parent_id": parent_id,
        "scopes": None if scopes == ALL_SCOPES else ",".join(sorted(scopes)),
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


def end_tokens(tx: Tx, which: sa.ColumnElement[bool]) -> None:
    """Also ends what was opened with them. That takes a statement of its own, which sees what a sign-in has committed
    while the first one waited for its lock (see `_require_live`)."""
    ended = tx.execute(
        tokens.update().where(which, tokens.c.ended_at.is_(None)).values(ended_at=tx.now).returning(tokens.c.id)
    )
    if token_ids := [row.id for row in ended]:
        tx.outbox.extend(map(TokenEnded, token_ids))
        end_tokens(tx, tokens.c.parent_id.in_(token_ids))


def end_other_owner_tokens(tx: Tx, owner_token: str | None) -> None:
    """Ends what was opened with an owner token that is no longer the one in the settings. `owner_token` is the current
    one's `parent_id`."""
    others = sa.and_(tokens.c.parent_id.startswith(OWNER_TOKEN), tokens.c.parent_id != (owner_token or ""))
    end_tokens(tx, others)


def parent_for(caller: Caller, entity_id: str) -> str | None:
    """A token that callers issue for themselves ends with their own. Those that admins issue for others do not."""
    return caller.parent_id if caller.id == entity_id else None


def invalid_token() -> Unauthenticated:
    return Unauthenticated("invalid_token", "This token is invalid, expired or revoked.")


def find_caller(tx: Tx, hash: str, kind: TokenKind) -> Caller | None:
    return caller_in(ask_caller(tx, hash, kind), kind)


def ask_caller(tx: Tx, hash: str, kind: TokenKind) -> sa.CursorResult[Any]:
    """What `caller_in` reads, in the round trip of the next statement."""
    return tx.ask(_FIND, {"hash": hash, "kind": kind, "now": tx.now})


def caller_in(found: sa.CursorResult[Any], kind: TokenKind) -> Caller | None:
    row = found.one_or_none()
    if row is None:
        return None
    parent_id = row.token_id if kind == "api" else row.parent_id
    scopes = read_scopes(row.scopes) if row.scopes is not None else ALL_SCOPES
    role: GatewayRole = row.role if "admin" in scopes else "member"
    return Caller(row.id, row.name, row.type, role, row.token_id, row.expires_at, parent_id, scopes)


def _require_live(tx: Tx, parent_id: str | None) -> None:
    """Locks the token, so that a concurrent revocation either is seen here or sees what is opened here."""
    if parent_id is None or parent_id.startswith(OWNER_TOKEN):
        return
    live = sa.select(tokens.c.id).where(tokens.c.id == parent_id, tokens.c.ended_at.is_(None))
    if tx.one(live.with_for_update(read=True)) is None:
        raise invalid_token()
