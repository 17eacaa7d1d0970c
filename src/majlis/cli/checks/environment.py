"""Do the settings fit, and does every variable that looks like one have an effect?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path

from majlis.cli.checks.finding import Finding, ok, warning
from majlis.settings import CONFIG_FILE, PREFIX, Settings, unknown_variables


def check(settings: Settings, config: Path | None, environment: Mapping[str, str]) -> Iterator[Finding]:
    yield ok("configuration", f"The settings fit together ({_source(config, environment)}).")
    for name in unknown_variables(environment):
        yield warning("configuration", f"{name} is no setting of Majlis and has no effect.", _did_you_mean(name))
    if not _is_this_machine(settings.host) and not settings.public_url.startswith("https://"):
        yield warning(
            "configuration",
            f"Majlis listens on {settings.host} for other machines, and nothing says that it is reached over https.",
            "Put a proxy with https before it and set MAJLIS_PUBLIC_URL, or tokens travel in the open.",
        )


def _source(config: Path | None, environment: Mapping[str, str]) -> str:
    file = config or environment.get("MAJLIS_CONFIG") or (CONFIG_FILE if Path(CONFIG_FILE).is_file() else None)
    variables = sum(1 for name in Settings.model_fields if environment.get(PREFIX + name.upper()))
    return f"{file or f'no {CONFIG_FILE}'}, {variables} from the environment"


def _did_you_mean(name: str) -> str:
    close = get_close_matches(name.removeprefix(PREFIX).lower(), Settings.model_fields, 1)
    return f"Did you mean {PREFIX}{close[0].upper()}?" if close else "Remove it; docs/configuration.md lists all."


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
