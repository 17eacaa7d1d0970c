"""Mentions: a text addresses the agents whose `@Name` it begins with, one or several (T10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from majlis.entities.names import name_key

_BETWEEN = " \t\r\n,;:&"


def addressed(text: str, agents: Iterable[Any]) -> set[str]:
    """Ids of the agents (`agent_id`, `name`) that the text begins with; case and width are ignored."""
    # Longer names first: "@Ann Lee" is not "@Ann".
    names = sorted(((name_key(agent.name), agent.agent_id) for agent in agents), key=lambda each: -len(each[0]))
    rest = name_key(text[:4096])
    found: set[str] = set()
    while rest.startswith("@"):
        match = next((each for each in names if _begins_with(rest[1:], each[0])), None)
        if match is None:
            break
        found.add(match[1])
        rest = rest[1 + len(match[0]) :].lstrip(_BETWEEN).removeprefix("and ").lstrip(_BETWEEN)
    return found


def _begins_with(text: str, name: str) -> bool:
    return text.startswith(name) and not text[len(name) : len(name) + 1].isalnum()
