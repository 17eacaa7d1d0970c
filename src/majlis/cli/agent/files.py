"""Agent configs on the command line: read from YAML, TOML or JSON files and from options, checked before they are sent,
and sent as a JSON Merge Patch. Errors name the file and the path."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from majlis.errors import ConfigurationError, Invalid

Config = dict[str, Any]

_EXPECTED = "an agent ({name, …}) or {agents: [...]}"
# A file may describe these next to its agents; see `places.py`.
BESIDE = ("people", "spaces")


@dataclass(frozen=True, slots=True)
class Described:
    """An agent as a file describes it. Its config has all defaults."""

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
                raise ConfigurationError(f"{file}: {agent.name!r} is already described in {found[key][0]}.")
            found[key] = file, agent
    return [agent for _, agent in found.values()]


def read_config(file: Path) -> Config:
    """A file with only a config."""
    return _whole_config(read_data(file), file)


def read_data(file: Path) -> Any:
    readers: dict[str, Callable[[str], Any]] = {
        ".yaml": _yaml,
        ".yml": _yaml,
        ".toml": tomllib.loads,
        ".json": json.loads,
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise ConfigurationError(f"{file}: the file name should end with .yaml, .yml, .toml or .json.")
    try:
        return reader(_read(file))
    except (ValueError, RecursionError) as error:
        problem = " ".join(str(error).split()) or "nested too deeply"
        raise ConfigurationError(f"{file} is not valid {file.suffix[1:].upper()}: {problem}.") from None


def text_of(given: str) -> str:
    """Returns the text, or the content of FILE if the text is @FILE."""
    return _read(Path(given[1:])) if given.startswith("@") else given


def change_to(wanted: Config, present: Config) -> Config:
    """The JSON Merge Patch from one whole config to another; empty if they are the same."""
    change: Config = dict.fromkeys(present.keys() - wanted.keys())
    for key, value in wanted.items():
        before = present.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            if inner := change_to(value, before):
                change[key] = inner
        elif value != before:
            change[key] = value
    return change


def settings_of(assignments: list[str]) -> Config:
    """Assignments like `limits.steps=5` as a merge patch. A value is JSON if it parses as JSON, and text otherwise."""
    change: Config = {}
    for assignment in assignments:
        path, equals, value = assignment.partition("=")
        *outer, last = path.split(".")
        if not equals or not all([*outer, last]):
            raise ConfigurationError(f"--set {assignment} should be KEY=VALUE, for example --set limits.steps=5.")
        place = change
        for key in outer:
            inner = place.setdefault(key, {})
            if not isinstance(inner, dict):
                raise ConfigurationError(f"--set {path} contradicts an earlier value of {key}.")
            place = inner
        try:
            place[last] = json.loads(value)
        except ValueError:
            place[last] = value
    return change


def model_of(name: str, base_url: str | None, api_key_env: str | None, api_key: str | None = None) -> Any:
    """The model setting for `openai:gpt-5.2`. With a base URL the provider may be left out; it is then `openai`."""
    from majlis.agents.config.config import dump_config, parse_config
    from majlis.model_providers import known_providers

    model: Any = name
    if base_url is not None or api_key_env is not None or api_key is not None:
        provider, colon, rest = name.partition(":")
        if base_url is not None and (not colon or provider not in known_providers()):
            provider, rest = "openai", name
        given = {"provider": provider, "name": rest, "baseUrl": base_url, "apiKeyEnv": api_key_env, "apiKey": api_key}
        model = {key: value for key, value in given.items() if value is not None}
    return dump_config(parse_config({"model": model}))["model"]


def _whole_config(given: object, file: Path, path: str = "") -> Config:
    """Returns the config with all defaults, as the server stores it."""
    from majlis.agents.config.config import dump_config, parse_config

    try:
        return dump_config(parse_config(given))
    except Invalid as error:
        first, *more = cast(list[dict[str, str]], error.details["errors"])
        where = ".".join(filter(None, (path, first["path"])))
        rest = f" ({len(more)} more error{'s' if len(more) > 1 else ''})" if more else ""
        message = f"{file}: {f'{where} ' if where else ''}{first['message']}{rest}."
        raise ConfigurationError(message) from None


def _agents_in(file: Path) -> list[Described]:
    data = read_data(file)
    if not isinstance(data, dict) or not data:
        raise ConfigurationError(f"{file} should contain {_EXPECTED}.")
    if "agents" not in data:
        return [_described(file, "", data)]
    listed = data["agents"]
    if data.keys() - {"agents", *BESIDE} or not isinstance(listed, list):
        others = " and ".join(BESIDE)
        raise ConfigurationError(f"{file} should contain {_EXPECTED}, with a list; {others} may stand next to it.")
    return [_described(file, f"agents.{n}", each) for n, each in enumerate(listed)]


def _described(file: Path, path: str, data: Any) -> Described:
    """Settings are next to `name` and `spaces`, or under `config`."""

    def inside(key: str) -> str:
        return f"{path}.{key}" if path else key

    if not isinstance(data, dict):
        raise ConfigurationError(f"{file}: {path} should be an object with a name.")
    settings = dict(data)
    name, spaces = settings.pop("name", None), settings.pop("spaces", None) or []
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{file}: {inside('name')} is required and should be text.")
    if not isinstance(spaces, list) or not all(isinstance(space, str) and space for space in spaces):
        raise ConfigurationError(f"{file}: {inside('spaces')} should be a list of space names.")
    if "config" in settings:
        config = settings.pop("config")
        if settings:
            raise ConfigurationError(f"{file}: {inside(min(map(str, settings)))} should be under config.")
        return Described(name, _whole_config(config, file, inside("config")), tuple(spaces))
    return Described(name, _whole_config(settings, file, path), tuple(spaces))


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read {file}: {getattr(error, 'strerror', None) or error}.") from None


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None
