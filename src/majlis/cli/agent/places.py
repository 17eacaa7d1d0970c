"""The people and spaces that files for `majlis agent apply` describe next to their agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from majlis.cli.agent.files import read_data
from majlis.errors import ConfigurationError

_KEYS = ("name", "description", "members", "orchestrator")


@dataclass(frozen=True, slots=True)
class Place:
    """A space. A setting that is None stays as it is."""

    name: str
    description: str | None = None
    # Names of people and agents; both they and the orchestrator become members.
    members: tuple[str, ...] = ()
    orchestrator: str | None = None


@dataclass(frozen=True, slots=True)
class Places:
    people: tuple[str, ...] = ()
    spaces: tuple[Place, ...] = ()


def read_places(files: Sequence[Path]) -> Places:
    from majlis.entities.names import name_key

    people: dict[str, str] = {}
    spaces: dict[str, Place] = {}
    for file in files:
        data = read_data(file)
        if not isinstance(data, dict) or "agents" not in data:
            continue
        people |= {name_key(name): name for name in _names(file, "people", data.get("people"))}
        for place in _spaces(file, data.get("spaces")):
            if spaces.setdefault(name_key(place.name), place) is not place:
                raise ConfigurationError(f"{file}: the space {place.name!r} is described twice.")
    return Places(tuple(people.values()), tuple(spaces.values()))


def _spaces(file: Path, listed: Any) -> Iterable[Place]:
    if listed is None:
        return
    if not isinstance(listed, list):
        raise ConfigurationError(f"{file}: spaces should be a list.")
    for n, each in enumerate(listed):
        path = f"spaces.{n}"
        if not isinstance(each, dict) or not _is_text(each.get("name")):
            raise ConfigurationError(f"{file}: {path} should be an object with a name.")
        if unknown := sorted(map(str, each.keys() - set(_KEYS))):
            raise ConfigurationError(f"{file}: {path}.{unknown[0]} is not known. Use {', '.join(_KEYS)}.")
        for key in ("description", "orchestrator"):
            if each.get(key) is not None and not _is_text(each[key]):
                raise ConfigurationError(f"{file}: {path}.{key} should be text.")
        members = _names(file, f"{path}.members", each.get("members"))
        yield Place(each["name"], each.get("description"), members, each.get("orchestrator"))


def _names(file: Path, path: str, listed: Any) -> tuple[str, ...]:
    if listed is not None and not (isinstance(listed, list) and all(map(_is_text, listed))):
        raise ConfigurationError(f"{file}: {path} should be a list of names.")
    return tuple(listed or ())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""
