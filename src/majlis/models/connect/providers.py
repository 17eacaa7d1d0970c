"""The providers that a model can be connected from, the best known first.

Models are not listed in our code: `list_models.py` asks the provider for them, and `models/sizes_and_prices.py` knows
sizes and prices. So a new model of a known provider, such as a Gemini model, needs no change.
"""

from __future__ import annotations

from collections.abc import Mapping

from majlis.agents.config.model import ModelChoice, ModelObject
from majlis.model_providers import LOCAL_SERVERS, PROVIDERS, find_key, known_providers, missing_package
from majlis.models.connect.list_models import can_list
from majlis.models.connect.shapes import ProviderJson

# The title, and the page at which people get a key.
_KNOWN: dict[str, tuple[str, str | None]] = {
    "openai": ("OpenAI", "https://platform.openai.com/api-keys"),
    "anthropic": ("Anthropic", "https://console.anthropic.com/settings/keys"),
    "google": ("Google Gemini", "https://aistudio.google.com/apikey"),
    "mistral": ("Mistral", "https://console.mistral.ai/api-keys"),
    "groq": ("Groq", "https://console.groq.com/keys"),
    "openrouter": ("OpenRouter", "https://openrouter.ai/settings/keys"),
    "deepseek": ("DeepSeek", "https://platform.deepseek.com/api_keys"),
    "xai": ("xAI", "https://console.x.ai"),
    "ollama": ("Ollama", None),
    "llamacpp": ("llama.cpp", None),
    "lmstudio": ("LM Studio", None),
    "vllm": ("vLLM", None),
    "azure": ("Azure OpenAI", None),
    "bedrock": ("Amazon Bedrock", None),
    "cerebras": ("Cerebras", None),
    "cohere": ("Cohere", None),
    "fireworks": ("Fireworks", None),
    "google-cloud": ("Google Cloud (Vertex AI)", None),
    "huggingface": ("Hugging Face", None),
    "moonshotai": ("Moonshot AI", None),
    "together": ("Together AI", None),
    "zai": ("Z.ai", None),
}


def title_of(provider: str) -> str:
    return _KNOWN[provider][0] if provider in _KNOWN else provider


def list_providers(environ: Mapping[str, str]) -> list[ProviderJson]:
    rest = [name for name in known_providers() if name not in _KNOWN]
    return [_shown(name, environ) for name in (*_KNOWN, *rest)]


def parts_of(choice: ModelChoice) -> ModelObject:
    if isinstance(choice, ModelObject):
        return choice
    provider, _, name = choice.partition(":")
    return ModelObject(provider=provider, name=name)


def package_for(choice: ModelObject) -> str | None:
    """The command that installs what this model needs."""
    return None if choice.base_url is not None else missing_package(choice.provider)


def needs_key(choice: ModelObject) -> bool:
    """Providers without a usual variable have other ways to sign in, and servers of people may need none."""
    return (
        choice.base_url is None
        and choice.provider not in LOCAL_SERVERS
        and bool(find_key(choice.provider, None, {}).variable)
    )


def _shown(name: str, environ: Mapping[str, str]) -> ProviderJson:
    local = name in LOCAL_SERVERS
    key = find_key(name, None, environ) if name in PROVIDERS and not local else None
    return {
        "name": name,
        "title": title_of(name),
        "local": local,
        "lists": can_list(name),
        "keyVariable": key.variable if key else None,
        "keySet": bool(key and key.value),
        "keyUrl": _KNOWN[name][1] if name in _KNOWN else None,
        "install": missing_package(name),
    }
