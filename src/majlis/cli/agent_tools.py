"""The tools of an agent, put together here as the gateway would: with the settings and variables of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

import orjson
import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.cli.local import explained, open_foundation
from majlis.cli.command import Where
from majlis.cli.owning import find_entity
from majlis.errors import NotFound
from majlis.logs import set_up_logging
from majlis.models.port import ToolSpec
from majlis.runs.calls.masks import holds_secrets, secrets_in
from majlis.runs.calls.permission import offered_specs
from majlis.runs.calls.tool_port import Tool
from majlis.settings import Settings
from majlis.store.tables import agents
from majlis.store.transactions import Tx
from majlis.tools.toolbox import Allowed, Tools, built_in_tools


class ToolJson(TypedDict):
    name: str
    type: str
    description: str
    inputSchema: dict[str, Any]


@dataclass(frozen=True)
class Box:
    agent_id: str
    agent_name: str
    config: AgentConfig
    tools: Tools

    async def find(self, name: str) -> Tool:
        """Servers are asked only for a tool that is none of the agent's own."""
        found = self.tools.find(self.config, name)
        problems: list[str] = []
        if found is None:
            problems = await self.tools.open(self.config)
            found = self.tools.find(self.config, name)
        if found is None:
            reasons = "".join(f" {problem}" for problem in problems)
            raise NotFound("unknown_tool", f"{self.agent_name} has no tool {name}.{reasons}")
        return found

    def secrets_in(self, name: str, input: str) -> list[str]:
        """Of a call with this input, which fits: what its result must not show."""
        schema = next((spec.schema for spec in self.tools.specs(self.config) if spec.name == name), None)
        return secrets_in(schema, orjson.loads(input)) if schema is not None and holds_secrets(schema) else []

    async def listed(self) -> tuple[list[ToolJson], list[str]]:
        """And what cannot be used."""
        problems = await self.tools.open(self.config)
        kinds: dict[str, str] = {each.name: each.type for each in self.config.tools}
        kinds |= {tool.name: "built-in" for tool in built_in_tools(self.config.mind, self.config.waits)}
        specs = offered_specs(self.config, self.tools.specs(self.config), self.tools.is_own)
        return [_json(spec, kinds.get(spec.name, "mcp")) for spec in specs], problems


@asynccontextmanager
async def opened_box(settings: Settings, name: str) -> AsyncIterator[Box]:
    base = await open_foundation(settings)
    tools = Tools(Allowed.by(settings))
    try:
        with explained(settings):
            agent_id, agent_name, raw = await base.db.read(_load, name)
        config = parse_config(raw)
        yield Box(agent_id, agent_name, config, tools)
    finally:
        await tools.close()
        await base.db.close()


def quietly(where: Where) -> Settings:
    """What goes wrong is printed as a result; the log, with its tracebacks, would only say it again."""
    settings = where.settings()
    set_up_logging(settings.model_copy(update={"log_level": "error"}))
    return settings


def everybodys(settings: Settings) -> tuple[list[ToolJson], list[str]]:
    """What any agent has, and the functions that a config may name; with what is wrong among these."""
    tools = [_json(tool.spec, "built-in") for tool in built_in_tools()]
    functions, problems = Tools(Allowed.by(settings)).functions.listed()
    for each in functions:
        spec = ToolSpec(each.reference, each.signature.description, each.signature.schema)
        tools.append(_json(spec, "python"))
    return tools, problems


def _json(spec: ToolSpec, kind: str) -> ToolJson:
    return {"name": spec.name, "type": kind, "description": spec.description, "inputSchema": spec.schema}


def _load(tx: Tx, name: str) -> tuple[str, str, object]:
    entity = find_entity(tx, name)
    row = tx.one(sa.select(agents.c.config).where(agents.c.id == entity.id))
    if row is None:
        raise NotFound("unknown_agent", f"{entity.name} is no agent but a {entity.type}.")
    return entity.id, entity.name, row.config
