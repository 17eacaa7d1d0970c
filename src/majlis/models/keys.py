"""Where a provider's key comes from: an environment variable of ours, read when the model is opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# What pydantic-ai 2.66 reads for each provider, first found first; kept here because its import costs seconds.
USUAL: dict[str, tuple[str, ...]] = {
    "alibaba": ("ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("CO_API_KEY",),
    "crusoe": ("CRUSOE_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "gateway": ("PYDANTIC_AI_GATEWAY_API_KEY", "PAIG_API_KEY"),
    "github": ("GITHUB_API_KEY",),
    "github-copilot": ("GITHUB_COPILOT_API_KEY", "GITHUB_COPILOT_API_TOKEN", "COPILOT_GITHUB_TOKEN"),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "heroku": ("HEROKU_INFERENCE_KEY",),
    "huggingface": ("HF_TOKEN",),
    "meta": ("META_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "moonshotai": ("MOONSHOTAI_API_KEY",),
    "nebius": ("NEBIUS_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ovhcloud": ("OVHCLOUD_API_KEY",),
    "sambanova": ("SAMBANOVA_API_KEY",),
    "snowflake": ("SNOWFLAKE_TOKEN",),
    "system-one": ("SYSTEM_ONE_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "typesafe": ("TYPESAFE_API_KEY",),
    "vercel": ("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
    "vllm": ("VLLM_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
}
# Several names before the colon belong to one provider and one key.
_FAMILIES = ("openai", "azure", "bedrock", "google")


@dataclass(frozen=True)
class Key:
    """`variable` is the one it was found in, or the one to set; None when the provider has no usual one."""

    variable: str | None
    value: str | None = field(default=None, repr=False)


def find_key(provider: str, variable: str | None, environ: Mapping[str, str]) -> Key:
    names = (variable,) if variable else usual_variables(provider)
    for name in names:
        if environ.get(name):
            return Key(name, environ[name].strip())
    return Key(names[0] if names else None)


def usual_variables(provider: str) -> tuple[str, ...]:
    if provider.startswith("gateway/"):
        return USUAL["gateway"]
    family = next((family for family in _FAMILIES if provider.startswith(f"{family}-")), provider)
    return USUAL.get(provider) or USUAL.get(family, ())


def keys_set(environ: Mapping[str, str]) -> list[str]:
    """The names of the variables that hold a provider's key."""
    return sorted({name for names in USUAL.values() for name in names if environ.get(name)})
