"""HTTP as both clients use it: connection options, errors from responses, and retries."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from typing import Any

import httpx

from majlis import __version__
from majlis.client.wire import Call
from majlis.errors import (
    ConfigurationError,
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

_HOST = re.compile(r"[\w.-]+|[0-9a-fA-F:.]+")
_TIMEOUT_SECONDS, _CONNECT_SECONDS = 30.0, 10.0
_FIRST_DELAY_SECONDS = 0.1
_LONGEST_DELAY_SECONDS = 5.0
_ERRORS = (Malformed, Unauthenticated, Forbidden, NotFound, Conflict, TooLarge, Invalid, Unavailable)
_BY_STATUS: dict[int, type[MajlisError]] = {each.status: each for each in _ERRORS}
# A proxy responds with 502 or 504 if the server behind it is down.
_BY_STATUS |= {502: Unavailable, 504: Unavailable}
_NOTHING_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def options(url: str, token: str | None) -> dict[str, Any]:
    """The arguments for httpx's clients."""
    parsed = _checked_url(url)
    headers = {"User-Agent": f"majlis-python/{__version__}", "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {_checked_token(token)}"
    return {
        "base_url": parsed,
        "headers": headers,
        "timeout": httpx.Timeout(_TIMEOUT_SECONDS, connect=_CONNECT_SECONDS),
        # A proxy from the environment cannot reach the loopback addresses of this machine.
        "trust_env": not is_loopback(parsed.host),
        # Loading the system's certificates takes 20 ms, and plain HTTP needs none.
        "verify": parsed.scheme == "https",
    }


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def build(http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
    try:
        timeout = httpx.Timeout(_TIMEOUT_SECONDS + call.waits_seconds, connect=_CONNECT_SECONDS)
        return http.build_request(
            call.method,
            call.path,
            params=call.query or None,
            json=call.body,
            files={"file": call.file} if call.file is not None else None,
            headers=call.headers,
            timeout=timeout,
        )
    except UnicodeError:
        raise Invalid("invalid_text", "The request contains characters that are not valid Unicode text.") from None


def answer(response: httpx.Response, binary: bool = False) -> Any:
    if not response.is_success:
        raise refusal(response)
    if binary:
        return response.content
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise unexpected(response) from None


def refusal(response: httpx.Response) -> MajlisError:
    """The exception for an error response, with the server's code, message and details."""
    try:
        found = response.json()["error"]
        code, message, details = str(found["code"]), str(found["message"]), dict(found.get("details") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        return unexpected(response)
    if response.status_code == 429:
        header = response.headers.get("retry-after", "")
        limited = TooMany(code, message, int(header) if header.isdecimal() else 1)
        limited.details.update(details)
        return limited
    return _error(response, code, message, details)


def unexpected(response: httpx.Response) -> MajlisError:
    """The response does not come from Majlis but from another server or a proxy."""
    redirect = f" with a redirect to {response.headers['location']}" if "location" in response.headers else ""
    message = f"{response.url} responded {response.status_code}{redirect}, but not as a Majlis server. Check the URL."
    return _error(response, "unexpected_answer", message, {})


@contextmanager
def connection_errors(url: str) -> Iterator[None]:
    """`unreachable`: nothing was sent. `connection_lost`: the server may have executed the request."""
    try:
        yield
    except httpx.RequestError as error:
        code, message = "connection_lost", f"The connection to {url} was lost before the response arrived"
        if isinstance(error, _NOTHING_SENT):
            code, message = "unreachable", f"Cannot connect to Majlis at {url}"
        raise Unavailable(code, f"{message} ({str(error) or type(error).__name__}).") from error


class Retries:
    """The retries of one call: only if a retry is safe, and only for `seconds`."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds
        self._count = 0

    def delay(self, call: Call[Any], error: MajlisError) -> float | None:
        """The seconds to wait before the next attempt, or None to raise the error."""
        # After a 429 or a failed connection the server has done nothing. After a lost response it may have.
        not_executed = isinstance(error, TooMany) or error.code == "unreachable"
        if not not_executed and not (call.repeatable and isinstance(error, Unavailable)):
            return None
        delay = max(backoff(self._count), error.retry_after if isinstance(error, TooMany) else 0)
        self._count += 1
        return delay if self._clock() + delay <= self._until else None


def backoff(attempts: int) -> float:
    """Exponential, with jitter, so that clients that were cut off together do not reconnect together."""
    longest: float = min(_LONGEST_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2 ** min(attempts, 16))
    return longest * random.uniform(0.5, 1)  # noqa: S311 - not a secret


def _error(response: httpx.Response, code: str, message: str, details: dict[str, Any]) -> MajlisError:
    error = _BY_STATUS.get(response.status_code, MajlisError)(code, message, details)
    error.status = response.status_code
    return error


def _checked_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(parsed.host):
        raise ConfigurationError(f"{url!r} is not a valid Majlis server URL. Use one like http://127.0.0.1:8700.")
    return parsed


def _checked_token(token: str) -> str:
    stripped = token.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigurationError("The token is empty or contains invalid characters.")
    return stripped
