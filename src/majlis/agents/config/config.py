"""The agent config: validated completely when it is parsed."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from majlis.agents.config.heartbeat import Heartbeat, Timezone
from majlis.agents.config.limits import Consciousness, Limits
from majlis.agents.config.mcp import McpServers
from majlis.agents.config.model import DEMO, ModelChoice, ModelObject, model_name
from majlis.agents.config.plain_json import refuse_unsafe_json
from majlis.agents.config.policy import Policy
from majlis.agents.config.problems import Problem, problems_of, refused
from majlis.agents.config.tools import Tools
from majlis.agents.config.types import Wire
from majlis.model_providers import missing_package

EntityId = Annotated[str, StringConstraints(pattern=r"^ent_[0-9a-z]{16}$")]
ServiceName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class AgentConfig(Wire):
    """Everything has a default: `{}` is an agent with the demo model and no instructions.

    Settings of another mind (`waits`, `layout`, `projection`, `consciousness`) are kept without effect, so that you can
    change the mind and change it back.
    """

    instructions: str = ""
    model: ModelChoice = DEMO
    """One of "demo", "provider:name" or an object."""
    mind: Literal["timeline", "consciousness", "roles", "outside"] = "timeline"
    """How the agent perceives and acts. `outside`: a program of yours takes its events and answers."""
    acts_for: Literal["asker", "itself"] = "asker"
    """Whose rights the agent uses to read and post across spaces: those of the person who asked, or its own."""
    waits: bool = True
    """Timeline only: `send_message` can wait for a reply."""
    speak: Literal["tool", "text"] = "tool"
    """`tool`: the agent speaks with `send_message`. `text`: its final text is posted as its message."""
    guard: bool = True
    """A message is held back if a new message may change it: the model reads the new one and decides again. No effect
    in `roles` and `outside`."""
    layout: Literal["stable", "classic"] = "stable"
    """Timeline only: the order of the blocks in its context."""
    window: Annotated[int, Field(ge=2, le=500)] = 50
    """How many messages of a space the agent sees."""
    context_tokens: Annotated[int, Field(ge=4_000, le=100_000_000)] | None = None
    """The most tokens that a request may contain. Default: the known size of the model, what its server says, or
    32,000."""
    vision: bool | None = None
    """Shows the model pictures. Without it, they are shown until its provider refuses them."""
    timezone: Timezone = "UTC"
    """For its plans and heartbeat."""
    projection: Literal["portable", "seed"] = "portable"
    """Roles only: how other agents' messages are shown."""
    tools: Tools = ()
    mcp: McpServers = ()
    policy: Policy = ()
    """Which tools need a person's approval, and which are forbidden."""
    limits: Limits = Limits()
    consciousness: Consciousness = Consciousness()
    addable_by: Literal["anyone", "admins"] | Annotated[tuple[EntityId, ...], Field(max_length=100)] | None = None
    """Limits who may add the agent to a space: "anyone", "admins" of the gateway, or a list of ids. Default: anyone, or
    admins if the agent acts for itself."""
    accepts_services: Literal["any"] | Annotated[tuple[ServiceName, ...], Field(max_length=100)] = "any"
    """Which services may trigger the agent: "any", or a list of names."""
    heartbeat: Heartbeat | None = None
    """Wakes the agent without an event; off by default."""

    @cached_property
    def model_name(self) -> str:
        return model_name(self.model)


def parse_config(value: object) -> AgentConfig:
    """Raises Invalid with up to 20 problems in its details, each with its path."""
    data = refuse_unsafe_json(value)
    try:
        config = AgentConfig.model_validate_json(data)
    except ValidationError as error:
        raise refused(problems_of(error, value)) from None
    refuse_unsafe_json(dump_config(config))  # the stored form has all defaults and can be larger
    return config


def patch_config(current: AgentConfig, changes: dict[str, object]) -> AgentConfig:
    """JSON Merge Patch on the wire form: null resets a setting to its default, arrays are replaced."""
    refuse_unsafe_json(changes)
    return parse_config(merge_patch(dump_config(current), changes))


def merge_patch(target: object, patch: object) -> object:
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def require_package(model: ModelChoice) -> None:
    """Raises Invalid if the provider needs a package that is not installed. Stored configs are not checked again."""
    if isinstance(model, ModelObject) and model.base_url is not None:
        return
    command = missing_package(model_name(model).partition(":")[0])
    if command is not None:
        advice = f"needs a package that is not installed: run {command} where Majlis runs, then restart it"
        raise refused([Problem(("model",), advice)])


def dump_config(config: AgentConfig) -> dict[str, object]:
    """The wire form with all defaults. Only unset optional parts of a model, tool or server are omitted."""
    return config.model_dump(mode="json", by_alias=True)


def config_schema(ref_template: str = "#/$defs/{model}") -> dict[str, object]:
    """JSON Schema of the wire form. It cannot express all rules (names, URLs, secrets)."""
    return AgentConfig.model_json_schema(by_alias=True, ref_template=ref_template)
