"""Models: connect one, see which agents use it, and make it the default. For the owner and admins."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import Response
from pydantic import Field, StringConstraints

from majlis.agents.config.model import ModelObject
from majlis.api.auth import Entry, TheEntry, TheGateway
from majlis.api.bodies import Body, IdText, Line, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.entities.caller import Caller, require_administrator
from majlis.models.connect.examine import pasted_secret
from majlis.models.connect.providers import list_providers
from majlis.models.connect.registry import (
    connect_model,
    list_models,
    parse_choice,
    remove_model,
    secret_name,
    use_model,
)
from majlis.models.connect.shapes import AgentNameJson, FoundJson, LookJson, ModelsJson, ProviderJson, TestJson
from majlis.secret_store import Cipher, Secret

router = new_router("models")

_Key = Annotated[str, StringConstraints(max_length=16 * 1024)]


class ModelOffer(Body):
    provider: Line
    base_url: Line | None = Field(default=None, description="A server at another address than the provider's own.")
    key: _Key | None = Field(default=None, description="A key that is not stored. It goes only to the provider.")
    api_key: Line | None = Field(default=None, description="A stored key as `secret:NAME`.")
    api_key_env: Line | None = None


class ModelToTest(Body):
    model: Any = Field(description="As in the config of an agent.")
    key: _Key | None = Field(default=None, description="A key that is not stored. It goes only to the provider.")
    ask: bool = Field(default=True, description="Without it nothing is generated: it checks key, address and name.")


class ModelToConnect(Body):
    model: Any = Field(description="As in the config of an agent.")
    key: _Key | None = Field(default=None, description="Stored as a secret, and never shown again.")
    secret: Line | None = Field(
        default=None, description="Name of the secret for the key. Default: by provider or host."
    )
    default: bool | None = Field(
        default=None, description="New agents propose it. The first model becomes the default."
    )


class ModelUse(Body):
    agents: Annotated[list[IdText], Field(max_length=1000)] | None = Field(
        default=None, description="Default: all agents whose model is `demo`."
    )


@router.get("/api/models", response_model=ModelsJson, responses=refusals())
async def list_connected(gateway: TheGateway, entry: TheEntry) -> Response:
    """The connected models, other models of agents, and which agents use the model `demo`."""
    return reply(await entry.read(list_models, os.environ, gateway.settings.demo_model))


@router.get("/api/models/providers", response_model=list[ProviderJson], responses=refusals())
async def list_known(entry: TheEntry) -> Response:
    """Providers, whether the server has their key, and the command that installs a missing package."""
    require_administrator(await entry.caller())
    return reply(list_providers(os.environ))


@router.post("/api/models/look", response_model=LookJson, responses=refusals())
async def look(gateway: TheGateway, entry: TheEntry, body: ModelOffer) -> Response:
    """Asks a provider or a server which models it offers."""
    caller = await _administrator(entry)
    given = {"provider": body.provider, "name": "?", "baseUrl": body.base_url, "apiKeyEnv": body.api_key_env}
    given["apiKey"] = body.api_key
    choice = parse_choice({name: value for name, value in given.items() if value is not None})
    choice, pasted = _keyed(choice, body.key, caller)
    return reply(await gateway.examiner.look(choice, pasted, caller.role == "owner"))


@router.post("/api/models/find", response_model=list[FoundJson], responses=refusals())
async def find(gateway: TheGateway, entry: TheEntry) -> Response:
    """Looks for Ollama, llama.cpp, LM Studio and vLLM at their usual ports on the server's machine."""
    await _administrator(entry)
    return reply(await gateway.examiner.find())


@router.post("/api/models/test", response_model=TestJson, responses=refusals())
async def test(gateway: TheGateway, entry: TheEntry, body: ModelToTest) -> Response:
    """Asks the model to say hello. Nothing is stored, and no agent takes part."""
    caller = await _administrator(entry)
    choice, pasted = _keyed(parse_choice(body.model), body.key, caller)
    return reply(await gateway.examiner.test(choice, pasted, caller.role == "owner", body.ask))


@router.put("/api/models/{name}", response_model=ModelsJson, responses=refusals(409))
async def connect(gateway: TheGateway, entry: TheEntry, name: str, body: ModelToConnect) -> Response:
    """Stores the model and its key under this name, or replaces them. If the owner does it, its host is allowed."""
    caller = await _administrator(entry)
    choice, pasted = _keyed(parse_choice(body.model), body.key, caller, body.secret)
    allow = await gateway.examiner.host_to_allow(choice, pasted, caller.role == "owner")
    cipher = Cipher(gateway.hasher.secret_key)
    await entry.write(connect_model, cipher, name, choice, pasted, body.default, allow)
    return reply(await entry.read(list_models, os.environ, gateway.settings.demo_model))


@router.post("/api/models/{name}/use", response_model=list[AgentNameJson], responses=refusals(404))
async def use(gateway: TheGateway, entry: TheEntry, name: str, body: ModelUse) -> Response:
    """Gives agents this model, from their next run."""
    return reply(await use_model(gateway.db, await _administrator(entry), name, body.agents))


@router.delete("/api/models/{name}", status_code=204, responses=refusals(404, 409))
async def remove(entry: TheEntry, name: str) -> Response:
    """Removes the model, and its key if nothing else uses it. Refused while agents use the model."""
    await entry.write(remove_model, name)
    return nothing()


async def _administrator(entry: Entry) -> Caller:
    caller = await entry.caller()
    require_administrator(caller)
    return caller


def _keyed(
    choice: ModelObject, key: str | None, caller: Caller, secret: str | None = None
) -> tuple[ModelObject, Secret | None]:
    if not key:
        return choice, None
    return pasted_secret(choice, secret or secret_name(choice), key, caller.role == "owner")
