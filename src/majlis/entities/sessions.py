"""Browser sign-in: exchanges a one-time link or a token for a session, which is a token in a cookie."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import sqlalchemy as sa

from majlis.audit.record import record
from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING, access_entity, access_entity_to_change, add_entity
from majlis.entities.names import entity_name, look_key, name_key
from majlis.entities.scopes import ALL_SCOPES, Scope
from majlis.entities.tokens import Hasher, end_tokens, find_caller, invalid_token, issue, parent_for
from majlis.errors import Invalid, Unauthenticated
from majlis.store.tables import entities, tokens
from majlis.store.transactions import Tx

SESSION_MILLIS = 30 * 24 * 3600 * 1000
SIGN_IN_MILLIS = 60 * 60 * 1000


def create_sign_in_code(tx: Tx, caller: Caller, hasher: Hasher, entity_id: str) -> tuple[str, int]:
    access_entity_to_change(tx, caller, entity_id)
    record(tx, caller, "sign_in_link.created", entity_id)
    return issue_sign_in_code(tx, hasher, entity_id, parent_for(caller, entity_id), caller.scopes)


def issue_sign_in_code(
    tx: Tx, hasher: Hasher, entity_id: str, parent_id: str | None = None, scopes: frozenset[Scope] = ALL_SCOPES
) -> tuple[str, int]:
    expires_at = tx.now + SIGN_IN_MILLIS
    _, code = issue(tx, hasher, entity_id, "sign_in", "one-time sign-in link", expires_at, parent_id, scopes)
    return code, expires_at


def find_code_owner(tx: Tx, hasher: Hasher, code: str) -> Caller | None:
    """The entity that the link signs in. Does not use up the link."""
    return find_caller(tx, hasher.hash(code), "sign_in")


def sign_in_with_code(tx: Tx, hasher: Hasher, code: str) -> tuple[Caller, str]:
    caller = find_code_owner(tx, hasher, code)
    # Only one of two concurrent requests updates the row.
    used = caller and tx.execute(
        tokens.update().where(tokens.c.id == caller.token_id, tokens.c.ended_at.is_(None)).values(ended_at=tx.now)
    )
    if caller is None or not used or used.rowcount != 1:
        raise Unauthenticated("invalid_link", "This sign-in link has expired or was already used. Ask for a new one.")
    return caller, open_session(tx, hasher, caller, "link")


def sign_in_with_token(tx: Tx, hasher: Hasher, token: str) -> tuple[Caller, str]:
    caller = find_caller(tx, hasher.hash(token), "api")
    if caller is None:
        raise invalid_token()
    return caller, open_session(tx, hasher, caller, "token", caller.expires_at)


def sign_in_with_identity(
    tx: Tx, hasher: Hasher, subject: str, email: str | None, name: str | None, sign_up: bool
) -> tuple[Caller, str]:
    """Signs in the person whose externalId is the provider's subject, or else its verified email address (G13). With
    `sign_up`, a person who is not known becomes a member."""
    row = _find_person(tx, [subject, *([email] if email else [])])
    if row is None and sign_up:
        made = add_entity(tx, "human", _free_name(tx, name or email or "Member"), subject)
        row = access_entity(tx, made["id"])
        record(tx, row, "entity.created", row.id, name=row.name, type="human", role="member", by="oidc")
    if row is None:
        raise Unauthenticated(
            "unknown_person",
            f"You have no account here. Ask an admin to create one and set its externalId to {email or subject}.",
        )
    caller = Caller(row.id, row.name, row.type, row.role, token_id="")
    return caller, open_session(tx, hasher, caller, "oidc")


def _find_person(tx: Tx, external_ids: list[str]) -> sa.Row[Any] | None:
    """The person who has the first of these ids that any person has."""
    known = sa.select(entities).where(LIVING, entities.c.type == "human", entities.c.external_id.in_(external_ids))
    found = {row.external_id: row for row in tx.all(known)}
    return next((found[each] for each in external_ids if each in found), None)


def _free_name(tx: Tx, wanted: str) -> str:
    """A valid name that no entity has: the provider's, without characters that names may not have."""
    clean = " ".join(re.sub(r"[^\w .'-]", " ", wanted.partition("@")[0]).split())[:50] or "Member"
    try:
        clean = entity_name(clean)
    except Invalid:
        clean = "Member"
    rows = tx.all(sa.select(entities.c.name_key, entities.c.look_key).where(LIVING))
    taken = {key for row in rows for key in row}
    numbered = (clean if n == 1 else f"{clean} {n}" for n in count(1))
    return next(name for name in numbered if taken.isdisjoint((name_key(name), look_key(name))))


def sign_out(tx: Tx, caller: Caller) -> None:
    end_tokens(tx, sa.and_(tokens.c.id == caller.token_id, tokens.c.kind == "session"))
    record(tx, caller, "session.ended", caller.id, sessionId=caller.token_id)


def open_session(tx: Tx, hasher: Hasher, caller: Caller, by: str, not_after: int | None = None) -> str:
    """A session never outlives the token it was opened with, and allows no more."""
    latest = tx.now + SESSION_MILLIS
    expires_at = min(latest, not_after or latest)
    made, secret = issue(tx, hasher, caller.id, "session", "browser", expires_at, caller.parent_id, caller.scopes)
    record(tx, caller, "session.opened", caller.id, by=by, sessionId=made["id"])
    return secret
