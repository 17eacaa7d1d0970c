"""The one gate for all that tools send: host, port and every address behind the name are allowed, or nothing goes out.

A name is resolved once, and its caller connects to exactly the addresses that were checked: a name that means another
machine a moment later gains nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address

from majlis.errors import Forbidden, Unavailable
from majlis.tools.reach.addresses import place_of
from majlis.tools.reach.host_rules import HostRule, host_rules
from majlis.tools.reach.target import Target

Resolve = Callable[[str, int], Awaitable[list[str]]]
_ASK = "Whoever runs this gateway can allow it; until then do without, and say so."


async def look_up(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Reach:
    def __init__(
        self, hosts: Iterable[str] = (), private_hosts: Iterable[str] = (), resolve: Resolve = look_up
    ) -> None:
        self._hosts = host_rules(hosts)
        self._private = host_rules(private_hosts)
        self._resolve = resolve

    def check_host(self, target: Target) -> None:
        if not self._covered(self._hosts, target) and not self._covered(self._private, target):
            raise Forbidden("host_not_allowed", f"{target.authority} is not among tool_hosts in the settings. {_ASK}")

    async def addresses(self, target: Target) -> list[str]:
        """Where the target may be connected to; one forbidden address among several refuses them all."""
        self.check_host(target)
        found = await self._find(target)
        inner_too = self._covered(self._private, target)
        for address in found:
            place = place_of(address)
            if place == "nowhere":
                raise Forbidden("address_not_allowed", f"{target.host} is at an address that no tool may reach.")
            if place == "inner" and not inner_too:
                raise Forbidden(
                    "address_not_allowed",
                    f"{target.host} is at a private address, and not among tool_private_hosts in the settings. {_ASK}",
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
            raise Unavailable("unknown_host", f"the name {target.host} has no address now. Try again later.")
        return found

    @staticmethod
    def _covered(rules: tuple[HostRule, ...], target: Target) -> bool:
        return any(rule.covers(target.host, target.port) for rule in rules)
