"""What both clients do alike before anything is sent: checking the address and the token, and wording a request."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Any

import httpx

from majlis import __version__
from majlis.client.call import Call
from majlis.errors import ConfigurationError, Invalid

_HOST = re.compile(r"[\w.-]+|[0-9a-fA-F:.]+")
TIMEOUT = httpx.Timeout(30, connect=10)


def options(url: str, token: str | None) -> dict[str, Any]:
    """For httpx's clients."""
    parsed = _checked_url(url)
    headers = {"User-Agent": f"majlis-python/{__version__}", "Accept": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {_checked_token(token)}"
    # A proxy named in the environment is for the world outside, and cannot reach this machine's own addresses.
    return {
        "base_url": parsed,
        "headers": headers,
        "timeout": TIMEOUT,
        "trust_env": not _is_this_machine(parsed.host),
        # Plain HTTP has no certificates to check, and loading those of the system takes 20 ms.
        "verify": parsed.scheme == "https",
    }


def build(http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
    try:
        return http.build_request(call.method, call.path, params=call.query or None, json=call.body)
    except UnicodeError:
        raise Invalid("invalid_text", "The request holds characters that are not valid Unicode text.") from None


def _checked_url(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError):
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(parsed.host):
        raise ConfigurationError(f"{url!r} is no address of a Majlis. Give one like http://127.0.0.1:8700.")
    return parsed


def _checked_token(token: str) -> str:
    kept = token.strip()
    if not kept or not kept.isascii() or not kept.isprintable() or " " in kept:
        raise ConfigurationError("The token is empty or holds characters that no token has.")
    return kept


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
