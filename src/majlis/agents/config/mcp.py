"""MCP servers whose tools an agent may use: reached by URL, or started as a command."""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, Tag, model_validator

from majlis.agents.config.http import Headers, ServerUrl
from majlis.agents.config.templates import INPUT_TEMPLATE, refuse_secret, refuse_unknown_template
from majlis.agents.config.types import Matching, Maybe, Name, Wire, form_of, names_differ, refusal


def _splits(line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        raise refusal("has an unclosed quote; close it, or write the command as an array") from None
    if not words or not words[0]:
        raise refusal("should name a program")
    return line


def _names_a_program(words: tuple[str, ...]) -> tuple[str, ...]:
    if not words or not words[0].strip():
        raise refusal("should start with the name of a program")
    return words


def _listed_once(names: tuple[str, ...]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise refusal("is listed twice; remove one", index)
    return names


Command = Annotated[
    Annotated[str, AfterValidator(_splits), Tag("line")]
    | Annotated[tuple[str, ...], AfterValidator(_names_a_program), Tag("words")],
    form_of({str: "line", list: "words", tuple: "words"}, "should be text or an array of texts"),
]


def _check_env(env: dict[str, str]) -> dict[str, str]:
    for name, value in env.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,127}", name):
            raise refusal("is not the name of an environment variable", name)
        refuse_unknown_template(value, name)
        if INPUT_TEMPLATE.search(value):
            raise refusal("cannot use {{input…}}: a call does not start the server", name)
        refuse_secret(name, value, name, stored_allowed=True)
    return env


SignInName = Annotated[
    str, Matching(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", "should be the name of a sign-in: letters, digits, _ and -")
]
ForeignToolName = Annotated[str, Field(min_length=1, max_length=128)]


Visible = Annotated[
    Annotated[bool, Tag("all")] | Annotated[tuple[ForeignToolName, ...], AfterValidator(_listed_once), Tag("listed")],
    form_of({bool: "all", list: "listed", tuple: "listed"}, "should be true, false or an array of names"),
]


class McpServer(Wire):
    name: Name
    url: Maybe[ServerUrl] = None
    headers: Maybe[Headers] = None
    """Sent to the `url`."""
    oauth: Maybe[SignInName] = None
    """For a `url`: the name of the gateway's sign-in to this server, which an admin has started."""
    command: Maybe[Command] = None
    """Program and arguments, as an array or as one line with shell quoting; no shell runs it."""
    env: Maybe[Annotated[dict[str, str], AfterValidator(_check_env)]] = None
    """Environment variables for the `command`; it inherits no others. Write secrets as secret:NAME or ${env.NAME}."""
    timeout_seconds: Maybe[Annotated[int, Field(ge=1, le=600)]] = None
    """For one call. Default: 60."""
    allowed_tools: Maybe[Annotated[tuple[ForeignToolName, ...], AfterValidator(_listed_once)]] = None
    """Default: all tools of the server."""

    visible: Maybe[Visible] = None
    """Show calls, results and progress in the active space: of all tools of the server, or of those listed."""
    transport: Maybe[Literal["http", "sse"]] = None
    """For a `url`. Default: streamable HTTP, or the older SSE if the server does not have it."""

    def shows(self, tool: str) -> bool:
        return self.visible if isinstance(self.visible, bool) else tool in (self.visible or ())

    @property
    def argv(self) -> tuple[str, ...]:
        """The command as program and arguments; empty for a server with a URL."""
        return tuple(shlex.split(self.command)) if isinstance(self.command, str) else self.command or ()

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if (self.url is None) == (self.command is None):
            raise refusal('should have either "url" or "command"')
        if self.headers is not None and self.url is None:
            raise refusal('goes with "url" only; remove it', "headers")
        if self.oauth is not None and self.url is None:
            raise refusal('goes with "url" only; remove it', "oauth")
        if self.oauth is not None and any(name.lower() == "authorization" for name in self.headers or ()):
            raise refusal("is replaced by the token of oauth; remove one of them", "headers", "Authorization")
        if self.transport is not None and self.url is None:
            raise refusal('goes with "url" only; remove it', "transport")
        if self.env is not None and self.command is None:
            raise refusal('goes with "command" only; remove it', "env")
        return self


McpServers = Annotated[tuple[McpServer, ...], Field(max_length=32), AfterValidator(names_differ)]
