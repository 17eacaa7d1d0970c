"""One request and its answer, over a connection of its own to an address that was checked (see `reach`).

A new connection for each: two names at one address would otherwise share one that was verified for the first.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from urllib.parse import urljoin

import httpx

from majlis.errors import Forbidden, Invalid, TooLarge, Unavailable
from majlis.tools.http.request import OWN_HEADERS, Outgoing
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.target import Target, parse_target

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_CONNECT_SECONDS = 10.0


@cache
def usual_tls() -> ssl.SSLContext:
    """Loading the certificates costs milliseconds and a megabyte: once is enough."""
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    headers: httpx.Headers
    content: bytes


class Exchange:
    def __init__(self, reach: Reach, tls: Callable[[], ssl.SSLContext] = usual_tls) -> None:
        self._reach = reach
        self._tls = tls

    async def send(self, outgoing: Outgoing, max_bytes: int) -> Answered:
        """Follows redirects, each checked like the first."""
        for _ in range(MAX_REDIRECTS + 1):
            answered = await self._send_once(outgoing, max_bytes)
            location = answered.headers.get("location")
            if answered.status not in _REDIRECTS or not location:
                return answered
            outgoing = _redirected(outgoing, answered.status, location)
        raise Unavailable("too_many_redirects", f"the server redirected it more than {MAX_REDIRECTS} times.")

    async def _send_once(self, outgoing: Outgoing, max_bytes: int) -> Answered:
        addresses = await self._reach.addresses(outgoing.target)
        verify = self._tls() if outgoing.target.scheme == "https" else False
        async with httpx.AsyncHTTPTransport(verify=verify, trust_env=False) as transport:
            response = await _connect(transport, outgoing, addresses)
            try:
                return Answered(response.status_code, response.headers, await _read(response, outgoing, max_bytes))
            finally:
                await response.aclose()


async def _connect(transport: httpx.AsyncHTTPTransport, outgoing: Outgoing, addresses: list[str]) -> httpx.Response:
    target = outgoing.target
    for address in addresses:
        try:
            return await transport.handle_async_request(_request(outgoing, target, address))
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            # Nothing was sent: the next address may still be tried.
            failure = error
        except httpx.HTTPError as error:
            raise Unavailable(
                "connection_lost",
                f"the connection to {target.authority} was lost before an answer came ({_why(error)}). "
                "Whether it had an effect is not known.",
            ) from error
    raise Unavailable("unreachable", f"{target.authority} cannot be reached ({_why(failure)}). Try again later.")


def _request(outgoing: Outgoing, target: Target, address: str) -> httpx.Request:
    url = httpx.URL(scheme=target.scheme, host=address, port=target.port, raw_path=target.path.encode())
    return httpx.Request(
        outgoing.method,
        url,
        headers={**outgoing.headers, "host": target.authority},
        content=outgoing.content,
        # The certificate is checked against the name, though the connection goes to the address.
        extensions={"sni_hostname": target.host, "timeout": {"connect": _CONNECT_SECONDS}},
    )


async def _read(response: httpx.Response, outgoing: Outgoing, max_bytes: int) -> bytes:
    if response.headers.get("content-encoding", "identity") not in ("identity", ""):
        raise Unavailable("compressed", "the server answered compressed, though it was asked not to.")
    content = bytearray()
    try:
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > max_bytes:
                raise TooLarge(
                    "answer_too_large",
                    f"the answer is longer than {max_bytes} bytes (maxBytes of the tool). The request had its effect; "
                    "ask for less, if the tool lets you.",
                )
    except httpx.HTTPError as error:
        raise Unavailable(
            "connection_lost", f"the answer of {outgoing.target.authority} broke off ({_why(error)})."
        ) from error
    return bytes(content)


def _redirected(outgoing: Outgoing, status: int, location: str) -> Outgoing:
    sent = outgoing.target
    base = f"{sent.scheme}://{sent.authority}{sent.path}"
    try:
        target = parse_target(urljoin(base, location).partition("#")[0])
    except (Invalid, ValueError):
        raise Forbidden("bad_redirect", "the server redirected it to an address that is not called.") from None
    if sent.scheme == "https" and target.scheme == "http":
        raise Forbidden("bad_redirect", "the server redirected it from https to http, which anybody could read.")
    if status == 303 or (status in (301, 302) and outgoing.method == "POST"):
        outgoing = replace(outgoing, method="HEAD" if outgoing.method == "HEAD" else "GET", content=None)
    if target.origin == sent.origin:
        return replace(outgoing, target=target)
    if outgoing.method not in ("GET", "HEAD"):
        raise Forbidden(
            "bad_redirect", f"the server redirected it to {target.authority}, and what it sends is meant for here only."
        )
    # Headers were meant for the first host: keys, cookies, and whatever else a config put there.
    return replace(outgoing, target=target, headers={**OWN_HEADERS, "accept-encoding": "identity"}, content=None)


def _why(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]
