"""JSON responses. The domain's wire shapes are serialized without another validation."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.responses import Response


def reply(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, "application/json")


def nothing() -> Response:
    return Response(status_code=204)
