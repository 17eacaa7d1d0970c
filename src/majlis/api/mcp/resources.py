"""Resources: spaces with their newest messages, and files."""

from __future__ import annotations

import base64
import re

import orjson
from mcp import types

from majlis.api.auth import Entry
from majlis.entities.caller import Caller
from majlis.errors import NotFound, TooLarge
from majlis.files.sniff import is_text
from majlis.gateway import Gateway
from majlis.spaces.file_rights import access_file
from majlis.spaces.history import read_page
from majlis.spaces.queries import list_spaces, space_json
from majlis.store.transactions import Tx

SPACE = "majlis://space/"
FILE = "majlis://file/"
_URI = re.compile(r"majlis://(space|file)/([a-z]{3}_[0-9a-z]{16})", re.ASCII)
_JSON = "application/json"
_PAGE = 100
MAX_FILE_BYTES = 3 * 1024 * 1024


async def list_resources(entry: Entry, cursor: str | None) -> types.ListResourcesResult:
    """The spaces. Files are found in messages; their resources have a template."""
    found = await entry.snapshot(list_spaces, _PAGE + 1, cursor)
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=SPACE + space["id"],
                name=space["name"],
                title=space["name"],
                description=space["description"] or None,
                mime_type=_JSON,
            )
            for space in found[:_PAGE]
        ],
        next_cursor=found[_PAGE - 1]["id"] if len(found) > _PAGE else None,
        ttl_ms=0,
        cache_scope="private",
    )


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=SPACE + "{spaceId}",
            name="space",
            title="Space",
            description="A space with its members and its 50 newest messages.",
            mime_type=_JSON,
        ),
        types.ResourceTemplate(
            uri_template=FILE + "{fileId}",
            name="file",
            title="File",
            description=f"The content of a file that a message carries, up to {MAX_FILE_BYTES} bytes.",
        ),
    ]


async def read_resource(gateway: Gateway, entry: Entry, uri: str) -> types.ReadResourceResult:
    found = _URI.fullmatch(uri)
    if found is None:
        raise NotFound("unknown_resource", f"There is no resource {uri}. Use majlis://space/ID or majlis://file/ID.")
    content = await (_space(entry, found[2], uri) if found[1] == "space" else _file(gateway, entry, found[2], uri))
    return types.ReadResourceResult(contents=[content], ttl_ms=0, cache_scope="private")


async def _space(entry: Entry, space_id: str, uri: str) -> types.TextResourceContents:
    def read(tx: Tx, caller: Caller) -> bytes:
        return orjson.dumps({**space_json(tx, caller, space_id), **read_page(tx, caller, space_id)})

    return types.TextResourceContents(uri=uri, mime_type=_JSON, text=(await entry.snapshot(read)).decode())


async def _file(
    gateway: Gateway, entry: Entry, file_id: str, uri: str
) -> types.TextResourceContents | types.BlobResourceContents:
    file = await entry.read(access_file, file_id)
    if file.bytes > MAX_FILE_BYTES:
        problem = f"The file has {file.bytes} bytes, more than {MAX_FILE_BYTES}. Download it from /api/files/{file_id}."
        raise TooLarge("file_too_large", problem)
    if is_text(file.media_type):
        text = (await gateway.engine.files.text(file)).text
        return types.TextResourceContents(uri=uri, mime_type=file.media_type, text=text)
    try:
        data = b"".join([piece async for piece in gateway.uploads.store.read(file.blob, 0, file.bytes)])
    except FileNotFoundError:
        raise NotFound("missing_file", f"The content of {file.id} is missing from the file store.") from None
    return types.BlobResourceContents(uri=uri, mime_type=file.media_type, blob=base64.b64encode(data).decode())
