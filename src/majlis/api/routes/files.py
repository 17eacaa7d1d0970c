"""Files: upload to a space, list those of a space, download."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import Header, Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from majlis.api.auth import Entry, TheEntry, TheGateway
from majlis.api.bodies import IdText, PageLimit, PathId, reply
from majlis.api.error_responses import refusals
from majlis.api.middleware import CLOSE
from majlis.api.multipart import FIELD, receive_file
from majlis.api.route import new_router
from majlis.errors import MajlisError, NotFound
from majlis.files.names import disposition
from majlis.files.sniff import PICTURES, served_as
from majlis.files.upload import too_large
from majlis.gateway import Gateway
from majlis.spaces.attachments import check_upload, record_file, reserve_blob
from majlis.spaces.file_rights import access_file
from majlis.spaces.gallery import FilePageJson, list_files
from majlis.spaces.shapes import FileJson

router = new_router("files")

POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; base-uri 'none'; frame-ancestors 'none'"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)
# The parts of a body around the file.
_AROUND = 64 * 1024
_DRAINED = 32 * 1024 * 1024
_DRAINED_SECONDS = 10
UploadKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=128,
        pattern=r"^[!-~]+$",
        description="Chosen by you for this file: a repeated request with the same key stores nothing twice.",
    ),
]
ThumbnailSize = Annotated[Literal["160", "320", "640", "1280"], Query()]
UPLOAD_FORM = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {FIELD: {"type": "string", "format": "binary"}},
                "required": [FIELD],
            }
        }
    },
}


@router.post(
    "/api/spaces/{space_id}/files",
    status_code=201,
    response_model=FileJson,
    responses=refusals(404, 409),
    openapi_extra={"requestBody": UPLOAD_FORM},
)
async def upload(
    entry: TheEntry, gateway: TheGateway, request: Request, space_id: PathId, idempotency_key: UploadKey = None
) -> Response:
    body = request.stream()
    try:
        uploader_id = await entry.read(check_upload, space_id)
        return await _store(entry, gateway, request, body, space_id, uploader_id, idempotency_key)
    except MajlisError:
        await drain(request, body)
        raise


async def _store(
    entry: Entry,
    gateway: Gateway,
    request: Request,
    body: AsyncIterator[bytes],
    space_id: str,
    uploader_id: str,
    idempotency_key: str | None,
) -> Response:
    uploads = gateway.uploads
    length = request.headers.get("content-length", "0")
    if length.isdigit() and int(length) > uploads.max_bytes + _AROUND:
        raise too_large(uploads.max_bytes)
    with uploads.begin(uploader_id) as spool:
        received = await receive_file(request.headers.get("content-type", ""), body, spool)
        name, stored = await gateway.db.write(reserve_blob, received.sha256, received.bytes)
        if not stored:
            await uploads.store.put(name, received.path)
        return reply(await entry.write(record_file, space_id, received, name, idempotency_key), 201)


async def drain(request: Request, body: AsyncIterator[bytes]) -> None:
    """Many clients read a refusal only after they have sent everything. A body that goes on is cut off."""
    left = _DRAINED
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(_DRAINED_SECONDS):
            async for piece in body:
                left -= len(piece)
                if left < 0:
                    break
            else:
                return
    request.scope[CLOSE] = True


@router.get("/api/spaces/{space_id}/files", response_model=FilePageJson, responses=refusals(404))
async def list_of_space(
    entry: TheEntry,
    space_id: PathId,
    limit: PageLimit = 50,
    before: Annotated[IdText | None, Query(description="The last file of the previous page.")] = None,
) -> Response:
    """The files that messages of the space carry, newest first."""
    return reply(await entry.read(list_files, space_id, limit, before))


@router.get(
    "/api/files/{file_id}",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The content."},
        206: {"content": {"application/octet-stream": {}}, "description": "The requested range."},
        304: {"description": "The caller has this content."},
        416: {"description": "The range is outside of the file."},
        **refusals(404),
    },
)
async def download(entry: TheEntry, gateway: TheGateway, request: Request, file_id: PathId) -> Response:
    file = await entry.read(access_file, file_id)
    media_type, inline = served_as(file.media_type)
    headers = {
        "content-security-policy": POLICY,
        "content-disposition": disposition(file.name, inline),
        "accept-ranges": "bytes",
        "etag": f'"{file.sha256}"',
        # Kept by the browser, but only shown again if the caller may still read it.
        "cache-control": "private, no-cache",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    start, end, status = _range(request, file)
    if status == 416:
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{file.bytes}"})
    if status == 206:
        headers["content-range"] = f"bytes {start}-{end - 1}/{file.bytes}"
    pieces = gateway.uploads.store.read(file.blob, start, end)
    try:
        first = await anext(pieces, b"")
    except FileNotFoundError:
        raise NotFound("missing_file", f"The content of {file_id} is missing from the file store.") from None

    async def content() -> Any:
        yield first
        async for piece in pieces:
            yield piece

    headers["content-length"] = str(end - start)
    return StreamingResponse(content(), status, headers, media_type)


@router.get(
    "/api/files/{file_id}/thumbnail",
    response_class=Response,
    responses={
        200: {"content": {"image/webp": {}}, "description": "The smaller picture."},
        304: {"description": "The caller has this content."},
        **refusals(404),
    },
)
async def thumbnail(
    entry: TheEntry, gateway: TheGateway, request: Request, file_id: PathId, size: ThumbnailSize = "320"
) -> Response:
    """A picture that is at most `size` wide and high. Other files have none (404)."""
    file = await entry.read(access_file, file_id)
    if file.media_type not in PICTURES:
        raise NotFound("not_a_picture", f"{file_id} is {file.media_type}, so it has no thumbnail.")
    headers = {
        "content-security-policy": POLICY,
        "etag": f'"{file.sha256}-{size}"',
        "cache-control": "private, no-cache",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(await gateway.files.picture(file, int(size), "WEBP"), 200, headers, "image/webp")


def _range(request: Request, file: Any) -> tuple[int, int, int]:
    """Start, end and status. One range at most: anything else is answered with the whole file, as HTTP allows."""
    size: int = file.bytes
    asked = _RANGE.fullmatch(request.headers.get("range", ""))
    if (
        asked is None
        or asked[1] == asked[2] == ""
        or request.headers.get("if-range", "") not in ("", f'"{file.sha256}"')
    ):
        return 0, size, 200
    if asked[1] == "":
        start, end = max(0, size - int(asked[2])), size
    else:
        start, end = int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size
    return (start, end, 206) if start < end else (0, 0, 416)
