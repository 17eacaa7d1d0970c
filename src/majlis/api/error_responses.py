"""Turns errors into responses. Every error has the same JSON shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from majlis.api.auth import require_caller
from majlis.api.bodies import NoSuchId, reply
from majlis.errors import Invalid, MajlisError, Malformed, TooMany, Unauthenticated, Unavailable
from majlis.outage import Outage
from majlis.store.passing_faults import is_passing

_logger = structlog.get_logger(__name__)

_BY_STATUS = {404: "unknown_route", 405: "method_not_allowed"}
_OPENAI = "/v1/"
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# While the disk is full, reads work and writes fail.
DATABASE = Outage("the database", quiet_seconds=5.0)


class ErrorDetail(BaseModel):
    code: str = Field(description="Stable: programs can compare it.")
    message: str = Field(description="What happened and what to do, for people.")
    details: dict[str, Any]

    model_config = ConfigDict(title="ErrorDetail")


class ErrorBody(BaseModel):
    error: ErrorDetail


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: these error statuses, and those that every route can return."""
    return {status: {"model": ErrorBody} for status in sorted({400, 401, 403, 413, 422, 429, 503, *statuses})}


def error_response(error: MajlisError, path: str = "") -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, (TooMany, Unavailable)):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = error.challenge
    return reply(error_body(error, path), _status(error.status, path), headers)


def error_body(error: MajlisError, path: str = "") -> dict[str, Any]:
    return _body(error.code, error.message, error.details, error.status, path)


def _body(code: str, message: str, details: dict[str, object], status: int, path: str) -> dict[str, Any]:
    """Adds the keys that OpenAI's clients read, under /v1 (D3)."""
    body: dict[str, Any] = {"code": code, "message": message, "details": details}
    if path.startswith(_OPENAI):
        kind = "server_error" if status >= 500 else _OPENAI_TYPES.get(status, "invalid_request_error")
        body |= {"type": kind, "param": details.get("path")}
    return {"error": body}


def _status(status: int, path: str) -> int:
    """OpenAI's API has no 422."""
    return 400 if status == 422 and path.startswith(_OPENAI) else status


def failure_response(error: Exception, request_id: str, path: str = "") -> Response:
    return error_response(as_failure(error, request_id), path)


def as_failure(error: Exception, request_id: str) -> MajlisError:
    """For unexpected errors: the log has the details, the caller only the request id."""
    if is_passing(error):
        DATABASE.failed(error)
        return Unavailable("unavailable", "The database is not responding. Try again in a moment.")
    _logger.error("a request failed", request_id=request_id, exc_info=error)
    message = f"Majlis failed to handle this request. The log has details under the request id {request_id}."
    return MajlisError("internal", message, {"requestId": request_id})


async def handle_error(request: Request, error: Exception) -> Response:
    """Authenticates before it answers errors that were raised earlier: 401 takes precedence over 400, 404 and 422."""
    path = request.url.path
    if not isinstance(error, MajlisError) or isinstance(error, NoSuchId):
        try:
            await require_caller(request)
        except MajlisError as refusal:
            return error_response(refusal, path)
    if isinstance(error, RequestValidationError):
        return error_response(_validation_error(error.errors()), path)
    if isinstance(error, HTTPException):
        return _http_error(error, path)
    assert isinstance(error, MajlisError)
    return error_response(error, path)


def _validation_error(problems: Sequence[Any]) -> MajlisError:
    if any(problem["type"] == "json_invalid" for problem in problems):
        return _malformed_json()
    # The first part of a location is pydantic's: body, query or path.
    listed = [{"path": ".".join(map(str, problem["loc"][1:])), "message": problem["msg"]} for problem in problems[:20]]
    first = listed[0]
    message = f"{first['path']}: {first['message']}" if first["path"] else first["message"]
    return Invalid("invalid_request", message, {"errors": listed})


def _http_error(error: HTTPException, path: str) -> Response:
    """For errors of Starlette itself, such as an unknown route or method."""
    if error.status_code == 400:
        return error_response(_malformed_json(), path)
    code = _BY_STATUS.get(error.status_code, "refused")
    body = _body(code, f"{error.detail}.", {}, error.status_code, path)
    return reply(body, error.status_code, dict(error.headers or {}))


def _malformed_json() -> Malformed:
    return Malformed("malformed_json", "The body is not valid JSON.")
