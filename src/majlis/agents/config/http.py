"""HTTP in a config: URLs, headers, and the request of an `http` tool (J4)."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self, TypeVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema, model_validator

from majlis.agents.config.templates import ENV_TEMPLATE, INPUT_TEMPLATE, refuse_secret, refuse_unknown_template
from majlis.agents.config.types import Maybe, Wire, refusal, walk

FORM = "application/x-www-form-urlencoded"
MARKUP = ("xml", "html")
"""Content types whose body consists of tags contain one of these."""
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


def _check_base_url(text: str) -> str:
    parts = _split(text)
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise refusal("should end with its path, without ? or #")
    return text


def _check_server_url(text: str) -> str:
    if INPUT_TEMPLATE.search(text):
        raise refusal("cannot use {{input…}}: a call does not choose the server")
    return _check_request_url(text)


def _check_request_url(text: str) -> str:
    """The model must not choose the host."""
    refuse_unknown_template(text)
    authority = re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0]
    if INPUT_TEMPLATE.search(authority) or ENV_TEMPLATE.search(authority):
        raise refusal("should have a fixed host; use templates only in the path and the query")
    _split(INPUT_TEMPLATE.sub("x", ENV_TEMPLATE.sub("x", text)))
    for name, value in parse_qsl(urlsplit(text).query):
        refuse_secret(name, value)
    return text


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise refusal("is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", text):
        raise refusal('should be a URL such as "https://api.example.com/v1"')
    if "@" in parts.netloc:
        raise refusal("should not contain a user name or password; put the secret into an environment variable")
    return parts


_UrlTemplate = Annotated[str, Field(max_length=2048, json_schema_extra={"format": "uri-template"})]
BaseUrl = Annotated[str, Field(max_length=2048), AfterValidator(_check_base_url)]
"""The base URL of a model API; paths are appended to it."""
ServerUrl = Annotated[_UrlTemplate, AfterValidator(_check_server_url)]
RequestUrl = Annotated[_UrlTemplate, AfterValidator(_check_request_url)]


def _check_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise refusal('is not a header name; use letters, digits and -, for example "X-Request-Source"', name)
        if name.lower() in _OWN_HEADERS:
            raise refusal("is set for each request by Majlis; remove it", name)
        if not HEADER_VALUE.fullmatch(value):
            raise refusal("should contain only printable ASCII on one line", name)
        refuse_unknown_template(value, name)
        refuse_secret(name, value, name, input_allowed=False, stored_allowed=True)
    return headers


Headers = Annotated[dict[str, str], AfterValidator(_check_headers)]


def _one_value(value: JsonValue) -> JsonValue:
    if value is None or isinstance(value, dict | list):
        raise refusal("should be text, a number, true or false")
    return value


T = TypeVar("T", bound=JsonValue)


def _check_texts(value: T) -> T:
    for at, text in walk(value):
        if isinstance(text, str):
            refuse_unknown_template(text, *at)
            name = next((step for step in reversed(at) if isinstance(step, str)), "")
            refuse_secret(name, text, *at)
    return value


QueryValue = Annotated[JsonValue, AfterValidator(_one_value), WithJsonSchema({"type": ["string", "number", "boolean"]})]


class HttpExecution(Wire):
    """Every text in it may contain {{input.name}} and ${env.NAME}, except the host of the URL."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] = "GET"
    url: RequestUrl
    headers: Headers = Field(default_factory=dict)
    query: Annotated[dict[str, QueryValue], AfterValidator(_check_texts)] = Field(default_factory=dict)
    body: Maybe[Annotated[JsonValue, AfterValidator(_check_texts)]] = None
    """Sent as JSON; a text is sent unchanged."""
    timeout_seconds: Annotated[int, Field(ge=1, le=600)] = 30
    max_bytes: Annotated[int, Field(ge=1, le=10 * 1024 * 1024)] = 1024 * 1024
    """A longer response is an error."""

    @property
    def content_type(self) -> str:
        """The content type from the headers; empty if they do not set it."""
        return next((value for name, value in self.headers.items() if name.lower() == "content-type"), "").lower()

    @model_validator(mode="after")
    def _input_can_be_encoded(self) -> Self:
        """Refuses JSON that is written as text: input from the model could end a string and add keys."""
        text = self.body if isinstance(self.body, str) else ""
        if "json" in self.content_type and INPUT_TEMPLATE.search(text) and not INPUT_TEMPLATE.fullmatch(text):
            raise refusal("should be an object and not text, so that {{input…}} is encoded as JSON", "body")
        return self
