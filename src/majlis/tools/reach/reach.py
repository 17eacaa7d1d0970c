"""Decides where tools may connect: the host, the port and every address of the name must be allowed.

A name is resolved once, and the caller connects to the checked addresses: changing the DNS record meanwhile has no
effect.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

from majlis.errors import Forbidden, Unavailable
from majlis.hosts import HostRule, Target

Resolve = Callable[[str, int], Awaitable[list[str]]]
ASK = "Ask the operator of this gateway to allow it, or continue without it and say so."

Place = Literal["public", "inner", "nowhere"]

# Private networks: only for hosts in `tool_private_hosts`.
_INNER = [
    ip_network(each)
    for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7")
]
# "This network", link-local (cloud metadata service), documentation, benchmarks, multicast, reserved, broadcast.
_NOWHERE_4 = [
    ip_network(each)
    for each in (
        "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    )
]  # fmt: skip
# The global unicast range, and its exceptions: protocols (Teredo), documentation, 6to4.
_PUBLIC_6 = ip_network("2000::/3")
_NOWHERE_6 = [ip_network(each) for each in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]


async def look_up(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


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


def place_of(text: str) -> Place:
    """Addresses that embed another one (IPv4-mapped, NAT64, 6to4, Teredo) or name an interface (`fe80::1%eth0`) are
    `nowhere`."""
    address = ip_address(text)
    if any(address in network for network in _INNER):
        return "inner"
    return "public" if _is_public(address) else "nowhere"


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOWHERE_4)
    return address.scope_id is None and address in _PUBLIC_6 and not any(address in network for network in _NOWHERE_6)
