"""The way to a server that a config names, if the settings allow it: an address with headers, or a command."""

from __future__ import annotations

from dataclasses import dataclass

from majlis.agents.config.mcp import McpServer
from majlis.errors import Forbidden
from majlis.tools.http.fill import Filling, as_it_is, in_header, in_query
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from majlis.tools.reach.target import parse_target


@dataclass(frozen=True)
class Route:
    """Either a URL, with the `headers` for it, or a command, with the variables that it gets."""

    url: str
    headers: dict[str, str]
    argv: tuple[str, ...]
    env: dict[str, str]


def find_route(config: McpServer, reach: Reach, secrets: Secrets, commands: frozenset[str]) -> Route:
    """Raises what is not allowed. The address is checked again for every request."""
    filling = Filling({}, secrets)
    if config.url is not None:
        url = filling.text(config.url, in_query)
        reach.check_host(parse_target(url))
        headers = {name: filling.text(value, in_header) for name, value in (config.headers or {}).items()}
        return Route(url, headers, (), {})
    program = config.argv[0]
    if program not in commands and "*" not in commands:
        raise Forbidden("command_not_allowed", f"the program {program} is not among mcp_commands in the settings.")
    env = {name: filling.text(value, as_it_is) for name, value in (config.env or {}).items()}
    return Route("", {}, config.argv, env)
