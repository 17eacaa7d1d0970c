"""OpenAI's protocol: agents and spaces as models, and chat completions (D3)."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import Response
from typing_extensions import TypedDict

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import reply
from majlis.api.completion import open_completion
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.conversations.models import Model, find_model, list_models
from majlis.conversations.post import Ask, post_once
from majlis.errors import Malformed
from majlis.store import ids

router = new_router("openai")

# How long OpenAI's clients wait.
_AGENT_SECONDS = 600
_SPACE_SECONDS = 60
CONVERSATION = "X-Conversation-Id"
# Open WebUI sends it with ENABLE_FORWARD_USER_INFO_HEADERS.
_OPEN_WEBUI = "X-OpenWebUI-Chat-Id"

Short = Annotated[str, StringConstraints(min_length=1, max_length=512)]


class ModelJson(TypedDict):
    id: str
    object: str
    created: int
    owned_by: str


class ModelListJson(TypedDict):
    object: str
    data: list[ModelJson]


class Lenient(BaseModel):
    """Clients send many fields that mean nothing here, such as `temperature`."""

    model_config = ConfigDict(extra="allow")


class ChatMessage(Lenient):
    role: Short
    content: str | list[dict[str, Any]] | None = None


class StreamOptions(Lenient):
    include_usage: bool | None = None


class ConversationId(Lenient):
    id: Short


class ChatRequest(Lenient):
    model: Short = Field(description="`agent:<name or id>` or `space:<name or id>`.")
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=10_000)] = Field(
        description="The last user message is posted. Earlier ones are in the conversation already."
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    conversation: Short | ConversationId | None = Field(
        default=None, description="Your name for the conversation. Default: the header X-Conversation-Id, or `user`."
    )
    user: Annotated[str, StringConstraints(max_length=512)] | None = None
    deadline: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="Seconds to wait for the answer. Default: 600 for an agent, 60 for a space."
    )
    n: int | None = None
    tools: list[Any] | None = None
    functions: list[Any] | None = None


@router.get("/v1/models", response_model=ModelListJson, responses=refusals())
async def list_all(entry: TheEntry) -> Response:
    found = await entry.read(list_models)
    return reply({"object": "list", "data": [_model_json(model) for model in found]})


@router.get("/v1/models/{model:path}", response_model=ModelJson, responses=refusals(404))
async def get_one(entry: TheEntry, model: str) -> Response:
    return reply(_model_json(await entry.read(find_model, model[:512])))


@router.post(
    "/v1/chat/completions",
    response_class=Response,
    responses={
        200: {
            "content": {"application/json": {"schema": {"type": "object"}}, "text/event-stream": {}},
            "description": "A chat completion, or chunks of it with `stream`.",
        },
        **refusals(404, 502, 504),
    },
)
async def complete(
    gateway: TheGateway,
    entry: TheEntry,
    body: ChatRequest,
    named: Annotated[Short | None, Header(alias=CONVERSATION)] = None,
    chat: Annotated[Short | None, Header(alias=_OPEN_WEBUI)] = None,
    key: Annotated[Short | None, Header(alias="Idempotency-Key")] = None,
) -> Response:
    _refuse_unsupported(body)
    conversation, shown = _conversation(body, named or chat, key)
    position = sum(message.role == "user" for message in body.messages)
    alone = position == 1 and all(message.role != "assistant" for message in body.messages)
    ask = Ask(body.model, _last_text(body.messages), conversation, position, alone, key)
    turn = await entry.write(post_once, ask)
    seconds = body.deadline or (_AGENT_SECONDS if turn.model.kind == "agent" else _SPACE_SECONDS)
    with_usage = body.stream_options is not None and bool(body.stream_options.include_usage)
    headers = {CONVERSATION: shown} if shown.isascii() and shown.isprintable() else {}
    return await open_completion(gateway, await entry.caller(), turn, seconds, bool(body.stream), with_usage, headers)


def _conversation(body: ChatRequest, named: str | None, key: str | None) -> tuple[str, str]:
    """The conversation's name in the database, and for the client. Without a name: a new one, which a retry with the
    same key has too."""
    given = body.conversation.id if isinstance(body.conversation, ConversationId) else body.conversation
    name = given or named
    if name is None and body.user:
        return f"user {body.user}", body.user
    name = name or (f"key-{sha256(key.encode()).hexdigest()[:24]}" if key else ids.new("cnv"))
    return f"name {name}", name


def _refuse_unsupported(body: ChatRequest) -> None:
    for name, given in (("tools", body.tools), ("functions", body.functions)):
        if given:
            problem = f"{name} are not supported: agents in Majlis use the tools of their own config. Leave out {name}."
            raise Malformed("tools_not_supported", problem, {"path": name})
    if body.n is not None and body.n != 1:
        raise Malformed("n_not_supported", "n must be 1: an agent answers once.", {"path": "n"})


def _last_text(messages: list[ChatMessage]) -> str:
    last = messages[-1]
    path = {"path": f"messages.{len(messages) - 1}"}
    if last.role != "user":
        problem = f'The last message must have the role "user"; its role is "{last.role}".'
        raise Malformed("last_message_not_user", problem, path)
    if isinstance(last.content, str):
        return last.content
    parts = last.content or []
    if other := [
        part.get("type") for part in parts if part.get("type") != "text" or not isinstance(part.get("text"), str)
    ]:
        problem = f"Content of the type {other[0]} is not supported. Send text."
        raise Malformed("content_not_supported", problem, path)
    return "\n".join(part["text"] for part in parts)


def _model_json(model: Model) -> ModelJson:
    return {"id": model.model, "object": "model", "created": model.created_at // 1000, "owned_by": "majlis"}
