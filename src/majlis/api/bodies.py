"""Parameters of requests, and bodies of requests and responses. Requests are strict: an unknown field, a wrong type or
an oversized value is an error with its path."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from majlis.agents.config.policy import MAX_RULES, PolicyRule
from majlis.card_kinds import AskKind
from majlis.clock import parse_iso
from majlis.entities.scopes import ALL_SCOPES, Scope
from majlis.errors import NotFound
from majlis.secret_store import MAX_HOSTS
from majlis.spaces.attachments import MAX_FILES
from majlis.spaces.invites import MAX_USES
from majlis.spaces.post import MAX_MENTIONS
from majlis.spaces.shapes import SpaceRole, Triggers
from majlis.store import ids

Name = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
ShortLine = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
Text = Annotated[str, StringConstraints(max_length=1024 * 1024)]
# A malformed id in a body or a query is a mistake (422); in a path nothing has this id (404).
IdText = Annotated[str, StringConstraints(pattern=r"^[a-z]{3}_[0-9a-z]{16}$")]
AfterId = Annotated[IdText | None, Query(description="The last id of the previous page.")]
ListLimit = Annotated[int, Query(ge=1, le=1000)]
PageLimit = Annotated[int, Query(ge=1, le=200)]


class NoSuchId(NotFound):
    """Raised before authentication, because the path's id is malformed."""


def _known_shape(value: str) -> str:
    if not ids.looks_like_id(value):
        raise NoSuchId("not_found", "Nothing has this id. Check the path.")
    return value


PathId = Annotated[str, AfterValidator(_known_shape)]


def _moment(value: str) -> str:
    parse_iso(value)
    return value


