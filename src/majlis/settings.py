"""All settings in one typed object. Flags override the environment, which overrides `majlis.toml` and the defaults.

`docs/configuration.md` contains the descriptions; a test compares the two.
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

from majlis.clock import is_timezone
from majlis.errors import ConfigurationError, Invalid
from majlis.hosts import HOST
from majlis.store.open import parse_database_url

if TYPE_CHECKING:
    from majlis.agents.config.model import ModelChoice

PREFIX = "MAJLIS_"
CONFIG_FILE = "majlis.toml"
OWNER_TOKEN_LENGTH = 24
# Variables of the command line's client and of `--config`.
_OTHER_VARIABLES = {"MAJLIS_URL", "MAJLIS_TOKEN", "MAJLIS_CONFIG"}
_SECRETS = {"owner_token", "secret_key", "oidc_client_secret"}


class ModelPrice(BaseModel):
    """Prices per million tokens, in USD."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    # For tokens from the provider's cache. Without it they cost as much as other input.
    cached: float | None = Field(None, ge=0)

    def of(self, input: int, cached: int, output: int) -> float:
        cached_price = self.input if self.cached is None else self.cached
        return ((input - cached) * self.input + cached * cached_price + output * self.output) / 1_000_000


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.", min_length=1)
    port: int = Field(8700, description="Port to listen on; 0 picks a free one.", ge=0, le=65535)
    data_dir: Path = Field(Path("majlis-data"), description="Folder for the SQLite database and the server key.")
    database_url: str = Field("", description="`postgresql://…` or `sqlite:///…`. Default: SQLite in `data_dir`.")
    bus_url: str = Field("", description="`nats://host:4222`, if several processes share one PostgreSQL.")
    workers: int = Field(64, description="Agent runs that this process executes at once; 0 for none.", ge=0, le=4096)
    max_chain_depth: int = Field(
        5, description="How many times in a row agents may reply to each other before a person must post.", ge=1, le=100
    )
    max_runs_per_cause: int = Field(
        200, description="Runs that agents' messages may start before a person must post.", ge=1, le=1_000_000
    )
    tool_modules: list[str] = Field([], description="Python modules whose functions `python` tools may call.")
    tool_hosts: list[str] = Field(
        [],
        description="Hosts that `http` tools, MCP servers and outgoing webhooks may use: `api.example.com`, "
        "`*.example.com`, `example.com:8443`, or `*` for all public hosts.",
    )
    tool_private_hosts: list[str] = Field(
        [],
        description="Hosts with private or local addresses that tools, and outgoing webhooks of admins, may use, such "
        "as `localhost:9000`.",
    )
    tool_env: list[str] = Field([], description="Environment variables that configs may use as `${env.NAME}`.")
    mcp_commands: list[str] = Field(
        [],
        description="Command lines that may be started as MCP servers, such as `uvx my-server`, with the names of "
        "variables in front: `TOKEN= uvx my-server`; `*` for any.",
    )
    model_hosts: list[str] = Field(
        [],
        description="Hosts at which models with a `baseUrl` may be reached, such as `llm.example.com` or "
        "`192.168.1.5:11434`. Always allowed: the hosts of known providers, and this machine without a key.",
    )
    model_env: list[str] = Field(
        [], description="Environment variables that models may use as `apiKeyEnv`, beside their provider's own."
    )
    timezone: str = Field("UTC", description="Time zone of days in usage and budgets, such as `Europe/Berlin`.")
    demo: bool = Field(True, description="Create a Lobby with two demo agents on a new gateway.")
    demo_model: str = Field(
        "demo", description="The model of agents whose model is `demo`: `demo` (rules, no key) or `provider:name`."
    )
    demo_base_url: str = Field("", description="URL of an OpenAI-compatible server for `demo_model`.")
    summary_model: str | dict[str, Any] = Field(
        "",
        description="The model that summarises messages that left agents' windows: `provider:name`, or an object as "
        "in an agent's config (JSON in the environment). Default: no summaries.",
    )
    model_prices: dict[str, ModelPrice] = Field(
        {}, description="Prices of models in USD per million tokens, where the built-in ones are wrong or missing."
    )
    budget_usd_per_day: float | None = Field(
        None, description="What all agents together may cost per day, in USD. Default: no limit.", ge=0
    )
    views_kept_days: int = Field(
        30, description="How long requests to models are kept (`GET /api/runs/{id}/context`).", ge=1
    )
    runs_kept_days: int | None = Field(
        None, description="How long runs are kept after their end, with their steps. Default: forever.", ge=1
    )
    steps_kept_days: int | None = Field(
        None, description="How long the steps of runs are kept after their end. Default: forever.", ge=1
    )
    deliveries_kept_days: int | None = Field(
        None, description="How long the record of which agent got which event is kept. Default: forever.", ge=1
    )
    cycles_kept_days: int | None = Field(
        None, description="How long cycles are kept that a consciousness has summarised. Default: forever.", ge=1
    )
    public_url: str = Field("", description="URL at which people reach Majlis, for links and cookies.")
    owner_name: str = Field("Owner", description="Name of the first owner of a new gateway.")
    owner_token: SecretStr | None = Field(
        None, description="Fixed bearer token of the owner, for automation. Environment only; at least 24 characters."
    )
    secret_key: SecretStr | None = Field(
        None, description="The server key, the same on every node. Environment only. Default: created in `data_dir`."
    )
    oidc_issuer: str = Field("", description="Issuer URL of an OpenID Connect provider that people may sign in with.")
    oidc_client_id: str = Field("", description="The client id of this gateway at that provider.")
    oidc_client_secret: SecretStr | None = Field(
        None, description="The client secret at that provider. Environment only. Without it: a public client with PKCE."
    )
    oidc_sign_up: bool = Field(
        False, description="Create a member for everyone whom the provider signs in. Off: only people that exist."
    )
    metrics_open: bool = Field(
        False, description="`/metrics` without a token, also for other machines. Local requests never need one."
    )
    allowed_origins: list[str] = Field([], description="Other web origins that may call the API (CORS).")
    trusted_proxies: list[str] = Field(
        [], description="Addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted."
    )
    requests_per_second: int = Field(1000, description="Sustained requests per second and caller; 0: no limit.", ge=0)
    requests_burst: int = Field(10_000, description="Requests that one caller may make at once.", ge=1)
    plans_shortest_seconds: int = Field(
        60, description="Shortest time between two firings of a recurring plan of an agent.", ge=1, le=86_400
    )
    plans_per_day: int = Field(
        2000, description="How many times a day (UTC) all plans of one agent together may fire.", ge=1
    )
    max_streams_per_member: int = Field(
        200, description="Live streams that one person, agent or service may have open at once, per process.", ge=1
    )
    max_spaces_per_member: int = Field(
        500, description="Spaces that one member may administer. The owner and admins have no limit.", ge=1
    )
    max_file_bytes: int = Field(26_214_400, description="Largest file that may be uploaded, in bytes.", ge=1)
    file_store: str = Field(
        "", description="Folder for uploaded files, or `s3://bucket/prefix`. Default: `files` in `data_dir`."
    )
    file_bytes_per_member: int = Field(
        5 * 1024**3, description="Bytes that all files uploaded by one person, agent or service may have.", ge=1
    )
    file_bytes_per_space: int = Field(
        20 * 1024**3, description="Bytes that all files uploaded to one space may have.", ge=1
    )
    max_uploads_per_member: int = Field(
        8, description="Files that one person, agent or service may upload at once, per process.", ge=1
    )
    sign_ins_per_minute: int = Field(10, description="Sign-in attempts per minute from one address.", ge=1)
    events_kept_hours: int = Field(
        72, description="How long live events are kept. A client that was offline for longer resyncs.", ge=1
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="The lowest level to log.")
    log_format: Literal["auto", "text", "json"] = Field("auto", description="`auto`: text on a terminal, else JSON.")

    @field_validator("model_prices", mode="before")
    @classmethod
    def _parse_json(cls, prices: object) -> object:
        """The environment has JSON, a file has tables."""
        return json.loads(prices) if isinstance(prices, str) else prices

    @field_validator("summary_model", mode="before")
    @classmethod
    def _parse_object(cls, model: object) -> object:
        if isinstance(model, str) and model.lstrip().startswith("{"):
            return json.loads(model)
        return model

    @field_validator("timezone")
    @classmethod
    def _check_timezone(cls, name: str) -> str:
        if not is_timezone(name):
            raise ValueError("must be the name of a time zone, such as Europe/Berlin")
        return name

    @field_validator("owner_token")
    @classmethod
    def _check_length(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and len(token.get_secret_value()) < OWNER_TOKEN_LENGTH:
            raise ValueError(f"must have at least {OWNER_TOKEN_LENGTH} characters")
        return token

    @field_validator("public_url")
    @classmethod
    def _check_web_url(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return url.rstrip("/")

    @field_validator("oidc_issuer")
    @classmethod
    def _check_issuer(cls, url: str) -> str:
        local = ("http://localhost", "http://127.0.0.1")
        if url and not url.startswith(("https://", *local)):
            raise ValueError("must start with https://; its answers decide who is signed in")
        return url

    @field_validator("file_store")
    @classmethod
    def _check_file_store(cls, place: str) -> str:
        if "://" in place and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w./-]*)?", place, re.ASCII):
            raise ValueError("must be a folder, or s3://bucket/prefix")
        return place

    @field_validator("bus_url")
    @classmethod
    def _check_nats_url(cls, url: str) -> str:
        if url and not url.startswith(("nats://", "tls://", "ws://", "wss://")):
            raise ValueError("must start with nats:// or tls://")
        return url

    @field_validator("tool_hosts", "tool_private_hosts", "model_hosts")
    @classmethod
    def _check_hosts(cls, hosts: list[str]) -> list[str]:
        for host in hosts:
            if not HOST.fullmatch(host):
                raise ValueError(f"{host} is not a host; use api.example.com, *.example.com or example.com:8443")
        return hosts

    @field_validator("tool_private_hosts", "model_hosts")
    @classmethod
    def _check_no_wildcard(cls, hosts: list[str]) -> list[str]:
        if any(host.partition(":")[0] == "*" for host in hosts):
            raise ValueError("must not be *; name each host")
        return hosts

    @field_validator("tool_env", "model_env")
    @classmethod
    def _check_not_our_own(cls, names: list[str]) -> list[str]:
        for name in names:
            if name.upper().startswith(PREFIX):
                raise ValueError(f"must not contain {name}: Majlis's own variables give access to this gateway")
        return names

    @model_validator(mode="after")
    def _check_combination(self) -> Settings:
        if self.bus_url and self.embedded:
            raise ValueError("bus_url needs a PostgreSQL database_url; SQLite serves one machine and needs no bus")
        if bool(self.oidc_issuer) != bool(self.oidc_client_id):
            raise ValueError("oidc_issuer and oidc_client_id belong together; set both or none")
        if self.demo_base_url and self.demo_model == "demo":
            raise ValueError("demo_base_url needs a demo_model, for example openai:llama3")
        if self.demo_model != "demo":
            _ = self.demo_choice
        _ = self.summary_choice
        return self

    @property
    def demo_choice(self) -> ModelChoice:
        """Raises ValueError if `demo_model` is not valid in an agent's config."""
        from majlis.agents.config.config import parse_config

        provider, _, name = self.demo_model.partition(":")
        served = {"provider": provider, "name": name, "baseUrl": self.demo_base_url}
        try:
            return parse_config({"model": served if self.demo_base_url else self.demo_model}).model
        except Invalid as error:
            raise ValueError(f"demo_model: {error.message}") from None

    @property
    def summary_choice(self) -> ModelChoice | None:
        """None if nothing is summarised. Raises ValueError if it is not valid in an agent's config."""
        if not self.summary_model:
            return None
        from majlis.agents.config.config import parse_config

        if self.summary_model == "demo":
            raise ValueError("summary_model must be a real model; the demo model cannot summarise")
        try:
            return parse_config({"model": self.summary_model}).model
        except Invalid as error:
            raise ValueError(f"summary_model: {error.message}") from None

    @property
    def https(self) -> bool:
        return self.public_url.startswith("https://")

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'majlis.db'}"

    @property
    def files_dir(self) -> Path:
        """With a bucket, it holds only uploads on their way."""
        local = self.file_store and not self.file_store.startswith("s3://")
        return Path(self.file_store) if local else self.data_dir / "files"

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
    """Variables that look like settings but are not, probably because of a typo."""
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX)
        and not name.startswith(("MAJLIS_TEST_", "MAJLIS_SETUP_"))
        and name not in _OTHER_VARIABLES
        and name.removeprefix(PREFIX).lower() not in Settings.model_fields
    )


def _from_file(path: Path | None, environment: Mapping[str, str]) -> dict[str, Any]:
    asked = path or environment.get("MAJLIS_CONFIG")
    file = Path(asked or CONFIG_FILE)
    if not asked and not file.is_file():
        return {}
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the configuration file {file}: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The configuration file {file} is not valid TOML: {error}.") from None
    for name in values:
        if name not in Settings.model_fields:
            close = get_close_matches(name, Settings.model_fields, 1)
            hint = f"Did you mean {close[0]}?" if close else "docs/configuration.md lists all keys."
            raise ConfigurationError(f"{file} has the unknown key {name}. {hint}")
        if _has_secret(name, values[name]):
            raise ConfigurationError(
                f"{file} contains a secret in {name}. Set {PREFIX}{name.upper()} in the environment instead."
            )
    return values


def _has_secret(name: str, value: object) -> bool:
    if name == "database_url" and isinstance(value, str) and value:
        return parse_database_url(value).password is not None
    # In a NATS URL a token takes the place of the user name.
    return name in _SECRETS or (name == "bus_url" and "@" in str(value))


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, field in Settings.model_fields.items():
        if text := environment.get(PREFIX + name.upper()):
            is_list = field.annotation == list[str]
            values[name] = [part.strip() for part in text.split(",") if part.strip()] if is_list else text
    return values


def _explain(error: ValidationError, flags: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    problem = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"The settings contradict each other: {problem}."
    name = str(first["loc"][0])
    variable = PREFIX + name.upper()
    if flags.get(name) is not None:
        source = f"--{name.replace('_', '-')}"
    else:
        source = variable if environment.get(variable) else f"{name} in {CONFIG_FILE}"
    return f"{source}: {problem[0].lower()}{problem[1:]}."
