"""Checks of the configuration, the disk, the bus and the port."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from majlis.cli.doctor import Finding, ok, problem, warning
from majlis.cli.local import key_file
from majlis.cli.remote import default_url
from majlis.client import MajlisClient
from majlis.client.transport import is_loopback
from majlis.data_directory import exposed, mode
from majlis.errors import MajlisError
from majlis.settings import CONFIG_FILE, PREFIX, Settings, unknown_variables
from majlis.store.open import sqlite_path

_MEGABYTE = 1024 * 1024
_TOO_LITTLE = 100 * _MEGABYTE
_LITTLE = 1024 * _MEGABYTE
_BUS_TIMEOUT_SECONDS = 5
_PORT_ADVICE = {
    errno.EADDRINUSE: "Stop the program that uses it, or choose another port with --port.",
    errno.EACCES: "Choose a port above 1023 with --port.",
    errno.EADDRNOTAVAIL: "Choose an address of this machine with --host; 0.0.0.0 means all of them.",
}


def check_configuration(settings: Settings, config: Path | None, environment: Mapping[str, str]) -> Iterator[Finding]:
    file = config or environment.get("MAJLIS_CONFIG") or (CONFIG_FILE if Path(CONFIG_FILE).is_file() else None)
    variables = sum(1 for name in Settings.model_fields if environment.get(PREFIX + name.upper()))
    source = f"{file or f'no {CONFIG_FILE}'}, {variables} from the environment"
    yield ok("configuration", f"The settings are valid ({source}).")
    for name in unknown_variables(environment):
        close = get_close_matches(name.removeprefix(PREFIX).lower(), Settings.model_fields, 1)
        advice = f"Did you mean {PREFIX}{close[0].upper()}?" if close else "Remove it; see docs/configuration.md."
        yield warning("configuration", f"{name} is not a Majlis setting and has no effect.", advice)
    if not is_loopback(settings.host) and not settings.public_url.startswith("https://"):
        yield warning(
            "configuration",
            f"Majlis listens on {settings.host} for other machines, but MAJLIS_PUBLIC_URL is not an https URL.",
            "Put an https proxy in front of it and set MAJLIS_PUBLIC_URL; otherwise tokens are sent unencrypted.",
        )


def check_exposure(settings: Settings) -> Iterator[Finding]:
    """Settings that open more than most gateways need."""
    public = not is_loopback(settings.host) or bool(settings.public_url)
    wide = {
        "tool_hosts": "*" in settings.tool_hosts and "tools can send what an agent knows to every public host",
        "mcp_commands": "*" in settings.mcp_commands and "every admin can run any program on this machine",
        "allowed_origins": "*" in settings.allowed_origins and "pages from any site can call the API",
        "trusted_proxies": "*" in settings.trusted_proxies and "callers can claim to have any address",
        "oidc_sign_up": settings.oidc_sign_up and "everyone with an account at the provider becomes a member",
        "metrics_open": settings.metrics_open and public and "everyone who reaches the server can read its metrics",
    }
    found = [(name, effect) for name, effect in wide.items() if effect]
    for name, effect in found:
        advice = f"Name what you need in {name}, or turn it off; see docs/security.md."
        yield warning("configuration", f"{name} is wide open: {effect}.", advice)
    if not found:
        yield ok("configuration", "No setting is wide open (hosts, programs, origins, proxies, sign-up, metrics).")


def check_disk(settings: Settings) -> Iterator[Finding]:
    # If the directory does not exist yet, its nearest existing parent.
    path = settings.data_dir.absolute()
    folder = next(folder for folder in (path, *path.parents) if folder.exists())
    yield _writable(settings.data_dir, folder)
    yield _free_space(folder)
    yield _key(settings)
    yield _modes(settings)


async def check_bus(settings: Settings) -> Finding:
    if not settings.bus_url:
        return ok("bus", "No bus is configured; a single process needs none.")
    from nats.errors import Error as NatsError

    try:
        async with asyncio.timeout(_BUS_TIMEOUT_SECONDS):
            version = await _nats_version(settings.bus_url)
    except (NatsError, OSError, TimeoutError, ValueError) as error:
        return problem(
            "bus",
            f"Cannot connect to NATS: {str(error).rstrip('.') or 'no response'}.",
            "Start NATS, or check --bus-url. Until then, other processes get events up to a second late.",
        )
    return ok("bus", f"NATS {version} is available.")


async def check_port(settings: Settings) -> Finding:
    if settings.port == 0:
        return ok("port", "A free port is selected at each start.")
    url = default_url(settings)
    async with MajlisClient(url, patience_seconds=0) as client:
        try:
            health = await client.health()
        except MajlisError as error:
            if error.code == "unreachable":
                return _free_port(settings)
            if error.code == "unhealthy":
                return problem("port", f"Majlis runs at {url}, but reports: {error.message}", "Fix the part it names.")
            return problem("port", f"{url} is used by another program, not Majlis.", _PORT_ADVICE[errno.EADDRINUSE])
    return ok("port", f"Majlis {health['version']} runs at {url} (database {health['database']}, bus {health['bus']}).")


def _writable(data_dir: Path, folder: Path) -> Finding:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return problem("disk", f"{folder} is not writable.", f"Choose another with --data-dir, or chown {folder}.")
    created = "" if data_dir.exists() else " (created at the first start)"
    return ok("disk", f"The data directory {data_dir} is writable{created}.")


def _free_space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    message = f"{free // _MEGABYTE:,} MB are free in {folder}."
    if free >= _LITTLE:
        return ok("disk", message)
    advice = "Free some space, or move the data directory to a larger disk."
    return (warning if free >= _TOO_LITTLE else problem)("disk", message, advice)


def _key(settings: Settings) -> Finding:
    if settings.secret_key is not None:
        return ok("disk", "The server key comes from MAJLIS_SECRET_KEY.")
    if not key_file(settings).exists():
        return ok("disk", "There is no server key yet; it is created at the first start.")
    return ok("disk", f"The server key is in {settings.data_dir}.")


def _modes(settings: Settings) -> Finding:
    found = exposed(settings.data_dir, sqlite_path(settings.database))
    if not found:
        return ok("disk", "Only this user can read the data directory and the database.")
    listed = ", ".join(f"{path} (mode {mode(path):o})" for path in found)
    advice = f"Run: chmod go= {' '.join(map(str, found))}"
    return problem("disk", f"Other users of this machine can use {listed}.", advice)


async def _nats_version(url: str) -> str:
    import nats
    from nats.errors import NoServersError

    failures: list[Exception] = []

    async def keep(error: Exception) -> None:
        failures.append(error)

    try:
        client = await nats.connect(
            url, connect_timeout=2, max_reconnect_attempts=1, reconnect_time_wait=0, error_cb=keep, name="majlis doctor"
        )
    except NoServersError:
        # This error gives no reason; the first failure does.
        raise failures[0] if failures else TimeoutError from None
    version = client.connected_server_version
    await client.close()
    return f"{version.major}.{version.minor}.{version.patch}"


def _free_port(settings: Settings) -> Finding:
    where = f"{settings.host}:{settings.port}"
    try:
        [found, *_] = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = found
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        advice = _PORT_ADVICE.get(error.errno or 0, "Choose another address with --host or --port.")
        return problem("port", f"Cannot listen on {where}: {error.strerror}.", advice)
    return ok("port", f"{where} is free.")
