"""Sends the requests of tools, webhooks and notifications, each over a new connection to a checked address (see
`reach`).

Connections are not shared: two host names at one address would share a connection that was verified for the first.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import urljoin

import httpx

from majlis import __version__
from majlis.errors import Forbidden, Invalid, TooLarge, Unavailable
from majlis.hosts import Target, parse_target
from majlis.tools.reach.reach import Reach

OWN_HEADERS = {"user-agent": f"majlis/{__version__}", "accept": "application/json, text/*;q=0.9, */*;q=0.1"}
MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_CONNECT_SECONDS = 10.0


@cache
def usual_tls() -> ssl.SSLContext:
    """Cached: loading the certificates takes milliseconds and a megabyte."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Outgoing:
    method: str
    target: Target
    headers: dict[str, str]
    """Names in lower case."""
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: httpx.Headers
    content: bytes


class Exchange:
    def __init__(self, reach: Reach, tls: Callable[[], ssl.SSLContext] = usual_tls) -> None:
        self._reach = reach
        self._tls = tls

    async def send(self, outgoing: Outgoing, max_bytes: int) -> Response:
        """Follows redirects; each target is checked."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send_once(outgoing, max_bytes)
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or not location:
                return response
            outgoing = _redirected(outgoing, response.status, location)
        raise Unavailable("too_many_redirects", f"the server redirected the request more than {MAX_REDIRECTS} times.")

    async def send_only(self, outgoing: Outgoing) -> int:
        """The status of the response, whose content is not read. Redirects are not followed."""
        addresses = await self._reach.addresses(outgoing.target)
        verify = self._tls() if outgoing.target.scheme == "https" else False
        async with httpx.AsyncHTTPTransport(verify=verify, trust_env=False) as transport:
            response = await _connect(transport, outgoing, addresses)
            await response.aclose()
            return response.status_code

    async def _send_once(self, outgoing: Outgoing, max_bytes: int) -> Response:
        addresses = await self._reach.addresses(outgoing.target)
        verify = self._tls() if outgoing.target.scheme == "https" else False
        async with httpx.AsyncHTTPTransport(verify=verify, trust_env=False) as transport:
            response = await _connect(transport, outgoing, addresses)
            try:
                return Response(response.status_code, response.headers, await _read(response, outgoing, max_bytes))
            finally:
                await response.aclose()


async def _connect(transport: httpx.AsyncHTTPTransport, outgoing: Outgoing, addresses: list[str]) -> httpx.Response:
    target = outgoing.target
    for address in addresses:
        try:
            return await transport.handle_async_request(_request(outgoing, target, address))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            # Nothing was sent: try the next address.
            failure = error
        except httpx.HTTPError as error:
            raise Unavailable(
                "connection_lost",
                f"the connection to {target.authority} was lost before the response ({_why(error)}). "
                "It is unknown whether it had an effect.",
            ) from error
    raise Unavailable("unreachable", f"{target.authority} cannot be reached ({_why(failure)}). Try again later.")


def _request(outgoing: Outgoing, target: Target, address: str) -> httpx.Request:
    url = httpx.URL(scheme=target.scheme, host=address, port=target.port, raw_path=target.path.encode())
    return httpx.Request(
        outgoing.method,
        url,
        headers={**outgoing.headers, "host": target.authority},
        content=outgoing.content,
        # The connection goes to the address; the certificate is verified against the name.
        extensions={"sni_hostname": target.host, "timeout": {"connect": _CONNECT_SECONDS}},
    )


async def _read(response: httpx.Response, outgoing: Outgoing, max_bytes: int) -> bytes:
    if response.headers.get("content-encoding", "identity") not in ("identity", ""):
        raise Unavailable("compressed", "the server sent a compressed response.")
    content = bytearray()
    try:
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > max_bytes:
                raise TooLarge(
                    "answer_too_large",
                    f"the response is longer than {max_bytes} bytes (maxBytes of the tool). The request had its "
                    "effect. Request less data if the tool allows it.",
                )
    except httpx.HTTPError as error:
        raise Unavailable(
            "connection_lost", f"the response of {outgoing.target.authority} was interrupted ({_why(error)})."
        ) from error
    return bytes(content)


def _redirected(outgoing: Outgoing, status: int, location: str) -> Outgoing:
    sent = outgoing.target
    base = f"{sent.scheme}://{sent.authority}{sent.path}"
    try:
        target = parse_target(urljoin(base, location).partition("#")[0])
    except (Invalid, ValueError):
        raise Forbidden("bad_redirect", "the server redirected the request to an invalid URL.") from None
    if sent.scheme == "https" and target.scheme == "http":
        raise Forbidden("bad_redirect", "the server redirected the request from https to http, which is not encrypted.")
    if status == 303 or (status in (301, 302) and outgoing.method == "POST"):
        outgoing = replace(outgoing, method="HEAD" if outgoing.method == "HEAD" else "GET", content=None)
    if target.origin == sent.origin:
        return replace(outgoing, target=target)
    if outgoing.method not in ("GET", "HEAD"):
        raise Forbidden(
            "bad_redirect",
            f"the server redirected the request to {target.authority}; its content is not sent to another host.",
        )
    # The headers of the config (keys, cookies) are for the first host only.
    return replace(outgoing, target=target, headers={**OWN_HEADERS, "accept-encoding": "identity"}, content=None)


def _why(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]
