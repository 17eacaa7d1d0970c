"""Answers: the domain's wire shapes as JSON bytes, without a second validation on the way out."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, "application/json")


def nothing() -> Response:
    return Response(status_code=204)
