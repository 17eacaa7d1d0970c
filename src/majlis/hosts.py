"""Hosts: the target of a URL, parsed strictly and once, and rules for the hosts that may be used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

from majlis.errors import Invalid

_PORTS = {"http": 80, "https": 443}
# Plain ASCII: no Unicode look-alikes, escapes or second addresses.
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*")
# Some resolvers read a name with such a last label as an address: 2130706433, 0x7f.1, 127.1.
_NUMBER = re.compile(r"(\d+|0x[0-9a-f]*)")
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
HOST = re.compile(r"(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
"""The form of a rule."""
_PATH_MARKS = "/%:@!$&'()*+,;=~?-._"


@dataclass(frozen=True, slots=True)
class Target:
    scheme: str
    host: str
    port: int
    path: str
    """The path with the query, in ASCII."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The host and port as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostRule:
    """An entry of the settings: `api.example.com`, `*.example.com`, `localhost:8080`, `[::1]:3000` or `*`."""

    host: str
    port: int | None
    """None stands for 80 and 443."""

    @classmethod
    def parse(cls, text: str) -> HostRule:
        """The text must match `HOST`."""
        host, colon, port = text.lower().rpartition(":")
        if not colon or text.endswith("]"):
            host, port = text.lower(), ""
        return cls(host.strip("[]"), int(port) if port else None)

    def covers(self, target: Target, any_port: bool = False) -> bool:
        """`any_port`: a rule without a port stands for all ports of the host."""
        usual = any_port or target.port in (80, 443)
        if target.port != self.port and not (self.port is None and usual):
            return False
        if self.host.startswith("*."):
            return target.host.endswith(self.host[1:]) and len(target.host) > len(self.host) - 1
        return self.host in ("*", target.host)


def parse_target(url: str) -> Target:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _bad("is not a URL") from None
    if _UNSAFE.search(url):
        raise _bad("contains a space, a backslash or a control character")
    if parts.scheme not in _PORTS:
        raise _bad(f"has the scheme {parts.scheme[:20] or 'none'}; only http and https are supported")
    if "@" in parts.netloc:
        raise _bad("contains a user name or password")
    host = _host(parts.netloc, parts.hostname or "")
    path = quote(parts.path or "/", safe=_PATH_MARKS)
    query = f"?{quote(parts.query, safe=_PATH_MARKS)}" if parts.query else ""
    return Target(parts.scheme, host, port if port is not None else _PORTS[parts.scheme], f"{path}{query}")


def _host(netloc: str, host: str) -> str:
    try:
        if netloc.startswith("["):
            address = IPv6Address(host)
            if address.scope_id is not None:
                raise _bad("has an IPv6 address with a zone, which is not supported")
            return str(address)
        if _NUMBER.fullmatch(host.rpartition(".")[2]):
            return str(IPv4Address(host))
    except ValueError:
        raise _bad("has an invalid IP address; write it as 192.0.2.1 or [2001:db8::1]") from None
    if len(host) > 253 or not _NAME.fullmatch(host):
        raise _bad("has an invalid host name; write it in ASCII (xn--…), without a trailing dot")
    return host


def _bad(reason: str) -> Invalid:
    return Invalid("bad_url", f"its URL {reason}.")
