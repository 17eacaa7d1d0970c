"""Asks a provider or a server which models it offers. The key goes to the address that is asked, and nowhere else."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import orjson

from majlis.model_providers import LOCAL_SERVERS, PROVIDER_HOSTS, local_url
from majlis.models.provider_errors import ProviderErrors

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SECONDS = 10.0
_MAX_BYTES = 4 * 1024 * 1024
_MAX_MODELS = 2000
# On the provider's own host, where its API does not begin at /v1.
_PATHS = {
    "alibaba": "/compatible-mode/v1",
    "anthropic": "",
    "cohere": "",
    "deepseek": "",
    "fireworks": "/inference/v1",
    "google": "",
    "github-copilot": "",
    "groq": "/openai/v1",
    "openrouter": "/api/v1",
    "zai": "/api/paas/v4",
}
_NAME = re.compile(r"[!-~]{1,200}")
# Models of the same account that answer no messages.
_OTHER_KINDS = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|image|realtime|transcri|sora|davinci|babbage|rerank|\bocr\b|-ocr"
    r"|veo|imagen|audio|\baqa\b",
    re.IGNORECASE,
)


class Listing(NamedTuple):
    url: str
    headers: dict[str, str]


def can_list(provider: str) -> bool:
    return provider in PROVIDER_HOSTS or provider in LOCAL_SERVERS


def listing_at(provider: str, base_url: str | None, key: str | None, environ: Mapping[str, str]) -> Listing | None:
    """None if the provider cannot be asked."""
    host = PROVIDER_HOSTS.get(provider)
    home = f"https://{host}{_PATHS.get(provider, '/v1')}" if host else None
    base = (base_url or local_url(provider, environ) or home or "").rstrip("/")
    if not base:
        return None
    if provider == "anthropic":
        headers = {"x-api-key": key or "", "anthropic-version": "2023-06-01"}
        return Listing(f"{base.removesuffix('/v1')}/v1/models?limit=1000", headers)
    if provider == "google":
        return Listing(f"{base}/v1beta/models?pageSize=1000", {"x-goog-api-key": key or ""})
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if provider == "cohere" and base == home:
        return Listing(f"{base}/v1/models?endpoint=chat&page_size=1000", headers)
    return Listing(f"{base}/models", headers)


async def offered(listing: Listing, errors: ProviderErrors) -> list[str]:
    """Raises ModelFailed."""
    try:
        async with asyncio.timeout(_SECONDS):
            status, headers, body = await _fetched(listing)
    except TimeoutError:
        raise errors.timed_out(_SECONDS) from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise errors.misconfigured("its baseUrl is not a valid URL.") from None
    except (httpx.HTTPError, OSError) as error:
        raise errors.unreachable(str(error)) from None
    if status != 200:
        raise errors.of_body(status, headers, body)
    if len(body) > _MAX_BYTES:
        raise errors.endless(_MAX_BYTES)
    try:
        return _names(orjson.loads(body))
    except (ValueError, AttributeError, TypeError, LookupError):
        raise errors.not_found(status) from None


async def _fetched(listing: Listing) -> tuple[int, Mapping[str, str], bytes]:
    """Follows no redirect: the key is for this host."""
    here = urlsplit(listing.url).hostname in LOOPBACK
    body = bytearray()
    headers = listing.headers | {"Accept": "application/json", "Accept-Encoding": "identity"}
    async with (
        httpx.AsyncClient(timeout=_SECONDS, trust_env=not here, verify=listing.url.startswith("https:")) as client,
        client.stream("GET", listing.url, headers=headers) as response,
    ):
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > _MAX_BYTES:
                break
        return response.status_code, response.headers, bytes(body)


def _names(listed: Any) -> list[str]:
    rows = listed if isinstance(listed, list) else listed["data"] if "data" in listed else listed["models"]
    found = {_name(row) for row in rows[:_MAX_MODELS]}
    return sorted(name for name in found if _NAME.fullmatch(name) and not _OTHER_KINDS.search(name))


def _name(row: Any) -> str:
    """Google and Cohere say "name"; Google also lists what can only embed."""
    if "generateContent" not in row.get("supportedGenerationMethods", ["generateContent"]):
        return ""
    return str(row.get("id") or row.get("name") or "").removeprefix("models/")
