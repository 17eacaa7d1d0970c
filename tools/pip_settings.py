"""uv does not read pip's settings. Behind a mirror of the registry they name its address, so uv is told."""

import ast
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCOPES = ("global", "install", ":env:")  # the later outranks the earlier


def for_uv(listing: str) -> dict[str, str]:
    """Variables for uv out of what `pip config list` printed."""
    pip = parse(listing)
    found = {
        # The older names of the two: a developer's own UV_DEFAULT_INDEX and UV_INDEX outrank them.
        "UV_INDEX_URL": " ".join(places(pip.get("index-url", ""))),
        "UV_EXTRA_INDEX_URL": " ".join(places(pip.get("extra-index-url", ""))),
        "UV_FIND_LINKS": ",".join(places(pip.get("find-links", ""))),
        "UV_INSECURE_HOST": " ".join(pip.get("trusted-host", "").split()),
        "UV_HTTP_TIMEOUT": pip.get("timeout", pip.get("default-timeout", "")),
        "SSL_CERT_FILE": pip.get("cert", ""),
        "ALL_PROXY": pip.get("proxy", ""),
        # As pip does, take a version from whichever index has it; its hash says that it is the right one.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_PYTHON_DOWNLOADS": "never",
    }
    return {name: value for name, value in found.items() if value}


def parse(listing: str) -> dict[str, str]:
    found: dict[str, dict[str, str]] = {scope: {} for scope in SCOPES}
    for line in listing.splitlines():
        key, _, value = line.partition("=")
        scope, _, name = key.partition(".")
        if scope in found:
            found[scope][name] = str(ast.literal_eval(value))
    return {name: value for scope in SCOPES for name, value in found[scope].items()}


def places(value: str) -> list[str]:
    """Without the folders that are not there: pip passes over them, uv stops."""
    return [place for place in value.split() if is_reachable(place)]


def is_reachable(place: str) -> bool:
    if place.startswith("file:"):
        return Path(unquote(urlsplit(place).path)).exists()
    return "://" in place or Path(place).exists()
