"""The two things that are filled in when a tool is called: {{input.name}} and ${env.NAME}. A typo is never sent."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import JsonValue

from majlis.agents.config.types import refusal

ENV_TEMPLATE = re.compile(r"\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}")
INPUT_TEMPLATE = re.compile(r"\{\{\s*input(?:\.[A-Za-z0-9_-]+)*\s*\}\}")


def refuse_unknown_template(text: str, *at: str | int) -> None:
    rest = INPUT_TEMPLATE.sub(" ", ENV_TEMPLATE.sub(" ", text))
    if "{{" in rest or "${" in rest:
        raise refusal(
            "has a template that is not understood; write {{input.name}} for what the model gives "
            "and ${env.NAME} for a secret",
            *at,
        )


def texts_in(value: JsonValue, *at: str | int) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every text in a template that is itself JSON, with the way to it."""
    match value:
        case str():
            yield value, at
        case dict():
            for key, child in value.items():
                yield from texts_in(child, *at, key)
        case list():
            for index, child in enumerate(value):
                yield from texts_in(child, *at, index)
