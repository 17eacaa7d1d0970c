"""What the settings let tools do. Nothing, unless they say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from majlis.settings import Settings


@dataclass(frozen=True)
class Allowed:
    modules: Sequence[str] = ()
    hosts: Sequence[str] = ()
    private_hosts: Sequence[str] = ()
    env: Sequence[str] = ()
    commands: Sequence[str] = ()

    @classmethod
    def by(cls, settings: Settings) -> Allowed:
        return cls(
            modules=settings.tool_modules,
            hosts=settings.tool_hosts,
            private_hosts=settings.tool_private_hosts,
            env=settings.tool_env,
            commands=settings.mcp_commands,
        )
