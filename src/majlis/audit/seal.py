"""Seals entries into a hash chain: each seal is a keyed hash of the entry and of the seal before it.

Acts add entries freely. Every ten seconds one node numbers and seals the new ones; the row `audit_head` of the table
`gateway` is its lease and the end of the chain. The key comes from the server key, so that write access to the database
alone is not enough to forge a chain.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.outage import Outage
from majlis.store.hot import hot
from majlis.store.tables import audit, gateway
from majlis.store.transactions import Database, Tx

SEAL_SECONDS = 10
_HEAD = "audit_head"
_BATCH = 1000
_SEAL = hot(
    audit.update()
    .where(audit.c.id == sa.bindparam("entry"))
    .values(n=sa.bindparam("number", type_=sa.BigInteger), seal=sa.bindparam("given"))
)
_UNSEALED = hot(sa.select(audit.c.id).where(audit.c.n.is_(None)).limit(1))


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the chain: the number of sealed entries, the last seal, and when it was made."""

    n: int = 0
    seal: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Verified:
    """`problem` is None if the chain is complete. `unsealed` entries are too new to be part of it."""

    sealed: int
    unsealed: int
    head: str
    problem: str | None


async def seal_forever(db: Database, key: bytes) -> None:
    outage = Outage("sealing the audit log")
    while True:
        await asyncio.sleep(SEAL_SECONDS)
        with outage.noted():
            # Most of the time there is nothing to seal, and no write is needed.
            if await db.read(_has_unsealed):
                await db.write(seal_new, key)


def seal_new(tx: Tx, key: bytes, at_once: bool = False) -> int:
    """The number of sealed entries; 0 if another node has just sealed."""
    head = _lock_head(tx)
    if not at_once and tx.now - head.at < SEAL_SECONDS * 500:
        return 0
    rows = tx.all(sa.select(audit).where(audit.c.n.is_(None)).order_by(audit.c.id).limit(_BATCH))
    sealed: list[dict[str, Any]] = []
    for row in rows:
        head = Head(head.n + 1, _seal(key, head.seal, head.n + 1, row), tx.now)
        sealed.append({"entry": row.id, "number": head.n, "given": head.seal})
    if rows:
        tx.execute(_SEAL, sealed)
        value = orjson.dumps({"n": head.n, "seal": head.seal, "at": head.at}).decode()
        tx.execute(gateway.update().where(gateway.c.key == _HEAD).values(value=value))
    return len(rows)


def verify(tx: Tx, key: bytes) -> Verified:
    """Reads in batches: the log may be long."""
    head = _read_head(tx)
    before, number, problem = "", 0, None
    while problem is None:
        rows = tx.all(sa.select(audit).where(audit.c.n > number).order_by(audit.c.n).limit(_BATCH))
        for row in rows:
            number += 1
            if row.n != number:
                problem = f"Entry number {number} is missing."
            elif not hmac.compare_digest(row.seal or "", _seal(key, before, number, row)):
                problem = f"Entry {row.id} (number {number}) or the one before it was changed."
            if problem is not None:
                break
            before = row.seal
        if not rows:
            break
    if problem is None and (number, before) != (head.n, head.seal):
        problem = f"The log ends at number {number}, but {head.n} entries were sealed."
    unsealed = tx.execute(sa.select(sa.func.count()).where(audit.c.n.is_(None))).scalar_one()
    return Verified(head.n, unsealed, head.seal, problem)


def sealing_key(server_key: bytes) -> bytes:
    return hashlib.sha256(b"majlis audit key" + server_key).digest()


def _has_unsealed(tx: Tx) -> bool:
    return tx.one(_UNSEALED) is not None


def _lock_head(tx: Tx) -> Head:
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(gateway)
    tx.execute(insert.on_conflict_do_nothing(), {"key": _HEAD, "value": "{}"})
    tx.execute(sa.select(gateway.c.key).where(gateway.c.key == _HEAD).with_for_update())
    return _read_head(tx)


def _read_head(tx: Tx) -> Head:
    value = tx.execute(sa.select(gateway.c.value).where(gateway.c.key == _HEAD)).scalar_one_or_none()
    return Head(**orjson.loads(value)) if value else Head()


def _seal(key: bytes, before: str, n: int, row: sa.Row[Any]) -> str:
    content = [before, n, row.id, row.at, row.actor_id, row.actor_name, row.action, row.target, row.details, row.once]
    return hmac.new(key, orjson.dumps(content, option=orjson.OPT_SORT_KEYS), hashlib.sha256).hexdigest()
