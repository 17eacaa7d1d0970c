"""The lists of hosts in the settings: `api.example.com`, `*.example.com`, `localhost:8080`, `[::1]:3000`, `*`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_USUAL_PORTS = (80, 443)


@dataclass(frozen=True, slots=True)
class HostRule:
    host: str
    """A name, an address, `*.` and a name for all below it, or `*`."""
    port: int | None
    """None: 80 and 443."""

    def covers(self, host: str, port: int) -> bool:
        if port != self.port and not (self.port is None and port in _USUAL_PORTS):
            return False
        if self.host.startswith("*."):
            return host.endswith(self.host[1:]) and len(host) > len(self.host) - 1
        return self.host in ("*", host)


def host_rules(texts: Iterable[str]) -> tuple[HostRule, ...]:
    """Their form has been checked by the settings."""
    return tuple(_rule(text.lower()) for text in texts)


def _rule(text: str) -> HostRule:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    return HostRule(host.strip("[]"), int(port) if port else None)
