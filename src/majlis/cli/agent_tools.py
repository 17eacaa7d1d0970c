"""The tools of agents for `majlis tool` and `majlis mcp`, with the settings and environment of this machine."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypedDict, cast

import orjson
import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.agents.config.mcp import McpServer
from majlis.cli.local import explained, find_entity, open_foundation
from majlis.cli.lookup import not_an_agent
from majlis.cli.terminal import note
from majlis.errors import ConfigurationError, Invalid, MajlisError, NotFound
from majlis.foundation import owner_caller
from majlis.hosts import parse_target
from majlis.models.port import ToolSpec
from majlis.runs.calls.call import outcome
from majlis.runs.calls.masks import holds_secrets, secrets_in
from majlis.runs.calls.permission import offered_specs
from majlis.runs.calls.tool_port import Tool
from majlis.secret_store import Cipher, SecretStore
from majlis.settings import Settings
from majlis.store import ids
from majlis.store.tables import agents
from majlis.store.transactions import Tx
from majlis.tool_decorator import ToolContext
from majlis.tools.mcp.endpoint import find_route
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.toolbox import Allowed, Tools, built_in_tools


class ToolJson(TypedDict):
    name: str
    type: str
    description: str
    inputSchema: dict[str, Any]


class ServerJson(TypedDict):
    server: str
    problem: str | None
    notAllowed: str | None
    tools: list[dict[str, Any]]


@dataclass(frozen=True)
class AgentTools:
    agent_id: str
    agent_name: str
    config: AgentConfig
    tools: Tools

    async def listed(self) -> tuple[list[ToolJson], list[str]]:
        """The tools that the model is offered, and the problems of tools that cannot be used."""
        problems = await self.tools.open(self.config)
        kinds: dict[str, str] = {each.name: each.type for each in self.config.tools}
        kinds |= {tool.name: "built-in" for tool in built_in_tools(self.config.mind, self.config.waits)}
        specs = offered_specs(self.config, self.tools.specs(self.config))
        return [_json(spec, kinds.get(spec.name, "mcp")) for spec in specs], problems

    async def call(self, name: str, input: str) -> tuple[Any, str, float]:
        """Calls a tool as a run would. Returns the result, the state and the seconds it took."""
        found = await self._find(name)
        if not found.outside:
            why = "asks people in a space" if found.own else "is built in and needs a run"
            raise Invalid("built_in_tool", f"{name} {why}. Ask {self.agent_name} in a space instead.")
        try:
            given = found.parse(input)
        except Invalid as error:
            raise ConfigurationError(error.message) from None
        run_id = ids.new("run")
        context = ToolContext(self.agent_id, self.agent_name, run_id, None, None, f"{run_id}:test", note)
        schema = next((spec.schema for spec in self.tools.specs(self.config) if spec.name == name), None)
        secrets = secrets_in(schema, orjson.loads(input)) if schema is not None and holds_secrets(schema) else []
        began = time.perf_counter()
        result, state = await outcome(found, context, given, secrets)
        return result, state, time.perf_counter() - began

    async def _find(self, name: str) -> Tool:
        """Contacts MCP servers only if the tool is not one of the agent's own."""
        found = self.tools.find(self.config, name)
        problems: list[str] = []
        if found is None:
            problems = await self.tools.open(self.config)
            found = self.tools.find(self.config, name)
        if found is None:
            raise NotFound("unknown_tool", " ".join([f"{self.agent_name} has no tool {name}.", *problems]))
        return found


@asynccontextmanager
async def opened_tools(settings: Settings, agent: str) -> AsyncIterator[AgentTools]:
    base = await open_foundation(settings)
    tools = Tools(Allowed.by(settings))
    try:
        with explained(settings):
            agent_id, name, config = await base.db.read(_load, agent)
        yield AgentTools(agent_id, name, parse_config(config), tools)
    finally:
        await tools.close()
        await base.db.close()


def _load(tx: Tx, name: str) -> tuple[str, str, object]:
    entity = find_entity(tx, name)
    row = tx.one(sa.select(agents.c.config).where(agents.c.id == entity.id))
    if row is None:
        raise not_an_agent(entity.name, entity.type)
    return entity.id, entity.name, row.config


def available_tools(settings: Settings) -> tuple[list[ToolJson], list[str]]:
    """The built-in tools and the functions that a config may name, and the problems with functions."""
    tools = [_json(tool.spec, "built-in") for tool in built_in_tools()]
    functions, problems = Tools(Allowed.by(settings)).functions.listed()
    for each in functions:
        spec = ToolSpec(each.reference, each.signature.description, each.signature.schema)
        tools.append(_json(spec, "python"))
    return tools, problems


def _json(spec: ToolSpec, kind: str) -> ToolJson:
    return {"name": spec.name, "type": kind, "description": spec.description, "inputSchema": spec.schema}


async def probe_servers(settings: Settings, agent: str) -> list[ServerJson]:
    async with opened_tools(settings, agent) as found:
        return [await _probe(found.tools, each, None) for each in found.config.mcp]


async def probe_server(settings: Settings, words: list[str]) -> ServerJson:
    """Connects to a server by its URL or command, even if the settings do not allow it for agents."""
    server = _server(words)
    if server.url is None:
        allowed = Allowed(commands=["*"])
    else:
        target = parse_target(server.url)
        host = f"[{target.host}]" if ":" in target.host else target.host
        allowed = Allowed(private_hosts=[f"{host}:{target.port}"], env=settings.tool_env)
    tools = Tools(allowed)
    try:
        return await _probe(tools, server, await _not_allowed(settings, server))
    finally:
        await tools.close()


async def begin_sign_in(
    settings: Settings, name: str, url: str, scope: str | None, client_id: str | None, client_secret: str | None
) -> dict[str, Any]:
    from majlis.tools.mcp.sign_in import Wanted, begin

    base = await open_foundation(settings)
    try:
        with explained(settings):
            caller = await base.db.read(owner_caller, base.owner_id)
            store = SecretStore(base.db, Cipher(base.hasher.secret_key))
            reach = Reach(settings.tool_hosts, settings.tool_private_hosts)
            back = f"{settings.public_url or f'http://{settings.host}:{settings.port}'}/mcp-sign-in"
            return await begin(base.db, store, reach, caller, Wanted(name, url, scope, client_id, client_secret), back)
    finally:
        await base.db.close()


def _server(words: list[str]) -> McpServer:
    by_url = len(words) == 1 and "://" in words[0]
    described = {"name": "server", "url": words[0]} if by_url else {"name": "server", "command": words}
    try:
        return parse_config({"mcp": [described]}).mcp[0]
    except Invalid as error:
        [first, *_] = cast(list[dict[str, str]], error.details["errors"])
        raise ConfigurationError(f"{words[0]} is not a valid MCP server: it {first['message']}.") from None


async def _not_allowed(settings: Settings, server: McpServer) -> str | None:
    reach = Reach(settings.tool_hosts, settings.tool_private_hosts)
    try:
        await find_route(server, reach, Secrets(settings.tool_env), frozenset(settings.mcp_commands))
    except MajlisError as error:
        return error.message
    return None


async def _probe(tools: Tools, server: McpServer, not_allowed: str | None) -> ServerJson:
    problem = await tools.servers.open(server)
    offered = {} if problem else tools.servers.offered(server)
    listed = [
        {"name": each.tool, "calledAs": name, "description": each.spec.description, "inputSchema": each.spec.schema}
        for name, each in offered.items()
    ]
    shown = server.url or " ".join(server.argv)
    return {"server": shown, "problem": problem, "notAllowed": not_allowed, "tools": listed}
