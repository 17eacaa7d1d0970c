"""Agents: entities with a config. A changed config holds from the next run on."""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from typing_extensions import TypedDict

from majlis.agents.config import dump_config, parse_config, patch_config
from majlis.clock import iso
from majlis.entities.caller import Caller, require_administrator
from majlis.entities.changing import change_entity, delete_entity
from majlis.entities.entities import LIVING, add_entity
from majlis.errors import NotFound
from majlis.store.tables import agents, entities
from majlis.store.transactions import Tx

_SELECT = (
    sa.select(*agents.c, entities.c.name, entities.c.created_at)
    .join(entities, entities.c.id == agents.c.id)
    .where(LIVING)
)


class AgentJson(TypedDict):
    id: str
    name: str
    type: Literal["agent"]
    config: dict[str, Any]
    version: int
    createdAt: str
    updatedAt: str


def create_agent(tx: Tx, caller: Caller, name: str, config: dict[str, Any]) -> AgentJson:
    require_administrator(caller)
    parsed = parse_config(config)
    agent_id = add_entity(tx, "agent", name)["id"]
    tx.execute(agents.insert(), {"id": agent_id, "config": dump_config(parsed), "updated_at": tx.now})
    return _agent_json(_find(tx, agent_id))


def list_agents(tx: Tx, caller: Caller, after: str | None = None, limit: int = 1000) -> list[AgentJson]:
    require_administrator(caller)
    statement = _SELECT.order_by(agents.c.id).limit(limit)
    if after is not None:
        statement = statement.where(agents.c.id > after)
    return [_agent_json(row) for row in tx.all(statement)]


def access_agent(tx: Tx, caller: Caller, agent_id: str) -> sa.Row[Any]:
    """For administrators, and for the agent itself: a config tells more than a member has to know."""
    if caller.id != agent_id:
        require_administrator(caller)
    return _find(tx, agent_id)


def get_agent(tx: Tx, caller: Caller, agent_id: str) -> AgentJson:
    return _agent_json(access_agent(tx, caller, agent_id))


def change_agent(tx: Tx, caller: Caller, agent_id: str, name: str | None, changes: dict[str, Any] | None) -> AgentJson:
    require_administrator(caller)
    agent = _find(tx, agent_id)
    if name is not None:
        change_entity(tx, caller, agent_id, {"name": name})
    if changes is not None:
        config = patch_config(parse_config(agent.config), changes)
        values = {"config": dump_config(config), "version": agents.c.version + 1, "updated_at": tx.now}
        tx.execute(agents.update().where(agents.c.id == agent_id).values(values))
    return _agent_json(_find(tx, agent_id))


def delete_agent(tx: Tx, caller: Caller, agent_id: str) -> None:
    require_administrator(caller)
    _find(tx, agent_id)
    delete_entity(tx, caller, agent_id)


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
        "config": row.config,
        "version": row.version,
        "createdAt": iso(row.created_at),
        "updatedAt": iso(row.updated_at),
    }
