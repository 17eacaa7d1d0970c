"""The addresses in a config: http or https, a host that the model cannot choose, no passwords."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import AfterValidator, Field

from majlis.agents.config.secret_rules import refuse_secret_value
from majlis.agents.config.templates import ENV_TEMPLATE, INPUT_TEMPLATE, refuse_unknown_template
from majlis.agents.config.types import refusal

_STAND_IN = "x"


def _base_address(text: str) -> str:
    parts = _split(text)
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise refusal("should end with its path, without ? or #")
    return text


def _server_address(text: str) -> str:
    if INPUT_TEMPLATE.search(text):
        raise refusal("cannot use {{input…}}: a server is not chosen by a call")
    return _request_address(text)


def _request_address(text: str) -> str:
    refuse_unknown_template(text)
    if INPUT_TEMPLATE.search(_authority(text)) or ENV_TEMPLATE.search(_authority(text)):
        raise refusal("should name its host itself; templates may stand only in the path and the query")
    _split(INPUT_TEMPLATE.sub(_STAND_IN, ENV_TEMPLATE.sub(_STAND_IN, text)))
    for name, value in parse_qsl(urlsplit(text).query):
        refuse_secret_value(name, value)
    return text


def _authority(text: str) -> str:
    return re.split(r"[/?#]", text.partition("://")[2], maxsplit=1)[0]


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise refusal("is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\\]", text):
        raise refusal('should be a URL such as "https://api.example.com/v1"')
    if "@" in parts.netloc:
        raise refusal("should not hold a user name or password; name the key by environment variable")
    return parts


_Text = Annotated[str, Field(max_length=2048, json_schema_extra={"format": "uri-template"})]

BaseAddress = Annotated[str, Field(max_length=2048), AfterValidator(_base_address)]
"""Of a model API: paths are put after it."""
ServerAddress = Annotated[_Text, AfterValidator(_server_address)]
RequestAddress = Annotated[_Text, AfterValidator(_request_address)]
