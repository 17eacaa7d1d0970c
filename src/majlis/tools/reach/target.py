"""A URL taken apart once, strictly: what is checked is what is connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

from majlis.errors import Invalid

_PORTS = {"http": 80, "https": 443}
# Written out, so that no Unicode look-alike, escape or second address gets through.
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# Some resolvers read a name that ends like this as an address: 2130706433, 0x7f.1, 127.1.
_NUMBER = re.compile(r"(\d+|0x[0-9a-f]*)")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_PATH_MARKS = "/%:@!$&'()*+,;=~?-._"


@dataclass(frozen=True, slots=True)
class Target:
    scheme: str
    host: str
    port: int
    path: str
    """With the query, in ASCII."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """As the Host header says it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parse_target(url: str) -> Target:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _bad("is not a URL") from None
    if _UNSAFE.search(url):
        raise _bad("holds a space, a backslash or a control character")
    if parts.scheme not in _PORTS:
        raise _bad(f"begins with {parts.scheme[:20] or 'no scheme'}; only http and https are called")
    if "@" in parts.netloc:
        raise _bad("holds a user name or password")
    host = _host(parts.netloc, parts.hostname or "")
    path = quote(parts.path or "/", safe=_PATH_MARKS)
    query = f"?{quote(parts.query, safe=_PATH_MARKS)}" if parts.query else ""
    return Target(parts.scheme, host, port if port is not None else _PORTS[parts.scheme], f"{path}{query}")


def _host(netloc: str, host: str) -> str:
    if netloc.startswith("["):
        return _version_6(host)
    last = host.rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _version_4(host)
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _bad("has a host that is no plain name; write it in ASCII (xn--…), without a dot at its end")
    return host


def _version_4(host: str) -> str:
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise _bad("has a host that is a number; write an address as 192.0.2.1") from None


def _version_6(host: str) -> str:
    try:
        address = IPv6Address(host)
    except ValueError:
        raise _bad("has an IPv6 address that cannot be read") from None
    if address.scope_id is not None:
        raise _bad("has an IPv6 address with a zone")
    return str(address)


def _bad(reason: str) -> Invalid:
    return Invalid("bad_url", f"its address {reason}.")
