"""What an `http` tool sends when it is called (J4)."""

from __future__ import annotations

from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema, model_validator

from majlis.agents.config.headers import Headers
from majlis.agents.config.secret_rules import refuse_secret_value
from majlis.agents.config.templates import INPUT_TEMPLATE, refuse_unknown_template, texts_in
from majlis.agents.config.types import Maybe, Wire, refusal
from majlis.agents.config.urls import RequestAddress

FORM = "application/x-www-form-urlencoded"
MARKUP = ("xml", "html")
"""In a content type: the body is made of tags."""


def _one_value(value: JsonValue) -> JsonValue:
    if value is None or isinstance(value, dict | list):
        raise refusal("should be text, a number, true or false")
    return value


T = TypeVar("T", bound=JsonValue)


def _safe_to_keep(value: T) -> T:
    for text, at in texts_in(value):
        refuse_unknown_template(text, *at)
        name = next((step for step in reversed(at) if isinstance(step, str)), "")
        refuse_secret_value(name, text, *at)
    return value


QueryValue = Annotated[JsonValue, AfterValidator(_one_value), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class HttpExecution(Wire):
    """Every text in it may hold {{input.name}} and ${env.NAME}; the host of the URL is always written out."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] = "GET"
    url: RequestAddress
    headers: Headers = Field(default_factory=dict)
    query: Annotated[dict[str, QueryValue], AfterValidator(_safe_to_keep)] = Field(default_factory=dict)
    body: Maybe[Annotated[JsonValue, AfterValidator(_safe_to_keep)]] = None
    """Sent as JSON; text is sent as it is."""
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 30
    max_bytes: Annotated[int, Field(ge=1, le=10 * 1024 * 1024)] = 1024 * 1024
    """A longer answer is an error result."""

    @property
    def content_type(self) -> str:
        """As the headers say it; empty if they do not."""
        return next((value for name, value in self.headers.items() if name.lower() == "content-type"), "").lower()

    @model_validator(mode="after")
    def _input_can_be_encoded(self) -> Self:
        """In JSON that is written as text, what a model gives could end a string and add keys of its own."""
        text = self.body if isinstance(self.body, str) else ""
        if "json" in self.content_type and INPUT_TEMPLATE.search(text) and not INPUT_TEMPLATE.fullmatch(text):
            raise refusal("should be an object and not text, so that {{input…}} is encoded as JSON", "body")
        return self
