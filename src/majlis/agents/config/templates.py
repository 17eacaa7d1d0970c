"""Templates in a config ({{input.name}}, ${env.NAME}), and the rule that a config contains no secrets."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from majlis.agents.config.types import Matching, refusal

ENV_TEMPLATE = re.compile(r"\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}")
INPUT_TEMPLATE = re.compile(r"\{\{\s*input(?:\.[A-Za-z0-9_-]+)*\s*\}\}")
SECRET_REFERENCE = re.compile(r"(?<![\w:-])secret:([A-Za-z_][A-Za-z0-9_-]{0,63})")
"""In headers and in the environment of an MCP program."""
_SECRET_NAME = re.compile(
    r"authorization|cookie|(?:api|auth|access|private|subscription)key|secret|passw(?:or)?d|credential|token$"
)
_LONG_WORD = re.compile(r"[A-Za-z0-9]{20,}")


def refuse_unknown_template(text: str, *at: str | int) -> None:
    rest = INPUT_TEMPLATE.sub(" ", ENV_TEMPLATE.sub(" ", text))
    if "{{" in rest or "${" in rest:
        raise refusal(
            "has an unknown template; write {{input.name}} for input from the model and ${env.NAME} for a secret", *at
        )


def refuse_secret(
    name: str, value: str, *at: str | int, input_allowed: bool = True, stored_allowed: bool = False
) -> None:
    """In a query or a body the model may fill in the value (`pageToken`): then it is not a stored secret."""
    filled_in = ENV_TEMPLATE.search(value) or (input_allowed and INPUT_TEMPLATE.search(value))
    filled_in = filled_in or (stored_allowed and SECRET_REFERENCE.search(value))
    if _SECRET_NAME.search(re.sub(r"[^a-z]", "", name.lower())) and not filled_in:
        raise refusal(
            "looks like a secret, and a config must not contain secrets; "
            + ("store it and write secret:NAME, or " if stored_allowed else "")
            + "put it into an environment variable and write ${env.NAME} instead",
            *at,
        )


def _not_a_key(name: str) -> str:
    if name.upper().startswith("MAJLIS_"):
        raise refusal("must not be a variable of Majlis itself, whose secrets give access to this gateway")
    if any(re.search(r"[0-9]", word) for word in _LONG_WORD.findall(name)):
        raise refusal("looks like the key itself; put it into an environment variable and write the variable's name")
    return name


EnvName = Annotated[
    str,
    Matching(
        r"[A-Za-z_][A-Za-z0-9_]{0,127}",
        'should be the name of an environment variable, for example "OPENAI_API_KEY", not the key itself',
    ),
    AfterValidator(_not_a_key),
]
