"""Classifies IP addresses: public, private (`inner`), or never to be connected to (`nowhere`)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

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
