"""Pictures of people, agents and services."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request, Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.multipart import receive_file
from majlis.api.route import new_router
from majlis.api.routes.files import POLICY, UPLOAD_FORM, drain
from majlis.entities.pictures import check_picture, read_picture, remove_picture, set_picture
from majlis.entities.shapes import EntityJson
from majlis.errors import MajlisError

router = new_router("entities")

Sha256 = Annotated[
    str, Path(pattern="^[0-9a-f]{64}$", description="The hash of the content. `picture` of a member is the whole path.")
]


@router.put(
    "/api/entities/{entity_id}/picture",
    response_model=EntityJson,
    responses=refusals(404),
    openapi_extra={"requestBody": UPLOAD_FORM},
)
async def put_picture(entry: TheEntry, gateway: TheGateway, request: Request, entity_id: PathId) -> Response:
    """Sets your own picture, or as an admin another member's. The middle of the upload is cut out and made small."""
    body = request.stream()
    try:
        with gateway.uploads.begin(await entry.read(check_picture, entity_id)) as spool:
            received = await receive_file(request.headers.get("content-type", ""), body, spool)
            content = await gateway.files.portrait(received)
        return reply(await entry.write(set_picture, entity_id, content))
    except MajlisError:
        await drain(request, body)
        raise


@router.delete("/api/entities/{entity_id}/picture", status_code=204, responses=refusals(404))
async def delete_picture(entry: TheEntry, entity_id: PathId) -> Response:
    """Removes your own picture, or as an admin another member's."""
    await entry.write(remove_picture, entity_id)
    return nothing()


@router.get(
    "/api/pictures/{sha256}",
    response_class=Response,
    responses={200: {"content": {"image/webp": {}}, "description": "The picture."}, **refusals(404)},
)
async def get_picture(entry: TheEntry, sha256: Sha256) -> Response:
    """Returns the picture of a member. Its address changes with its content."""
    content = await entry.read(read_picture, sha256)
    headers = {"content-security-policy": POLICY, "cache-control": "private, max-age=31536000, immutable"}
    return Response(content, 200, headers, "image/webp")