Moment = Annotated[
    str, StringConstraints(max_length=64), AfterValidator(_moment), Field(json_schema_extra={"format": "date-time"})
]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel, validate_by_name=False)

    def changes(self) -> dict[str, Any]:
        """The fields of the request, under their Python names."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class NewEntity(Body):
    type: Literal["human", "service"]
    name: Name
    external_id: Line | None = None
    role: Literal["owner", "admin", "member"] = "member"


class EntityChange(Body):
    name: Name = Field(default="", description="The new name.")
    external_id: Line | None = None
    role: Literal["owner", "admin", "member"] = "member"


class NewToken(Body):
    label: ShortLine | None = None
    expires_at: Moment | None = None
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=len(ALL_SCOPES))] | None = Field(
        default=None, description="Limits the token. Default: the scopes of the token of this request."
    )


class NewSecret(Body):
    value: Annotated[str, StringConstraints(max_length=64 * 1024)] = Field(description="It is never shown again.")
    hosts: Annotated[list[Line], Field(max_length=MAX_HOSTS)] = Field(
        default_factory=list,
        description="The hosts that it may be sent to, such as `api.example.com`, `*.example.com` or `localhost:9000`, "
        "and `command:uvx` for a program of an MCP server. Without hosts: the hosts of known model providers.",
    )


class NewSignIn(Body):
    name: ShortLine = Field(description="A new name, or that of an earlier sign-in to the same server.")
    url: Annotated[str, StringConstraints(min_length=1, max_length=2000)] = Field(description="The MCP server.")
    scope: Line | None = Field(default=None, description="Scopes to ask for. Default: what the server asks for.")
    client_id: Line | None = Field(
        default=None, description="The id of a client that you have registered. Default: the gateway registers itself."
    )
    client_secret: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None


class ModelHosts(Body):
    hosts: Annotated[list[Line], Field(max_length=200)] = Field(
        description="Hosts such as `llm.example.com`, `*.example.com` or `192.168.1.5:11434`."
    )


class SignIn(Body):
    code: Line | None = Field(default=None, description="The code of a one-time sign-in link.")
    token: Line | None = Field(default=None, description="A bearer token to exchange for a session.")


class NewAgent(Body):
    name: Name
    config: dict[str, Any] = Field(default_factory=dict)


class AgentChange(Body):
    name: Name = ""
    config: dict[str, Any] = Field(
        default_factory=dict, description="Merged into the config (JSON Merge Patch); null restores a default."
    )


class MemoryValue(Body):
    value: Text


class Try(Body):
    text: Text = Field(description="The message for the agent.")
    space_id: IdText | None = Field(
        default=None, description="The message's space; you and the agent must be members. Default: a service event."
    )
    config: dict[str, Any] | None = Field(default=None, description="A whole config to try before you save it.")
    ask: bool = Field(default=False, description="Also ask the model, once. Its tool calls are shown, not made.")


class ServiceEvent(Body):
    service_name: ShortLine | None = Field(
        default=None, description="A label beside the name of the service, if it differs from it."
    )
    payload: Any = Field(description="Any JSON, up to 256 KiB and 32 levels deep.")
    event_id: ShortLine | None = Field(default=None, description="A repeated id is delivered once.")


class Direct(Body):
    entity_id: IdText = Field(description="A person or an agent.")


class NewSpace(Body):
    name: Name
    description: Annotated[str, StringConstraints(max_length=4096)] = ""
    triggers: Triggers = "everyone"
    orchestrator_id: IdText | None = None


class SpaceChange(Body):
    name: Name = ""
    description: Annotated[str, StringConstraints(max_length=4096)] = ""
    triggers: Triggers = "everyone"
    orchestrator_id: IdText | None = None
    gather_millis: Annotated[int, Field(ge=0, le=60_000)] = Field(
        default=12_000, description="How long agents' messages gather before they wake other agents; 0: not at all."
    )
    summaries: Literal["on", "off"] = Field(
        default="on", description="`on` summarises messages that left agents' windows; `off` deletes the summaries."
    )
    tool_policy: Annotated[list[PolicyRule], Field(max_length=MAX_RULES)] | None = Field(
        default=None, description="Which tools agents may use here. The first matching rule decides; null allows all."
    )
    max_chain_depth: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None,
        description="How many times in a row agents may reply to each other here; null for the gateway's limit.",
    )


class ToolResult(Body):
    tool_call_id: Annotated[str, StringConstraints(min_length=1, max_length=160)]
    result: Any = Field(
        default=None, description="A value that matches the card's `resultSchema`, or just a boolean or an option."
    )
    decline: bool = Field(
        default=False, description="Decline to answer, instead of a `result`. For cards with `mayDecline`."
    )


class NewAsk(Body):
    space_id: IdText
    kind: AskKind
    question: Text
    options: Annotated[list[Text], Field(max_length=200)] | None = Field(
        default=None, description="The options of a `choice`."
    )
    schema_: dict[str, Any] | None = Field(
        default=None, alias="schema", description="The fields of a `form`, as a JSON Schema of type object."
    )
    from_: Annotated[list[ShortLine], Field(min_length=1, max_length=MAX_MENTIONS)] | None = Field(
        default=None, alias="from", description="Names or ids of the members who can answer. Default: any member."
    )
    need: Annotated[int, Field(ge=1, le=MAX_MENTIONS)] | Literal["any", "all"] = Field(
        default="any", description="How many different members have to answer; `all` needs `from`."
    )
    within: ShortLine | None = Field(default=None, description='Such as "2 hours"; a day by default, at most a week.')
    client_id: ShortLine | None = Field(default=None, description="A repeated request with it returns the first ask.")


class AskResult(Body):
    result: Any = Field(description="A value that matches the ask's `schema`, or just a boolean, an option or a text.")


class NewMember(Body):
    entity_id: IdText
    role: SpaceRole | None = None


class NewInvite(Body):
    role: SpaceRole = Field(default="member", description="In the space.")
    expires_at: Moment | None = Field(default=None, description="Default: in 7 days. At most a year from now.")
    uses: int = Field(default=1, ge=1, le=MAX_USES, description="How many people can join with it.")


class WaitFor(Body):
    from_: Annotated[list[ShortLine], Field(min_length=1, max_length=MAX_MENTIONS)] | None = Field(
        default=None, alias="from", description="Names or ids of the members who can answer."
    )
    need: Annotated[int, Field(ge=1, le=MAX_MENTIONS)] | Literal["any", "all"] = "any"
    within: ShortLine | None = Field(default=None, description='Such as "2 hours"; at most a week.')


Lease = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class HeldEvent(Body):
    id: IdText
    lease: Lease


class Take(Body):
    max: Annotated[int, Field(ge=1, le=20)] = 1
    wait_seconds: Annotated[int | float, Field(ge=0, le=30)] = Field(
        default=0, description="How long to wait for an event if there is none."
    )


class Renewal(Body):
    lease: Lease


class Settlement(Body):
    lease: Lease
    state: Literal["done", "passed", "failed"]
    reason: Annotated[str, StringConstraints(max_length=500)] | None = None


class NewMessage(Body):
    text: Text = Field(description="May be empty if there are files.")
    client_id: ShortLine | None = None
    reply_to: IdText | None = None
    mentions: Annotated[list[IdText], Field(max_length=MAX_MENTIONS)] = Field(default_factory=list)
    session_id: Line | None = None
    files: Annotated[list[IdText], Field(max_length=MAX_FILES)] = Field(
        default_factory=list, description="Ids of files that you uploaded to this space or may read."
    )
    inbox: HeldEvent | None = Field(
        default=None, description="The event of an outside agent that the message is sent for. 409 if its lease ended."
    )
    wait: bool | WaitFor = Field(
        default=False, description="Only with `inbox`: pause the run until the answer, which is the next event."
    )


class ChangedMessage(Body):
    text: Text


class ReadPosition(Body):
    last_message_id: IdText


class NewPhase(Body):
    phase: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    message: Text | None = None
    summary: Text | None = None
    reason: Text | None = None


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, "application/json")


def nothing() -> Response:
    return Response(status_code=204)
