"""Asks a model server how many tokens a request may have (F1).

Servers answer in different forms. Most add a number to their list of models; llama.cpp, LM Studio and Ollama also have
addresses of their own, which tell how the model is loaded now. Nothing here loads a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import httpx
import orjson

from majlis.models.connect.list_models import Listing

_MAX_BYTES: Final = 4 * 1024 * 1024
# In a list of models: vLLM and SGLang; OpenRouter, Together and others; Groq; Mistral; Google; Anthropic.
_LISTED = (
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "inputTokenLimit",
    "max_input_tokens",
)
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


class Size(NamedTuple):
    tokens: int
    # False: what the model could read. The server loads it at the first request and may give it less.
    loaded: bool = True


async def ask_size(client: httpx.AsyncClient, listing: Listing, name: str, is_own: bool) -> Size | None:
    """None if the server does not tell. Raises httpx.HTTPError or OSError if it cannot be asked.

    `is_own`: a server that people run themselves."""
    server = _Server(client, listing)
    listed = _row(await server.get(listing.url), name)
    if (size := _listed(listed)) is not None or not is_own:
        return size
    root = listing.url.removesuffix("/models").removesuffix("/v1")
    return (
        _llama_cpp(await server.get(f"{root}/props?model={quote(name, safe='')}&autoload=false"))
        or _lm_studio(await server.get(f"{root}/api/v0/models"), name)
        or await _ollama(server, root, name)
    )


class _Server:
    def __init__(self, client: httpx.AsyncClient, listing: Listing) -> None:
        self._client = client
        self._headers = listing.headers | {"Accept": "application/json", "Accept-Encoding": "identity"}

    async def get(self, url: str, body: Any = None) -> Any:
        """With a body it is a POST. None if there is no JSON at this address. Follows no redirect: the key is for this
        host."""
        read = bytearray()
        content = None if body is None else orjson.dumps(body)
        method = "GET" if body is None else "POST"
        async with self._client.stream(method, url, headers=self._headers, content=content) as response:
            async for piece in response.aiter_raw():
                read += piece
                if len(read) > _MAX_BYTES:
                    return None
        if response.status_code >= 500:
            raise httpx.HTTPStatusError("The server has an error.", request=response.request, response=response)
        try:
            return orjson.loads(read) if response.status_code == 200 else None
        except ValueError:
            return None


def _row(listed: Any, name: str) -> Mapping[str, Any]:
    """Finds this model in a list of models."""
    rows = listed.get("data", listed.get("models")) if isinstance(listed, Mapping) else listed
    found = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    for row in found:
        aliases = row.get("aliases")
        names = [row.get("id"), row.get("name"), row.get("model"), *(aliases if isinstance(aliases, list) else ())]
        if any(each in (name, f"models/{name}", f"{name}:latest") for each in names):
            return row
    # llama.cpp has one model and accepts every name for it.
    return found[0] if len(found) == 1 and "meta" in found[0] else {}


def _listed(row: Mapping[str, Any]) -> Size | None:
    # llama.cpp says what one of its slots has.
    slot = _positive(_inside(row, "meta", "n_ctx"))
    if slot is not None:
        return Size(slot)
    found = [row.get(key) for key in _LISTED] + [_inside(row, "top_provider", "context_length")]
    sizes = [size for size in map(_positive, found) if size is not None]
    return Size(min(sizes)) if sizes else None


def _llama_cpp(props: Any) -> Size | None:
    size = _positive(_inside(props, "default_generation_settings", "n_ctx"))
    return Size(size) if size is not None else None


def _lm_studio(listed: Any, name: str) -> Size | None:
    row = _row(listed, name)
    loaded, most = _positive(row.get("loaded_context_length")), _positive(row.get("max_context_length"))
    return Size(loaded) if loaded is not None else Size(most, loaded=False) if most is not None else None


async def _ollama(server: _Server, root: str, name: str) -> Size | None:
    running = _row(await server.get(f"{root}/api/ps"), name)
    if (loaded := _positive(running.get("context_length"))) is not None:
        return Size(loaded)
    shown = await server.get(f"{root}/api/show", {"model": name})
    if not isinstance(shown, Mapping):
        return None
    info = shown.get("model_info")
    items = info.items() if isinstance(info, Mapping) else ()
    trained = next((_positive(value) for key, value in items if key.endswith(".context_length")), None)
    chosen = _NUM_CTX.search(str(shown.get("parameters") or ""))
    if chosen is not None and int(chosen[1]) > 0:
        return Size(min(int(chosen[1]), trained or int(chosen[1])))
    # Models of Ollama's cloud always have their full size.
    return Size(trained, loaded=bool(shown.get("remote_host"))) if trained is not None else None


def _inside(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _positive(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
