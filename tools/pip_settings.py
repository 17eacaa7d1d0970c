"""uv does not read pip's settings, such as the address of a mirror. This converts them."""

import ast
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCOPES = ("global", "install", ":env:")  # later ones take precedence


def for_uv(listing: str) -> dict[str, str]:
    """Environment variables for uv from the output of `pip config list`."""
    pip = parse(listing)
    found = {
        # The older names, so that a developer's UV_DEFAULT_INDEX and UV_INDEX take precedence.
        "UV_INDEX_URL": " ".join(places(pip.get("index-url", ""))),
        "UV_EXTRA_INDEX_URL": " ".join(places(pip.get("extra-index-url", ""))),
        "UV_FIND_LINKS": ",".join(places(pip.get("find-links", ""))),
        "UV_INSECURE_HOST": " ".join(pip.get("trusted-host", "").split()),
        "UV_HTTP_TIMEOUT": pip.get("timeout", pip.get("default-timeout", "")),
        "SSL_CERT_FILE": pip.get("cert", ""),
        "ALL_PROXY": pip.get("proxy", ""),
        # Like pip, take a version from any index that has it. The hash is checked.
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
    """Without folders that do not exist: pip skips them, uv fails."""
    return [place for place in value.split() if is_reachable(place)]


def is_reachable(place: str) -> bool:
    if place.startswith("file:"):
        return Path(unquote(urlsplit(place).path)).exists()
    return "://" in place or Path(place).exists()
