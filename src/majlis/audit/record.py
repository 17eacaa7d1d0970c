"""Adds an entry in the transaction of the act itself, without a lock. Entries never hold message text or secrets."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from sqlalchemy.dialects import postgresql, sqlite

from majlis.store import ids
from majlis.store.tables import audit
from majlis.store.transactions import Tx


class Actor(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RunningAgent:
    """The agent whose run this task executes, and the run."""

    id: str
    name: str
    run_id: str


RUNNING: ContextVar[RunningAgent | None] = ContextVar("majlis_running", default=None)


def record(tx: Tx, actor: Actor, action: str, target: str | None = None, **details: Any) -> None:
    """`action` is a thing and what happened to it, such as `token.created`. `target` is an id or a name."""
    tx.execute(audit.insert(), _entry(tx, actor, action, target, details))


def record_secret_use(tx: Tx, actor: Actor, secret: str, host: str, run_id: str) -> None:
    """Once per secret, host and run. `secret` is its name."""
    once = sha256("\n".join(("secret", secret, host, run_id)).encode()).hexdigest()
    entry = _entry(tx, actor, "secret.used", secret, {"host": host, "runId": run_id}) | {"once": once}
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(audit)
    tx.execute(insert.on_conflict_do_nothing(index_elements=[audit.c.once]), entry)


def _entry(tx: Tx, actor: Actor, action: str, target: str | None, details: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": ids.new("aud"),
        "at": tx.now,
        "actor_id": actor.id,
        "actor_name": actor.name,
        "action": action,
        "target": target if target is None else target[:256],
        "details": {name: value for name, value in details.items() if value is not None},
    }
