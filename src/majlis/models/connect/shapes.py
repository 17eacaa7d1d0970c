"""The shapes of models and providers in the API."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict


class ProviderJson(TypedDict):
    """`keyVariable` is the usual environment variable of the key, `install` the command for a package that is missing.
    `local`: a server that people run themselves. `lists`: it can be asked which models it offers."""

    name: str
    title: str
    local: bool
    lists: bool
    keyVariable: str | None
    keySet: bool
    keyUrl: str | None
    install: str | None


class KeyJson(TypedDict):
    """`name` is `secret:NAME` or an environment variable; null if the model needs no key."""

    name: str | None
    set: bool


class AgentNameJson(TypedDict):
    id: str
    name: str


class InUseJson(TypedDict):
    """A model of agents. `model` is as in a config, `title` is `provider:name`."""

    model: Any
    title: str
    key: KeyJson
    install: str | None
    agents: list[AgentNameJson]


class ConnectedJson(InUseJson):
    name: str
    default: bool
    createdAt: str


class DemoJson(TypedDict):
    """`model` is the setting `demo_model`, `agents` those with the model `demo`."""

    model: str
    agents: list[AgentNameJson]


class ModelsJson(TypedDict):
    """`others` are models of agents that are not connected under a name."""

    models: list[ConnectedJson]
    others: list[InUseJson]
    demo: DemoJson


class ProblemJson(TypedDict):
    """`detail` has the server's own words, shortened."""

    code: str
    message: str
    detail: str


class LookJson(TypedDict):
    models: list[str]
    problem: ProblemJson | None


class SizeJson(TypedDict):
    """How many tokens a request may have, and who says so: the model's server, the table of known models, or the
    default."""

    tokens: int
    source: Literal["server", "known", "default"]


class TestJson(TypedDict):
    """`text` is what the model answered, and `callsTools` says if it used the tool that it was offered. `context` is
    null if there is a problem."""

    text: str
    callsTools: bool
    millis: int
    context: SizeJson | None
    problem: ProblemJson | None


class FoundJson(TypedDict):
    provider: str
    title: str
    baseUrl: str
    models: list[str]
