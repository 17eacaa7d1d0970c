"""Agents and spaces under the names of models: `agent:<name or id>` and `space:<name or id>` (D3)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.entities.entities import LIVING
from majlis.entities.names import name_key
from majlis.errors import Malformed, NotFound
from majlis.spaces.addable import may_add_agent
from majlis.store.tables import agents, conversations, entities, members, spaces
from majlis.store.transactions import Tx

# In the list of models: that many agents, and that many spaces.
MAX_LISTED = 1000

_AGENTS = (
    sa.select(entities.c.id, entities.c.name, entities.c.created_at, agents.c.config)
    .join(agents, agents.c.id == entities.c.id)
    .where(LIVING, entities.c.id != sa.bindparam("caller"))
    .order_by(entities.c.id)
)
# The spaces that the caller may write in, without those of conversations with an agent.
_SPACES = (
    sa.select(spaces.c.id, spaces.c.name, spaces.c.created_at)
    .join(members, members.c.space_id == spaces.c.id)
    .where(
        members.c.entity_id == sa.bindparam("caller"),
        members.c.role != "viewer",
        spaces.c.deleted_at.is_(None),
        ~sa.exists().where(conversations.c.space_id == spaces.c.id, conversations.c.target_id != spaces.c.id),
    )
    .order_by(spaces.c.id)
)


class Model(NamedTuple):
    kind: Literal["agent", "space"]
    id: str
    # As a client writes it: `agent:Helper`.
    model: str
    name: str
    created_at: int
    # The agent's text is final as soon as it is streamed (an agent that speaks by text may withdraw it, E10).
    streams: bool = False


def list_models(tx: Tx, caller: Caller) -> list[Model]:
    """The agents that the caller may bring into a space, and the caller's spaces."""
    found = [
        _agent(row, f"agent:{row.name}")
        for row in tx.all(_AGENTS.limit(MAX_LISTED), {"caller": caller.id})
        if may_add_agent(caller, row.config)
    ]
    mine = tx.all(_SPACES.limit(MAX_LISTED), {"caller": caller.id})
    counts = Counter(row.name.lower() for row in mine)
    return [*found, *(_space(row, f"space:{row.name if counts[row.name.lower()] == 1 else row.id}") for row in mine)]


def find_model(tx: Tx, caller: Caller, model: str) -> Model:
    kind, _, name = model.partition(":")
    if kind == "agent" and name:
        named = sa.or_(entities.c.id == name, entities.c.name_key == name_key(name))
        row = tx.one(_AGENTS.where(named), {"caller": caller.id})
        if row is not None and may_add_agent(caller, row.config):
            return _agent(row, model)
    if kind == "space" and name:
        by_id = tx.one(_SPACES.where(spaces.c.id == name), {"caller": caller.id})
        named = sa.func.lower(spaces.c.name) == name.lower()
        rows = [by_id] if by_id is not None else tx.all(_SPACES.where(named).limit(2), {"caller": caller.id})
        if len(rows) > 1:
            problem = f'You have several spaces with the name "{name}". Use space:<id>.'
            raise Malformed("ambiguous_model", problem, {"path": "model"})
        if rows:
            return _space(rows[0], model)
    raise NotFound(
        "model_not_found",
        f'The model "{model}" does not exist or you do not have access to it. GET /v1/models lists the models: '
        "agent:<name or id> and space:<name or id>.",
        {"path": "model"},
    )


def _agent(row: sa.Row[Any], model: str) -> Model:
    return Model("agent", row.id, model, row.name, row.created_at, row.config.get("speak") != "text")


def _space(row: sa.Row[Any], model: str) -> Model:
    return Model("space", row.id, model, row.name, row.created_at)
