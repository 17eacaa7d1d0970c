"""Files that describe agents: YAML, TOML or JSON, one agent or `agents: [...]`. What is wrong has its file and path."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from majlis.cli.agent.configs import Config, whole_config
from majlis.errors import ConfigurationError

_WANTED = "an agent ({name, …}) or {agents: [...]}"


@dataclass(frozen=True, slots=True)
class Described:
    """An agent as a file wants it to be; its config with all defaults."""

    name: str
    config: Config
    spaces: tuple[str, ...]


def read_agents(files: Sequence[Path]) -> list[Described]:
    from majlis.entities.names import name_key

    found: dict[str, tuple[Path, Described]] = {}
    for file in files:
        for agent in _agents_in(file):
            key = name_key(agent.name)
            if key in found:
                raise ConfigurationError(f"{file}: {agent.name!r} is described twice, first in {found[key][0]}.")
            found[key] = file, agent
    return [agent for _, agent in found.values()]


def read_config(file: Path) -> Config:
    """A file with nothing but a config."""
    return whole_config(read_data(file), file)


def read_data(file: Path) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        ".yaml": _yaml,
        ".yml": _yaml,
        ".toml": tomllib.loads,
        ".json": json.loads,
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise ConfigurationError(f"{file}: the name should end with .yaml, .yml, .toml or .json.")
    try:
        return reader(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        what = " ".join(str(error).split()) or "nested too deeply"
        raise ConfigurationError(f"{file} is no valid {file.suffix[1:].upper()}: {what}.") from None


def _agents_in(file: Path) -> list[Described]:
    data = read_data(file)
    if not isinstance(data, dict) or not data:
        raise ConfigurationError(f"{file}: should hold {_WANTED}.")
    if "agents" not in data:
        return [_described(file, "", data)]
    listed = data["agents"]
    if len(data) > 1 or not isinstance(listed, list):
        raise ConfigurationError(f"{file}: should hold {_WANTED}, and agents should be a list with nothing beside it.")
    return [_described(file, f"agents.{n}", each) for n, each in enumerate(listed)]


def _described(file: Path, path: str, data: Any) -> Described:
    """The config's settings stand beside `name` and `spaces`, or under `config`."""
    if not isinstance(data, dict):
        raise ConfigurationError(f"{file}: {path} should be an object with a name.")
    settings = dict(data)
    name, spaces = settings.pop("name", None), settings.pop("spaces", None) or []
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{file}: {_inside(path, 'name')} is required; it should be text.")
    if not isinstance(spaces, list) or not all(isinstance(space, str) and space for space in spaces):
        raise ConfigurationError(f"{file}: {_inside(path, 'spaces')} should be a list of names of spaces.")
    if "config" in settings:
        config = settings.pop("config")
        if settings:
            raise ConfigurationError(f"{file}: {_inside(path, min(map(str, settings)))} should stand under config.")
        return Described(name, whole_config(config, file, _inside(path, "config")), tuple(spaces))
    return Described(name, whole_config(settings, file, path), tuple(spaces))


def _inside(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
