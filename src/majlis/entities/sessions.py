"""Browser sign-in: exchanges a one-time link or a token for a session, which is a token in a cookie."""

from __future__ import annotations

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity_to_change
from majlis.entities.tokens import Hasher, end_tokens, find_caller, invalid_token, issue, opened_with
from majlis.errors import Unauthenticated
from majlis.store.tables import tokens
from majlis.store.transactions import Tx

SESSION_MILLIS = 30 * 24 * 3600 * 1000
SIGN_IN_MILLIS = 60 * 60 * 1000


def create_sign_in_code(tx: Tx, caller: Caller, hasher: Hasher, entity_id: str) -> tuple[str, int]:
    access_entity_to_change(tx, caller, entity_id)
    return issue_sign_in_code(tx, hasher, entity_id)


def issue_sign_in_code(tx: Tx, hasher: Hasher, entity_id: str) -> tuple[str, int]:
    expires_at = tx.now + SIGN_IN_MILLIS
    _, code = issue(tx, hasher, entity_id, "sign_in", "one-time sign-in link", expires_at)
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
    return caller, _open_session(tx, hasher, caller.id)


def sign_in_with_token(tx: Tx, hasher: Hasher, token: str) -> tuple[Caller, str]:
    caller = find_caller(tx, hasher.hash(token), "api")
    if caller is None:
        raise invalid_token()
    return caller, _open_session(tx, hasher, caller.id, opened_with(caller.token_id), caller.expires_at)


def sign_out(tx: Tx, caller: Caller) -> None:
    end_tokens(tx, sa.and_(tokens.c.id == caller.token_id, tokens.c.kind == "session"))


def _open_session(tx: Tx, hasher: Hasher, entity_id: str, label: str = "browser", not_after: int | None = None) -> str:
    """A session never outlives the token it was opened with."""
    latest = tx.now + SESSION_MILLIS
    expires_at = min(latest, not_after or latest)
    _, secret = issue(tx, hasher, entity_id, "session", label, expires_at)
    return secret
