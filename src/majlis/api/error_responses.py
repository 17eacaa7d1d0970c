"""Turns errors into responses. Every error has the same JSON shape."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import sqlalchemy as sa
import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from majlis.api.auth import require_caller
from majlis.api.bodies import NoSuchId, reply
from majlis.errors import Invalid, MajlisError, Malformed, TooMany, Unauthenticated, Unavailable

Handler = Callable[[Request, Exception], Awaitable[Response]]

_logger = structlog.get_logger(__name__)

_BY_STATUS = {404: "unknown_route", 405: "method_not_allowed"}
_UNREACHABLE = (ConnectionError, OSError, sa.exc.InterfaceError, sa.exc.TimeoutError)


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


def error_response(error: MajlisError) -> Response:
    headers: dict[str, str] = {}
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="majlis"'
    body = {"error": {"code": error.code, "message": error.message, "details": error.details}}
    return reply(body, error.status, headers)


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(MajlisError, _majlis_error)
    app.add_exception_handler(NoSuchId, _after_authentication(_majlis_error))
    app.add_exception_handler(RequestValidationError, _after_authentication(_validation_error))


def failure_response(error: Exception, request_id: str) -> Response:
    """For unexpected errors: the log has the details, the caller only the request id."""
    if isinstance(error, _UNREACHABLE) or _is_temporary(error):
        _logger.warning("the database is unreachable or overloaded", request_id=request_id, error=str(error))
        return error_response(Unavailable("unavailable", "The database is not responding. Try again in a moment."))
    _logger.error("a request failed", request_id=request_id, exc_info=error)
    message = f"Majlis failed to handle this request. The log has details under the request id {request_id}."
    return error_response(MajlisError("internal", message, {"requestId": request_id}))


def _is_temporary(error: Exception) -> bool:
    """A lost connection or a lock timeout (55P03 on PostgreSQL, "locked" on SQLite)."""
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    locked = getattr(error.orig, "sqlstate", None) == "55P03" or "database is locked" in str(error.orig)
    return error.connection_invalidated or locked


def _after_authentication(handler: Handler) -> Handler:
    """For errors that are raised before authentication: 401 takes precedence over 400, 404 and 422."""

    async def answer(request: Request, error: Exception) -> Response:
        try:
            await require_caller(request)
        except MajlisError as refusal:
            return error_response(refusal)
        return await handler(request, error)

    return answer


async def _majlis_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, MajlisError)
    return error_response(error)


async def _validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    problems = error.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return _malformed_json()
    listed = [{"path": _path(problem["loc"]), "message": problem["msg"]} for problem in problems[:20]]
    first = listed[0]
    message = f"{first['path']}: {first['message']}" if first["path"] else str(first["message"])
    return error_response(Invalid("invalid_request", message, {"errors": listed}))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return _malformed_json()
    code = _BY_STATUS.get(error.status_code, "refused")
    body = {"error": {"code": code, "message": f"{error.detail}.", "details": {}}}
    return reply(body, error.status_code, dict(error.headers or {}))


def _malformed_json() -> Response:
    return error_response(Malformed("malformed_json", "The body is not valid JSON."))


def _path(location: tuple[int | str, ...]) -> str:
    """Without pydantic's first part (body, query, path)."""
    return ".".join(str(part) for part in location[1:])


# For errors of Starlette itself, such as an unknown route or method.
http_error = _after_authentication(_http_error)
