"""Agents: entities with a config. A change takes effect with the next run."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config.config import dump_config, parse_config, patch_config, require_package
from majlis.agents.config.heartbeat import first_beat
from majlis.agents.plans import keep_in_time
from majlis.audit.record import record
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.change import change_entity, delete_entity
from majlis.entities.entities import LIVING, add_entity
from majlis.entities.shapes import PICTURE, picture_path
from majlis.errors import NotFound
from majlis.store.tables import agent_versions, agents, entities
from majlis.store.transactions import Database, Tx

_SELECT = (
    sa.select(*agents.c, entities.c.name, entities.c.created_at, PICTURE)
    .join(entities, entities.c.id == agents.c.id)
    .where(LIVING)
)


_VERSIONS_KEPT = 50
_VERSIONS = (
    sa.select(agent_versions, entities.c.name)
    .outerjoin(entities, entities.c.id == agent_versions.c.changed_by)
    .order_by(agent_versions.c.n.desc())
)


class ChangerJson(TypedDict):
    id: str
    name: str


class AgentVersionJson(TypedDict):
    version: int
    config: dict[str, Any]
    # Null for the first one, and for those of earlier releases.
    changedBy: ChangerJson | None
    createdAt: str


class AgentVersionsJson(TypedDict):
    versions: list[AgentVersionJson]


class AgentJson(TypedDict):
    id: str
    name: str
    type: Literal["agent"]
    paused: bool
    # The path of its picture.
    picture: str | None
    config: dict[str, Any]
    version: int
    createdAt: str
    updatedAt: str


async def create_agent(db: Database, caller: Caller, name: str, config: dict[str, Any]) -> AgentJson:
    require_administrator(caller)
    parsed = await asyncio.to_thread(parse_config, config)
    require_package(parsed.model)
    return await db.write(_create, caller, name, dump_config(parsed))


def _create(tx: Tx, caller: Caller, name: str, config: dict[str, Any]) -> AgentJson:
    made = add_agent(tx, name, config)
    record(tx, caller, "agent.created", made["id"], name=name)
    return made


def list_agents(tx: Tx, caller: Caller, after: str | None = None, limit: int = 1000) -> list[AgentJson]:
    require_administrator(caller)
    statement = _SELECT.order_by(agents.c.id).limit(limit)
    if after is not None:
        statement = statement.where(agents.c.id > after)
    return [_agent_json(row) for row in tx.all(statement)]


def access_agent(tx: Tx, caller: Caller, agent_id: str) -> sa.Row[Any]:
    """For administrators and the agent itself: a config is not for all members."""
    if caller.id != agent_id:
        require_administrator(caller)
    return _find(tx, agent_id)


def get_agent(tx: Tx, caller: Caller, agent_id: str) -> AgentJson:
    return _agent_json(access_agent(tx, caller, agent_id))


def list_versions(tx: Tx, caller: Caller, agent_id: str) -> AgentVersionsJson:
    """The configs that it has had, newest first. An agent that was never changed has one."""
    require_administrator(caller)
    agent = _find(tx, agent_id)
    versions: list[AgentVersionJson] = [
        {
            "version": row.n,
            "config": row.config,
            "changedBy": {"id": row.changed_by, "name": row.name} if row.name is not None else None,
            "createdAt": iso(row.created_at),
        }
        for row in tx.all(_VERSIONS.where(agent_versions.c.agent_id == agent_id))
    ]
    if not versions:
        at = iso(agent.updated_at)
        versions = [{"version": agent.version, "config": agent.config, "changedBy": None, "createdAt": at}]
    return {"versions": versions}


async def change_agent(
    db: Database, caller: Caller, agent_id: str, name: str | None, changes: dict[str, Any] | None
) -> AgentJson:
    """Validates outside the transaction, since a large config takes long. Retries if the config was changed meanwhile,
    so that the second of two changes builds on the first."""
    require_administrator(caller)
    while True:
        agent = await db.read(_find, agent_id)
        config = await asyncio.to_thread(_patched, agent.config, changes) if changes is not None else None
        changed = await db.write(_change, caller, agent_id, name, config, agent)
        if changed is not None:
            return changed


def delete_agent(tx: Tx, caller: Caller, agent_id: str) -> None:
    require_administrator(caller)
    _find(tx, agent_id)
    delete_entity(tx, caller, agent_id)


def add_agent(tx: Tx, name: str, config: dict[str, Any]) -> AgentJson:
    """Checks no permission; `config` has been parsed and dumped."""
    agent_id = add_entity(tx, "agent", name)["id"]
    beat = first_beat(config, tx.now)
    values = {"id": agent_id, "config": config, "outside": is_outside(config), "heartbeat_at": beat}
    tx.execute(agents.insert(), {**values, "updated_at": tx.now})
    return _agent_json(_find(tx, agent_id))


def is_outside(config: Any) -> bool:
    return isinstance(config, dict) and config.get("mind") == "outside"


def _patched(config: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    current = parse_config(config)
    wanted = patch_config(current, changes)
    if wanted.model != current.model:
        require_package(wanted.model)
    return dump_config(wanted)


def _change(
    tx: Tx, caller: Caller, agent_id: str, name: str | None, config: dict[str, Any] | None, before: sa.Row[Any]
) -> AgentJson | None:
    """None if the config was changed since `before` was read."""
    if config is not None:
        values = {"config": config, "version": before.version + 1, "updated_at": tx.now}
        values["outside"] = is_outside(config)
        # Other changes keep the next heartbeat: an agent that is changed often would otherwise never wake.
        if any(before.config[name] != config[name] for name in ("heartbeat", "timezone")):
            values["heartbeat_at"] = first_beat(config, tx.now)
        unchanged = agents.c.id == agent_id, agents.c.version == before.version
        if tx.execute(agents.update().where(*unchanged).values(values)).rowcount == 0:
            return None
        _keep_version(tx, caller, before, config)
        changed = [name for name in config if config[name] != before.config.get(name)]
        record(tx, caller, "agent.changed", agent_id, settings=changed)
        if config["timezone"] != before.config["timezone"]:
            keep_in_time(tx, agent_id, config["timezone"])
    if name is not None:
        change_entity(tx, caller, agent_id, {"name": name})
    return _agent_json(_find(tx, agent_id))


def _keep_version(tx: Tx, caller: Caller, before: sa.Row[Any], config: dict[str, Any]) -> None:
    first = {"agent_id": before.id, "n": before.version, "config": before.config, "created_at": before.updated_at}
    known = sa.select(agent_versions.c.n).where(
        agent_versions.c.agent_id == before.id, agent_versions.c.n == before.version
    )
    if tx.one(known) is None:
        tx.execute(agent_versions.insert(), first)
    made = {"n": before.version + 1, "config": config, "created_at": tx.now, "changed_by": caller.id}
    tx.execute(agent_versions.insert(), {**first, **made})
    oldest = before.version + 1 - _VERSIONS_KEPT
    tx.execute(agent_versions.delete().where(agent_versions.c.agent_id == before.id, agent_versions.c.n <= oldest))


def require_agent(tx: Tx, agent_id: str) -> None:
    _find(tx, agent_id)


def _find(tx: Tx, agent_id: str) -> sa.Row[Any]:
    row = tx.one(_SELECT.where(agents.c.id == agent_id))
    if row is None:
        raise NotFound("unknown_agent", f"There is no agent {agent_id}.")
    return row


def _agent_json(row: sa.Row[Any]) -> AgentJson:
    return {
        "id": row.id,
        "name": row.name,
        "type": "agent",
        "paused": row.paused_at is not None,
        "picture": picture_path(row),
        "config": row.config,
        "version": row.version,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }
