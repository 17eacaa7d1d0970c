"""Every option of Majlis in one typed object: flags beat environment beats `majlis.toml` beats defaults.

A key that is not here is refused. `docs/configuration.md` describes each one; a test holds the two together.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from majlis.errors import ConfigurationError, Invalid
from majlis.store.open import parse_database_url

if TYPE_CHECKING:
    from majlis.agents.config.model import ModelChoice

PREFIX = "MAJLIS_"
CONFIG_FILE = "majlis.toml"
OWNER_TOKEN_LENGTH = 24
# Read by the command line's client, by `--config` and by the tests; not settings of a gateway.
_OTHER_VARIABLES = {"MAJLIS_URL", "MAJLIS_TOKEN", "MAJLIS_CONFIG"}
_SECRETS = {"owner_token", "secret_key"}
_HOST = re.compile(r"(\*|(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")


class ModelPrice(BaseModel):
    """Of a million tokens, in whatever money the prices are written in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    # What comes out of the provider's cache; without it, as much as other input.
    cached: float | None = Field(None, ge=0)

    def of(self, input: int, cached: int, output: int) -> float:
        reread = self.input if self.cached is None else self.cached
        return ((input - cached) * self.input + cached * reread + output * self.output) / 1_000_000


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.", min_length=1)
    port: int = Field(8700, description="Port to listen on; 0 takes a free one.", ge=0, le=65535)
    data_dir: Path = Field(Path("majlis-data"), description="Folder for the embedded database and the server's key.")
    database_url: str = Field(
        "", description="`postgresql://…` or `sqlite:///…`; empty means SQLite in the data directory."
    )
    bus_url: str = Field("", description="`nats://host:4222` when several processes serve one PostgreSQL; empty: none.")
    workers: int = Field(
        64, description="How many agent runs this process works on at once; 0 means none.", ge=0, le=4096
    )
    max_chain_depth: int = Field(
        5,
        description="How many times in a row agents may answer each other before a person has to speak.",
        ge=1,
        le=100,
    )
    tool_modules: list[str] = Field(
        default_factory=list, description="Python modules whose functions agents' `python` tools may call."
    )
    tool_hosts: list[str] = Field(
        default_factory=list,
        description="Hosts that `http` tools and MCP servers may be at: `api.example.com`, `*.example.com`, "
        "`example.com:8443`, or `*` for every public one.",
    )
    tool_private_hosts: list[str] = Field(
        default_factory=list,
        description="Hosts that they may be at although their address is private or this machine's, such as "
        "`localhost:9000`.",
    )
    tool_env: list[str] = Field(
        default_factory=list,
        description="Environment variables that tools may send as secrets: what `${env.NAME}` in a config may name.",
    )
    mcp_commands: list[str] = Field(
        default_factory=list,
        description="Programs that agents' MCP servers may be started as, such as `uvx`; `*` for any.",
    )
    demo: bool = Field(True, description="Whether a new gateway begins with a Lobby and two demo agents.")
    demo_model: str = Field(
        "demo",
        description="What answers for agents whose model is `demo`: `demo` itself (rules, no key), or `provider:name`.",
    )
    demo_base_url: str = Field(
        "", description="Address of an OpenAI-compatible server for `demo_model`; empty: the provider's own."
    )
    model_prices: dict[str, ModelPrice] = Field(
        default_factory=dict,
        description="Prices of a million tokens by model, so that usage is shown as money, too; see below.",
    )
    views_kept_days: int = Field(
        30, description="How long it is kept what models were shown (`GET /api/runs/{id}/context`).", ge=1
    )
    public_url: str = Field(
        "", description="Address at which people reach Majlis, for links and cookies; empty: host and port."
    )
    owner_name: str = Field("Owner", description="Name of the first owner, used once, when the gateway is new.")
    owner_token: SecretStr | None = Field(
        None, description="Fixed bearer token of the owner, for automation. Environment only; at least 24 characters."
    )
    secret_key: SecretStr | None = Field(
        None,
        description="The server's key, the same on every node. Environment only; empty: made and kept in the data "
        "directory.",
    )
    allowed_origins: list[str] = Field(
        default_factory=list, description="Other web origins whose pages may call the API (CORS); none by default."
    )
    trusted_proxies: list[str] = Field(
        default_factory=list, description="Addresses of proxies whose X-Forwarded-For and -Proto are believed."
    )
    requests_per_second: int = Field(
        1000, description="Requests a second that one caller may make for long; 0: no limit.", ge=0
    )
    requests_burst: int = Field(10_000, description="Requests that one caller may make at once.", ge=1)
    sign_ins_per_minute: int = Field(10, description="Sign-in attempts a minute from one address.", ge=1)
    events_kept_hours: int = Field(
        72, description="How long the event log is kept; a client away for longer starts afresh.", ge=1
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="How much is logged.")
    log_format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto` is text on a terminal and JSON otherwise."
    )

    @field_validator("model_prices", mode="before")
    @classmethod
    def _are_written_as_json(cls, prices: object) -> object:
        """In the environment; a file has tables."""
        return json.loads(prices) if isinstance(prices, str) else prices

    @field_validator("owner_token")
    @classmethod
    def _long_enough(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and len(token.get_secret_value()) < OWNER_TOKEN_LENGTH:
            raise ValueError(f"must have at least {OWNER_TOKEN_LENGTH} characters")
        return token

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return url.rstrip("/")

    @field_validator("tool_hosts", "tool_private_hosts")
    @classmethod
    def _are_hosts(cls, hosts: list[str]) -> list[str]:
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise ValueError(f"{host} is no host; write api.example.com, *.example.com or example.com:8443")
        return hosts

    @field_validator("tool_private_hosts")
    @classmethod
    def _are_named_one_by_one(cls, hosts: list[str]) -> list[str]:
        if any(host.partition(":")[0] == "*" for host in hosts):
            raise ValueError("must not be *: name each host inside that tools may reach")
        return hosts

    @field_validator("tool_env")
    @classmethod
    def _are_not_our_own(cls, names: list[str]) -> list[str]:
        for name in names:
            if name.upper().startswith(PREFIX):
                raise ValueError(f"must not name {name}: variables of Majlis itself open this gateway")
        return names

    @field_validator("bus_url")
    @classmethod
    def _nats_address(cls, url: str) -> str:
        if url and not url.startswith(("nats://", "tls://", "ws://", "wss://")):
            raise ValueError("must begin with nats:// or tls://")
        return url

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if self.bus_url and self.embedded:
            raise ValueError("bus_url needs a PostgreSQL database_url: SQLite serves one machine and needs no bus")
        if self.demo_base_url and self.demo_model == "demo":
            raise ValueError("demo_base_url needs a demo_model, for example openai:llama3")
        if self.demo_model != "demo":
            _ = self.demo_choice
        return self

    @property
    def demo_choice(self) -> ModelChoice:
        """Raises ValueError for a model that no agent could have either."""
        from majlis.agents.config.config import parse_config

        provider, _, name = self.demo_model.partition(":")
        served = {"provider": provider, "name": name, "baseUrl": self.demo_base_url}
        try:
            return parse_config({"model": served if self.demo_base_url else self.demo_model}).model
        except Invalid as error:
            raise ValueError(f"demo_model: {error.message}") from None

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'majlis.db'}"

    @property
    def embedded(self) -> bool:
        return parse_database_url(self.database).get_backend_name() == "sqlite"


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    config_file: Path | None = None,
) -> Settings:
    environment = os.environ if environment is None else environment
    values = {
        **_from_file(config_file, environment),
        **_from_environment(environment),
        **{name: value for name, value in (flags or {}).items() if value is not None},
    }
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, flags or {}, environment)) from None


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that look like settings but are none: worth a warning, since a typing error changes nothing else."""
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX)
        and not name.startswith(("MAJLIS_TEST_", "MAJLIS_SETUP_"))
        and name not in _OTHER_VARIABLES
        and name.removeprefix(PREFIX).lower() not in Settings.model_fields
    )


def _from_file(path: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    asked = path or (Path(environment["MAJLIS_CONFIG"]) if environment.get("MAJLIS_CONFIG") else None)
    if asked is None and not Path(CONFIG_FILE).is_file():
        return {}
    file = asked or Path(CONFIG_FILE)
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"The configuration file {file} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The configuration file {file} is not valid TOML: {error}.") from None
    _refuse_unknown(file, values)
    _refuse_secrets(file, values)
    return values


def _refuse_unknown(file: Path, values: dict[str, Any]) -> None:
    for name in values:
        if name not in Settings.model_fields:
            close = get_close_matches(name, Settings.model_fields, 1)
            hint = f" Did you mean {close[0]}?" if close else " docs/configuration.md lists all keys."
            raise ConfigurationError(f"{file} has the unknown key {name}.{hint}")


def _refuse_secrets(file: Path, values: dict[str, Any]) -> None:
    for name in _SECRETS & values.keys():
        raise ConfigurationError(
            f"{file} holds {name}. Secrets do not belong in a file: set {PREFIX}{name.upper()} in the environment."
        )
    url = values.get("database_url")
    if isinstance(url, str) and url and parse_database_url(url).password:
        raise ConfigurationError(
            f"{file} holds a password in database_url. Set {PREFIX}DATABASE_URL in the environment instead."
        )
    bus = values.get("bus_url")
    # NATS takes a token in the place of a name: whoever is named there is a secret.
    if isinstance(bus, str) and "@" in bus:
        raise ConfigurationError(f"{file} holds a password in bus_url. Set {PREFIX}BUS_URL in the environment instead.")


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        text = environment.get(PREFIX + name.upper())
        if text:
            is_list = field.annotation == list[str]
            values[name] = [part.strip() for part in text.split(",") if part.strip()] if is_list else text
    return values


def _explain(error: ValidationError, flags: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    problem = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"The settings do not fit together: {problem}."
    name = str(first["loc"][0])
    variable = PREFIX + name.upper()
    if flags.get(name) is not None:
        source = f"--{name.replace('_', '-')}"
    else:
        source = variable if environment.get(variable) else f"{name} in {CONFIG_FILE}"
    return f"{source}: {problem[0].lower()}{problem[1:]}."
