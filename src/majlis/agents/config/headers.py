"""The headers that a tool or an MCP server is called with."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from majlis.agents.config.secret_rules import refuse_secret_header
from majlis.agents.config.templates import refuse_unknown_template
from majlis.agents.config.types import refusal

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        _check_name(name)
        if not _VALUE.fullmatch(value):
            raise refusal("should hold only printable ASCII on one line", name)
        refuse_unknown_template(value, name)
        refuse_secret_header(name, value)
    return headers


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise refusal('is not a header name; use letters, digits and -, for example "X-Request-Source"', name)
    if name.lower() in _OURS:
        raise refusal("is set for each request by Majlis; remove it", name)


Headers = Annotated[dict[str, str], AfterValidator(_sendable)]
