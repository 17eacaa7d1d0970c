"""A config names secrets and never holds them: what has to come from an environment variable."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from majlis.agents.config.templates import ENV_TEMPLATE, INPUT_TEMPLATE
from majlis.agents.config.types import Matching, refusal

_SECRET_NAME = re.compile(
    r"authorization|cookie|(?:api|auth|access|private|subscription)key|secret|passw(?:or)?d|credential|token$"
)
_KEY_LIKE = re.compile(r"(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}")


def refuse_secret_header(name: str, value: str) -> None:
    if is_secret_name(name) and not ENV_TEMPLATE.search(value):
        _refuse(name)


def refuse_secret_value(name: str, value: str, *at: str | int) -> None:
    """In a query or a body a model may fill in the value (`pageToken`), so that is no stored secret."""
    if is_secret_name(name) and not ENV_TEMPLATE.search(value) and not INPUT_TEMPLATE.search(value):
        _refuse(*at)


def is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(re.sub(r"[^a-z]", "", name.lower())) is not None


def _refuse(*at: str | int) -> None:
    raise refusal(
        "looks like a secret, and a config never holds one; put it into an environment variable "
        "and write ${env.NAME} in its place",
        *at,
    )


def _not_a_key(name: str) -> str:
    if name.upper().startswith("MAJLIS_"):
        raise refusal("must not be a variable of Majlis itself: what it holds opens this gateway")
    if _KEY_LIKE.search(name):
        raise refusal(
            "looks like a key itself; put the key into an environment variable and write that variable's name"
        )
    return name


EnvName = Annotated[
    str,
    Matching(
        r"[A-Za-z_][A-Za-z0-9_]{0,127}",
        'should be the name of an environment variable, for example "OPENAI_API_KEY", not the key itself',
    ),
    AfterValidator(_not_a_key),
]
