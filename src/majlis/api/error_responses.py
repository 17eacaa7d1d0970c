"""The one error shape, for everything that can go wrong between a request and its answer."""

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
from majlis.api.bodies import NoSuchId
from majlis.api.reply import reply
from majlis.errors import Invalid, MajlisError, TooMany, Unauthenticated, Unavailable

Handler = Callable[[Request, Exception], Awaitable[Response]]

_logger = structlog.get_logger(__name__)

_BY_STATUS = {404: "unknown_route", 405: "method_not_allowed", 400: "malformed_request"}
_UNREACHABLE = (ConnectionError, OSError, sa.exc.InterfaceError, sa.exc.TimeoutError)


class ErrorDetail(BaseModel):
    code: str = Field(description="Stable; safe to compare with.")
    message: str = Field(description="For people: what is wrong, where, and what to do.")
    details: dict[str, Any]

    model_config = ConfigDict(title="ErrorDetail")


class ErrorBody(BaseModel):
    error: ErrorDetail


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: these statuses, and those that any request may meet, have the one error shape."""
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
    app.add_exception_handler(NoSuchId, _after_who(_majlis_error))
    app.add_exception_handler(RequestValidationError, _after_who(_validation_error))


def failure_response(error: Exception, request_id: str) -> Response:
    """For what nobody foresaw: logged whole, told to the caller as no more than a number to ask about."""
    if isinstance(error, _UNREACHABLE) or _passing(error):
        _logger.warning("the database is out of reach or overloaded", request_id=request_id, error=str(error))
        return error_response(Unavailable("unavailable", "The database does not answer now. Try again in a moment."))
    _logger.error("a request failed", request_id=request_id, exc_info=error)
    message = f"Something went wrong here, not with your request. The log has it under {request_id}."
    return error_response(MajlisError("internal", message, {"requestId": request_id}))


def _passing(error: Exception) -> bool:
    """A lost connection, or a lock that was waited for in vain (PostgreSQL's 55P03, SQLite's "locked")."""
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    locked = getattr(error.orig, "sqlstate", None) == "55P03" or "database is locked" in str(error.orig)
    return error.connection_invalidated or locked


def _after_who(handler: Handler) -> Handler:
    """These are raised while a request is read. Who is calling comes first: 401 before 400, 404 and 422."""

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
        return _plain(400, "malformed_json", "The body is not valid JSON.")
    listed = [{"path": _path(problem["loc"]), "message": problem["msg"]} for problem in problems[:20]]
    first = listed[0]
    message = f"{first['path']}: {first['message']}" if first["path"] else str(first["message"])
    return error_response(Invalid("invalid_request", message, {"errors": listed}))


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        return _plain(400, "malformed_json", "The body is not valid JSON.")
    code = _BY_STATUS.get(error.status_code, "refused")
    response = _plain(error.status_code, code, f"{error.detail}.")
    for name, value in (error.headers or {}).items():
        response.headers[name] = value
    return response


def _plain(status: int, code: str, message: str) -> Response:
    return reply({"error": {"code": code, "message": message, "details": {}}}, status)


def _path(location: tuple[int | str, ...]) -> str:
    """As the caller wrote it: without pydantic's word for where it was (body, query, path)."""
    return ".".join(str(part) for part in location[1:])


# For what Starlette itself refuses: an unknown route, a method that is not offered.
http_error = _after_who(_http_error)
