"""Reads the errors of Chat Completions servers, from a response's body or from a stream."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import httpx
import orjson

from majlis.models.port import ModelFailed
from majlis.models.provider_errors import ProviderErrors

_MAX_READ_BYTES = 64 * 1024


async def raise_refusal(errors: ProviderErrors, response: httpx.Response) -> NoReturn:
    words = _words(await _beginning(response))
    raise errors.of_status(response.status_code, words, retry_after(response.headers))


def error_in(errors: ProviderErrors, error: Any) -> ModelFailed:
    """An error in a stream. Without a status it counts as a temporary problem of the server."""
    words = _flat(error)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int) and 400 <= code < 600:
        return errors.of_status(code, words)
    if "rate_limit" in words:
        return errors.of_status(429, words)
    if "invalid_request" in words or "context_length" in words:
        return errors.of_status(400, words)
    return errors.unavailable()


def retry_after(headers: httpx.Headers) -> float | None:
    """Seconds, from a number or a date."""
    text = headers.get("retry-after", "")
    try:
        if "retry-after-ms" in headers:
            return float(headers["retry-after-ms"]) / 1000
        return float(text)
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


async def _beginning(response: httpx.Response) -> bytes:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > _MAX_READ_BYTES:
            break
    return body[:_MAX_READ_BYTES]


def _words(body: bytes) -> str:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        # A proxy's HTML page adds nothing to the status.
        return "" if body.lstrip().startswith(b"<") else body.decode(errors="replace")
    return _flat(found.get("error", found) if isinstance(found, dict) else found)


def _flat(error: Any) -> str:
    """The message, which people see, then the code and type, which tell kinds of errors apart."""
    if not isinstance(error, dict):
        return str(error)
    message = error.get("message") or error.get("detail") or ""
    marks = [str(error[name]) for name in ("code", "type") if error.get(name)]
    return f"{message} ({', '.join(marks)})" if marks else str(message)
