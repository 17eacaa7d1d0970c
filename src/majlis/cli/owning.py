"""What the owner of the machine may do in the gateway's database: the domain's verbs, as the gateway's owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from majlis.cli.local import explained, open_foundation
from majlis.cli.lookup import nobody
from majlis.entities.caller import Caller
from majlis.entities.entities import access_entity, find_by_names, list_entities
from majlis.entities.sessions import create_sign_in_code
from majlis.entities.shapes import TokenJson
from majlis.entities.tokens import Hasher, create_token, list_tokens, revoke_token
from majlis.foundation import owner_caller
from majlis.settings import Settings
from majlis.store.ids import looks_like_id
from majlis.store.transactions import Tx

P = ParamSpec("P")
T = TypeVar("T")


async def as_owner(
    settings: Settings,
    verb: Callable[Concatenate[Tx, Hasher, Caller, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    base = await open_foundation(settings)

    def work(tx: Tx) -> T:
        return verb(tx, base.hasher, owner_caller(tx, base.owner_id), *args, **kwargs)

    try:
        with explained(settings):
            return await base.db.write(work)
    finally:
        await base.db.close()


def create_for(
    tx: Tx, hasher: Hasher, owner: Caller, name: str, label: str | None, expires_at: int | None
) -> tuple[TokenJson, str]:
    return create_token(tx, owner, hasher, find_entity(tx, name).id, label, expires_at)


def list_of(tx: Tx, hasher: Hasher, owner: Caller, name: str) -> list[TokenJson]:
    return list_tokens(tx, owner, find_entity(tx, name).id)


def revoke(tx: Tx, hasher: Hasher, owner: Caller, token_id: str) -> None:
    revoke_token(tx, owner, token_id)


def sign_in_code(tx: Tx, hasher: Hasher, owner: Caller, name: str) -> tuple[str, int]:
    return create_sign_in_code(tx, owner, hasher, find_entity(tx, name).id)


def find_entity(tx: Tx, asked: str) -> sa.Row[Any]:
    if looks_like_id(asked):
        return access_entity(tx, asked)
    found = find_by_names(tx, [asked])
    if not found:
        raise nobody("entity", asked, [entity["name"] for entity in list_entities(tx)])
    return found[0]
