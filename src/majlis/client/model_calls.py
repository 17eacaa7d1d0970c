"""The calls that connect models. For the owner and admins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from majlis.client import wire
from majlis.client.wire import Call, call

if TYPE_CHECKING:
    from majlis.client import shapes

_LOOK_SECONDS = 15
_ANSWER_SECONDS = 100


class ModelCalls:
    @call
    def list_models(self) -> Call[shapes.ModelsJson]:
        """The connected models, other models of agents, and which agents use each."""
        return wire.get("models")

    @call
    def list_model_providers(self) -> Call[list[shapes.ProviderJson]]:
        return wire.get("models", "providers")

    @call
    def find_local_models(self) -> Call[list[shapes.FoundJson]]:
        """Model servers at their usual ports on the server's machine."""
        return replace(wire.post("models", "find", repeatable=True), waits_seconds=_LOOK_SECONDS)

    @call
    def look_for_models(
        self, provider: str, base_url: str | None = None, key: str | None = None, api_key: str | None = None
    ) -> Call[shapes.LookJson]:
        """Lists the models of a provider. `key` is a key itself, `api_key` a stored one as `secret:NAME`."""
        body = wire.given(provider=provider, base_url=base_url, key=key, api_key=api_key)
        return replace(wire.post("models", "look", body=body, repeatable=True), waits_seconds=_LOOK_SECONDS)

    @call
    def test_model(self, model: Any, key: str | None = None, ask: bool = True) -> Call[shapes.TestJson]:
        """Asks the model to say hello. Without `ask` only its key, its address and its name are checked."""
        body = wire.given(model=model, key=key, ask=ask)
        return replace(wire.post("models", "test", body=body), waits_seconds=_ANSWER_SECONDS)

    @call
    def connect_model(
        self, name: str, model: Any, key: str | None = None, secret: str | None = None, default: bool | None = None
    ) -> Call[shapes.ModelsJson]:
        """Stores a model and its key under a name. `secret` names the key."""
        return wire.put("models", name, body=wire.given(model=model, key=key, secret=secret, default=default))

    @call
    def use_model(self, name: str, agent_ids: Sequence[str] | None = None) -> Call[list[shapes.AgentNameJson]]:
        """Gives agents this model; without ids, all agents with the model `demo`."""
        return wire.post("models", name, "use", body={} if agent_ids is None else {"agents": list(agent_ids)})

    @call
    def remove_model(self, name: str) -> Call[None]:
        return wire.delete("models", name)
