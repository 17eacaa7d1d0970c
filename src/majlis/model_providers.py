"""The providers that pydantic-ai supports: their keys in the environment, and the optional packages they need.

A copy, because importing the library takes a second and 100 MB. A test compares it with the installed library. It is
not in `models/`, because `agents/config`, a lower room, checks the providers of configs with it.

Models are not listed here or anywhere in our code. A new model of a known provider works by its name, such as
`google:gemini-3-pro`. `models/connect/list_models.py` asks the provider for its models, and
`models/sizes_and_prices.py` looks up sizes and prices in the package `genai-prices`: upgrade it, or set `model_prices`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import version
from importlib.util import find_spec
from typing import NamedTuple

LIBRARY = "pydantic-ai-slim"


class Provider(NamedTuple):
    # Environment variables that may hold the key; the first one that is set is used.
    keys: tuple[str, ...] = ()
    # The optional dependency group of the library; None if it is installed with Majlis.
    extra: str | None = None


# For each optional group, a module that is there once the group is installed.
_MODULES = {
    "bedrock": "boto3",
    "cohere": "cohere",
    "google": "google.genai",
    "groq": "groq",
    "huggingface": "huggingface_hub",
    "mistral": "mistralai",
    "typesafe": "typesafe_sdk",
    "xai": "xai_sdk",
}
_AZURE = Provider(("AZURE_OPENAI_API_KEY",))
_OPENAI = Provider(("OPENAI_API_KEY",))
_GOOGLE = Provider(("GOOGLE_API_KEY", "GEMINI_API_KEY"), "google")
_GATEWAY = Provider(("PYDANTIC_AI_GATEWAY_API_KEY", "PAIG_API_KEY"))

PROVIDERS = {
    "alibaba": Provider(("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
    "anthropic": Provider(("ANTHROPIC_API_KEY",)),
    "azure": _AZURE,
    "azure-responses": _AZURE,
    "bedrock": Provider(("AWS_BEARER_TOKEN_BEDROCK",), "bedrock"),
    "bedrock-mantle": Provider(("AWS_BEARER_TOKEN_BEDROCK",)),
    "cerebras": Provider(("CEREBRAS_API_KEY",)),
    "cohere": Provider(("CO_API_KEY",), "cohere"),
    "crusoe": Provider(("CRUSOE_API_KEY",)),
    "deepseek": Provider(("DEEPSEEK_API_KEY",)),
    "fireworks": Provider(("FIREWORKS_API_KEY",)),
    "gateway/anthropic": _GATEWAY,
    "gateway/bedrock": _GATEWAY._replace(extra="bedrock"),
    "gateway/chat": _GATEWAY,
    "gateway/converse": _GATEWAY._replace(extra="bedrock"),
    "gateway/google": _GATEWAY._replace(extra="google"),
    "gateway/google-cloud": _GATEWAY._replace(extra="google"),
    "gateway/groq": _GATEWAY._replace(extra="groq"),
    "gateway/openai": _GATEWAY,
    "gateway/openai-chat": _GATEWAY,
    "gateway/openai-responses": _GATEWAY,
    "gateway/responses": _GATEWAY,
    "github": Provider(("GITHUB_API_KEY",)),
    "github-copilot": Provider(("GITHUB_COPILOT_API_KEY", "GITHUB_COPILOT_API_TOKEN", "COPILOT_GITHUB_TOKEN")),
    "google": _GOOGLE,
    "google-cloud": _GOOGLE,
    "groq": Provider(("GROQ_API_KEY",), "groq"),
    "heroku": Provider(("HEROKU_INFERENCE_KEY",)),
    "huggingface": Provider(("HF_TOKEN",), "huggingface"),
    "litellm": Provider(),
    "meta": Provider(("META_API_KEY",)),
    "mistral": Provider(("MISTRAL_API_KEY",), "mistral"),
    "moonshotai": Provider(("MOONSHOTAI_API_KEY",)),
    "nebius": Provider(("NEBIUS_API_KEY",)),
    "ollama": Provider(("OLLAMA_API_KEY",)),
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-chatgpt": Provider(),
    "openai-codex": Provider(),
    "openai-decisions": _OPENAI,
    "openai-responses": _OPENAI,
    "openrouter": Provider(("OPENROUTER_API_KEY",)),
    "ovhcloud": Provider(("OVHCLOUD_API_KEY",)),
    "sambanova": Provider(("SAMBANOVA_API_KEY",)),
    "snowflake": Provider(("SNOWFLAKE_TOKEN",)),
    "system-one": Provider(("SYSTEM_ONE_API_KEY",)),
    "together": Provider(("TOGETHER_API_KEY",)),
    "typesafe": Provider(("TYPESAFE_API_KEY",), "typesafe"),
    "vercel": Provider(("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN")),
    "vllm": Provider(("VLLM_API_KEY",)),
    "xai": Provider(("XAI_API_KEY",), "xai"),
    "zai": Provider(("ZAI_API_KEY",)),
}

# A provider's own key goes only to the provider's own host (G6). Providers whose host differs by account have none.
PROVIDER_HOSTS = {
    "alibaba": "dashscope-intl.aliyuncs.com",
    "anthropic": "api.anthropic.com",
    "cerebras": "api.cerebras.ai",
    "cohere": "api.cohere.com",
    "crusoe": "api.inference.crusoecloud.com",
    "deepseek": "api.deepseek.com",
    "fireworks": "api.fireworks.ai",
    "github-copilot": "api.githubcopilot.com",
    "google": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "heroku": "us.inference.heroku.com",
    "huggingface": "router.huggingface.co",
    "meta": "api.meta.ai",
    "mistral": "api.mistral.ai",
    "moonshotai": "api.moonshot.ai",
    "nebius": "api.studio.nebius.com",
    "openai": "api.openai.com",
    "openai-chat": "api.openai.com",
    "openai-decisions": "api.openai.com",
    "openai-responses": "api.openai.com",
    "openrouter": "openrouter.ai",
    "ovhcloud": "oai.endpoints.kepler.ai.cloud.ovh.net",
    "sambanova": "api.sambanova.ai",
    "together": "api.together.xyz",
    "vercel": "ai-gateway.vercel.sh",
    "xai": "api.x.ai",
    "zai": "api.z.ai",
}


# Servers that people run themselves: their usual addresses, for the Chat Completions protocol. They need no key.
# `OLLAMA_BASE_URL` and the like in the environment of Majlis name another address.
LOCAL_SERVERS = {
    "llamacpp": "http://127.0.0.1:8080/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}

# With a `baseUrl`, these still use their own protocol; all others use Chat Completions.
OWN_PROTOCOL = frozenset({"anthropic", "google", "openai-responses"})

# Names that people try, mostly those of models and companies.
_MEANT = {
    "amazon": "bedrock",
    "aws": "bedrock",
    "chatgpt": "openai",
    "claude": "anthropic",
    "copilot": "github-copilot",
    "dashscope": "alibaba",
    "gemini": "google",
    "glm": "zai",
    "google-ai": "google",
    "google-gla": "google",
    "google-vertex": "google-cloud",
    "gpt": "openai",
    "grok": "xai",
    "hf": "huggingface",
    "kimi": "moonshotai",
    "llama": "ollama",
    "llama-cpp": "llamacpp",
    "llama.cpp": "llamacpp",
    "lm-studio": "lmstudio",
    "moonshot": "moonshotai",
    "qwen": "alibaba",
    "togetherai": "together",
    "vertex": "google-cloud",
    "vertexai": "google-cloud",
    "x-ai": "xai",
    "zhipu": "zai",
}


def known_providers() -> list[str]:
    return sorted({*PROVIDERS, *LOCAL_SERVERS})


def meant_provider(name: str) -> str | None:
    """The provider that was probably meant by an unknown name."""
    name = name[:64].lower()
    if name in _MEANT:
        return _MEANT[name]
    close = get_close_matches(name, [*known_providers(), *_MEANT], n=1)
    return _MEANT.get(close[0], close[0]) if close else None


def local_url(provider: str, environ: Mapping[str, str]) -> str | None:
    """Where a server that people run themselves is expected; None for other providers."""
    usual = LOCAL_SERVERS.get(provider)
    return usual and (environ.get(f"{provider.upper()}_BASE_URL", "").strip() or usual)


@dataclass(frozen=True)
class Key:
    """`variable` is the one that holds the key, or else the one to set; None if the provider has no usual one."""

    variable: str | None
    value: str | None = field(default=None, repr=False)


def find_key(provider: str, variable: str | None, environ: Mapping[str, str]) -> Key:
    known = PROVIDERS.get(provider)
    names = (variable,) if variable else known.keys if known else ()
    for name in names:
        if environ.get(name):
            return Key(name, environ[name].strip())
    return Key(names[0] if names else None)


def keys_set(environ: Mapping[str, str]) -> list[str]:
    """The names of the variables that hold a provider's key."""
    return sorted({name for provider in PROVIDERS.values() for name in provider.keys if environ.get(name)})


def missing_package(provider: str) -> str | None:
    """The command that installs what the provider needs; None if nothing is missing."""
    extra = PROVIDERS[provider].extra if provider in PROVIDERS else None
    if extra is None or _is_installed(_MODULES[extra]):
        return None
    return f'pip install "{LIBRARY}[{extra}]=={version(LIBRARY)}"'


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        # The parent of a dotted name is missing.
        return False
