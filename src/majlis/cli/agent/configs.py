"""Agent configs on the command line: checked here, so that nothing is sent that would be refused, and sent as the
smallest change that makes the present config the wanted one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from majlis.errors import ConfigurationError, Invalid

Config = dict[str, Any]


def whole_config(given: object, file: Path, path: str = "") -> Config:
    """With all defaults, as the server keeps it. File and path tell whoever has to correct it where to look."""
    from majlis.agents.config.config import dump_config, parse_config

    try:
        return dump_config(parse_config(given))
    except Invalid as error:
        raise ConfigurationError(_located(error, file, path)) from None


def change_to(wanted: Config, present: Config) -> Config:
    """The JSON Merge Patch from one whole config to another; empty when they are the same."""
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
    """`limits.steps=5` and the like as a merge patch. A value is JSON if it reads as JSON, else text."""
    change: Config = {}
    for assignment in assignments:
        path, equals, value = assignment.partition("=")
        *outer, last = path.split(".")
        if not equals or not all([*outer, last]):
            raise ConfigurationError(f"--set {assignment} should be key=value, for example --set limits.steps=5.")
        place = change
        for key in outer:
            inner = place.setdefault(key, {})
            if not isinstance(inner, dict):
                raise ConfigurationError(f"--set {path}: {key} was set to something else just before.")
            place = inner
        place[last] = _value(value)
    return change


def model_of(name: str, base_url: str | None, api_key_env: str | None) -> Any:
    """`openai:gpt-5.2` as it stands. At a base URL the provider may be left out: most servers speak OpenAI's words."""
    from majlis.agents.config.config import dump_config, parse_config
    from majlis.agents.config.providers import PROVIDERS

    model: Any = name
    if base_url is not None or api_key_env is not None:
        provider, colon, rest = name.partition(":")
        if base_url is not None and (not colon or provider not in PROVIDERS):
            provider, rest = "openai", name
        given = {"provider": provider, "name": rest, "baseUrl": base_url, "apiKeyEnv": api_key_env}
        model = {key: value for key, value in given.items() if value is not None}
    return dump_config(parse_config({"model": model}))["model"]


def text_of(given: str) -> str:
    """The text itself, or with an @ before it the name of the file it is in."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{given[1:]} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _located(error: Invalid, file: Path, path: str) -> str:
    first, *more = cast(list[dict[str, str]], error.details["errors"])
    where = ".".join(filter(None, (path, first["path"])))
    rest = f" ({len(more)} more problem{'s' if len(more) > 1 else ''})" if more else ""
    return f"{file}: {f'{where} ' if where else ''}{first['message']}{rest}."


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
