"""The model of an agent: "demo", "provider:name", or an object with more settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, Tag, model_validator

from majlis.agents.config.http import BaseUrl
from majlis.agents.config.templates import EnvName
from majlis.agents.config.types import JsonObject, Matching, Maybe, Wire, form_of, refusal
from majlis.model_providers import LOCAL_SERVERS, PROVIDERS, known_providers, meant_provider

DEMO = "demo"


def _check_provider(provider: str, *at: str) -> None:
    if provider in PROVIDERS or provider in LOCAL_SERVERS:
        return
    meant = meant_provider(provider)
    advice = f'; use "{meant}"' if meant else f", which is one of {', '.join(known_providers())}"
    raise refusal(f"does not name a known provider{advice}", *at)


def _known_model(text: str) -> str:
    if text != DEMO:
        _check_provider(text.partition(":")[0])
    return text


ModelName = Annotated[str, Matching(r"[!-~]{1,200}", "should be the provider's name for the model, without spaces")]
ModelText = Annotated[
    str,
    Matching(rf"{DEMO}|[!-9;-~]+:[!-~]{{1,200}}", 'should be "provider:name", for example "openai:gpt-5.2", or "demo"'),
    AfterValidator(_known_model),
]
Penalty = Annotated[float, Field(ge=-2, le=2)]


class ModelSettings(Wire):
    """Named as in pydantic-ai's ModelSettings; omitted settings use the provider's default.

    Without tool choice, retries and caching, which the run decides, and without headers, which often contain secrets.
    """

    max_tokens: Maybe[Annotated[int, Field(ge=1, le=10_000_000)]] = None
    temperature: Maybe[Annotated[float, Field(ge=0, le=2)]] = None
    top_p: Maybe[Annotated[float, Field(ge=0, le=1)]] = None
    top_k: Maybe[Annotated[int, Field(ge=1)]] = None
    seed: Maybe[int] = None
    stop_sequences: Maybe[Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(max_length=16)]] = None
    presence_penalty: Maybe[Penalty] = None
    frequency_penalty: Maybe[Penalty] = None
    logit_bias: Maybe[dict[str, Annotated[int, Field(ge=-100, le=100)]]] = None
    parallel_tool_calls: Maybe[bool] = None
    thinking: Maybe[bool | Literal["minimal", "low", "medium", "high", "xhigh", "max"]] = None
    service_tier: Maybe[Literal["auto", "default", "flex", "priority"]] = None
    timeout: Maybe[Annotated[float, Field(gt=0, le=3600)]] = None
    """Seconds per request."""
    extra_body: Maybe[JsonObject] = None
    """Added unchanged to the body of each request, for options of a particular server."""


class ModelObject(Wire):
    provider: Annotated[str, Matching(r"[!-9;-~]{1,64}", "should be a provider's name, without spaces and colons")]
    """A provider of the model library. With `baseUrl`, any name."""
    name: ModelName
    base_url: Maybe[BaseUrl] = None
    """A server with the streaming Chat Completions protocol (llama.cpp, vLLM, Ollama, LM Studio …). With the providers
    anthropic, google and openai-responses, a server with their own protocol."""
    api_key_env: Maybe[EnvName] = None
    """Default: the provider's usual environment variable."""
    api_key: Maybe[
        Annotated[
            str,
            Matching(
                r"secret:[A-Za-z_][A-Za-z0-9_-]{0,63}",
                'should be "secret:NAME", the name of a stored secret, not the key itself',
            ),
        ]
    ] = None
    """A stored secret as `secret:NAME`, instead of `apiKeyEnv`."""
    settings: ModelSettings = ModelSettings()

    @model_validator(mode="after")
    def _provider_is_known(self) -> Self:
        if self.base_url is None:
            _check_provider(self.provider, "provider")
        if self.api_key is not None and self.api_key_env is not None:
            raise refusal('cannot be used together with "apiKeyEnv"; remove one of them', "apiKey")
        return self


ModelChoice = Annotated[
    Annotated[ModelText, Tag("text")] | Annotated[ModelObject, Tag("object")],
    form_of({str: "text", dict: "object", ModelObject: "object"}, 'should be "demo", "provider:name" or an object'),
]


def model_name(choice: ModelChoice | Mapping[str, Any]) -> str:
    """`provider:name` of a choice, parsed or as stored."""
    match choice:
        case str():
            return choice
        case ModelObject():
            return f"{choice.provider}:{choice.name}"
    return f"{choice.get('provider')}:{choice.get('name')}"
