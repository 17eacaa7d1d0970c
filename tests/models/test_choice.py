"""From an agent's model choice to a model, and the log line about keys at startup."""

from __future__ import annotations

from majlis.model_providers import keys_set
from majlis.models import models as opening
from majlis.models.models import Models


async def test_only_so_many_models_are_kept_and_the_latest_used_stay() -> None:
    models = Models({})
    first = models.get("openai:m-first")
    demo = models.get("demo")
    for n in range(opening.KEPT - 1):
        assert models.get("demo") is demo
        models.get(f"openai:m{n}")
    assert models.get("demo") is demo
    assert models.get("openai:m-first") is not first
    await models.close()


def test_the_log_names_variables_and_never_their_values() -> None:
    environ = {"OPENAI_API_KEY": "sk-secret", "GEMINI_API_KEY": "g", "MISTRAL_API_KEY": "", "HOME": "/"}
    assert keys_set(environ) == ["GEMINI_API_KEY", "OPENAI_API_KEY"]
