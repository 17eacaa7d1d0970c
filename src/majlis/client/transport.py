"""From what HTTP brings back to a value, or to one of the exceptions of `majlis.errors`, by status."""

from __future__ import annotations

from typing import Any

import httpx

from majlis.errors import (
    Conflict,
    Forbidden,
    Invalid,
    MajlisError,
    Malformed,
    NotFound,
    TooLarge,
    TooMany,
    Unauthenticated,
    Unavailable,
)

_BY_STATUS: dict[int, type[MajlisError]] = {
    400: Malformed,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: Invalid,
    # A proxy that finds nobody behind it says 502 or 504.
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def answer(response: httpx.Response) -> Any:
    if not response.is_success:
        raise refusal(response)
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise unexpected(response) from None


def refusal(response: httpx.Response) -> MajlisError:
    """With the code, message and details that the server gave."""
    found = _error_body(response)
    if found is None:
        return unexpected(response)
    code, message, details = str(found["code"]), str(found["message"]), dict(found.get("details") or {})
    if response.status_code == 429:
        return _too_many(response, code, message, details)
    error = _BY_STATUS.get(response.status_code, MajlisError)(code, message, details)
    error.status = response.status_code
    return error


def unexpected(response: httpx.Response) -> MajlisError:
    """Somebody answered, but not as Majlis does: another server, or a proxy in between."""
    moved = f" and points to {response.headers['location']}" if "location" in response.headers else ""
    message = f"{response.url} answered {response.status_code}{moved}, which is no answer of Majlis. Check the address."
    error = _BY_STATUS.get(response.status_code, MajlisError)("unexpected_answer", message)
    error.status = response.status_code
    return error


def unreachable(url: str, error: httpx.RequestError) -> Unavailable:
    """`unreachable`: nothing was sent. `connection_lost`: it may have been done, and the answer did not come."""
    reason = str(error) or type(error).__name__
    if isinstance(error, _NOTHING_SENT):
        return Unavailable("unreachable", f"No Majlis answers at {url} ({reason}).")
    return Unavailable("connection_lost", f"The connection to {url} broke before the answer came ({reason}).")


def _error_body(response: httpx.Response) -> dict[str, Any] | None:
    try:
        found = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) and "code" in found and "message" in found else None


def _too_many(response: httpx.Response, code: str, message: str, details: dict[str, Any]) -> TooMany:
    header = response.headers.get("retry-after", "")
    error = TooMany(code, message, int(header) if header.isdecimal() else 1)
    error.details.update(details)
    return error
