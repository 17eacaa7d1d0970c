"""Decides where tools may connect: the host, the port and every address of the name must be allowed.

A name is resolved once, and the caller connects to the checked addresses: changing the DNS record meanwhile has no
effect.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address

from majlis.errors import Forbidden, Unavailable
from majlis.tools.reach.addresses import place_of
from majlis.tools.reach.target import Target

Resolve = Callable[[str, int], Awaitable[list[str]]]
ASK = "Ask the operator of this gateway to allow it, or continue without it and say so."


async def look_up(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True, slots=True)
class HostRule:
    """An entry of the settings: `api.example.com`, `*.example.com`, `localhost:8080`, `[::1]:3000` or `*`."""

    host: str
    port: int | None
    """None: 80 and 443."""

    @classmethod
    def parse(cls, text: str) -> HostRule:
        """The settings have validated its form."""
        host, colon, port = text.lower().rpartition(":")
        if not colon or text.endswith("]"):
            host, port = text.lower(), ""
        return cls(host.strip("[]"), int(port) if port else None)

    def covers(self, target: Target) -> bool:
        if target.port != self.port and not (self.port is None and target.port in (80, 443)):
            return False
        if self.host.startswith("*."):
            return target.host.endswith(self.host[1:]) and len(target.host) > len(self.host) - 1
        return self.host in ("*", target.host)


class Reach:
    def __init__(
        self, hosts: Iterable[str] = (), private_hosts: Iterable[str] = (), resolve: Resolve = look_up
    ) -> None:
        self._private = [HostRule.parse(text) for text in private_hosts]
        self._all = [HostRule.parse(text) for text in hosts] + self._private
        self._resolve = resolve

    def check_host(self, target: Target) -> None:
        if not any(rule.covers(target) for rule in self._all):
            raise Forbidden("host_not_allowed", f"{target.authority} is not allowed by the setting tool_hosts. {ASK}")

    async def addresses(self, target: Target) -> list[str]:
        """The addresses to connect to; a single forbidden one refuses them all."""
        self.check_host(target)
        found = await self._find(target)
        private_allowed = any(rule.covers(target) for rule in self._private)
        for address in found:
            place = place_of(address)
            if place == "nowhere":
                raise Forbidden("address_not_allowed", f"{target.host} has an address that tools must not connect to.")
            if place == "inner" and not private_allowed:
                raise Forbidden(
                    "address_not_allowed",
                    f"{target.host} has a private address and is not allowed by the setting tool_private_hosts. {ASK}",
                )
        return found

    async def _find(self, target: Target) -> list[str]:
        try:
            return [str(ip_address(target.host))]
        except ValueError:
            pass
        try:
            found = await self._resolve(target.host, target.port)
        except (OSError, UnicodeError):
            found = []
        if not found:
            raise Unavailable("unknown_host", f"the host name {target.host} cannot be resolved. Try again later.")
        return found
