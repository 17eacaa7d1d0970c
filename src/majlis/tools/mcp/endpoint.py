"""How to reach a server of a config, if the settings allow it: a URL with headers, or a command."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.agents.config.mcp import McpServer
from majlis.errors import Forbidden
from majlis.tools.http.request import Filler, in_header, in_query, unencoded
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.reach.target import parse_target


@dataclass(frozen=True)
class Route:
    """Either `url` and `headers`, or `argv` and `env`."""

    url: str
    headers: dict[str, str]
    argv: tuple[str, ...]
    env: dict[str, str]


def find_route(config: McpServer, reach: Reach, secrets: Secrets, commands: frozenset[str]) -> Route:
    """Raises Forbidden. The address is checked again for every request."""
    filler = Filler({}, secrets)
    if config.url is not None:
        url = filler.text(config.url, in_query)
        reach.check_host(parse_target(url))
        headers = {name: filler.text(value, in_header) for name, value in (config.headers or {}).items()}
        return Route(url, headers, (), {})
    program = config.argv[0]
    if program not in commands and "*" not in commands:
        raise Forbidden("command_not_allowed", f"the program {program} is not allowed by the setting mcp_commands.")
    env = {name: filler.text(value, unencoded) for name, value in (config.env or {}).items()}
    return Route("", {}, config.argv, env)
