"""How to reach a server of a config, if the settings allow it: a URL with headers, or a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from majlis.agents.config.mcp import McpServer
from majlis.errors import Forbidden
from majlis.hosts import parse_target
from majlis.secret_store import COMMAND
from majlis.tools.http.request import Filler, in_header, in_query, unencoded
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets


@dataclass(frozen=True)
class Route:
    """Either `url` and `headers`, or `argv` and `env`. Without a `transport`, both kinds of HTTP are tried."""

    url: str
    headers: dict[str, str]
    argv: tuple[str, ...]
    env: dict[str, str]
    transport: Literal["http", "sse"] | None = None


async def find_route(config: McpServer, reach: Reach, secrets: Secrets, commands: frozenset[str]) -> Route:
    """Raises Forbidden. The address is checked again for every request."""
    if config.url is not None:
        url = Filler({}, secrets).text(config.url, in_query)
        target = parse_target(url)
        reach.check_host(target)
        given = config.headers or {}
        filler = Filler({}, secrets, await secrets.stored(given.values(), target))
        headers = {name: filler.text(value, in_header, secrets=True) for name, value in given.items()}
        return Route(url, headers, (), {}, config.transport)
    variables = config.env or {}
    _check_command(config.argv, variables, commands)
    program = config.argv[0]
    filler = Filler({}, secrets, await secrets.stored(variables.values(), f"{COMMAND}{program}"))
    env = {name: filler.text(value, unencoded, secrets=True) for name, value in variables.items()}
    return Route("", {}, config.argv, env)


def _check_command(argv: tuple[str, ...], variables: Mapping[str, str], commands: frozenset[str]) -> None:
    """The owner allows whole command lines (G12): with `python3` alone, a config could run any code. Variables are a
    part of the line, before the program: `TOKEN= uvx my-server` allows the variable TOKEN with any value."""
    if "*" in commands:
        return
    for line in commands:
        words = shlex.split(line)
        names = list(takewhile(lambda word: word.endswith("=") and word[:-1].isidentifier(), words))
        if tuple(words[len(names) :]) == argv and {f"{name}=" for name in variables} <= set(names):
            return
    wanted = " ".join([*(f"{name}=" for name in sorted(variables)), shlex.join(argv)])
    raise Forbidden("command_not_allowed", f"the command line {wanted!r} is not allowed by the setting mcp_commands.")
