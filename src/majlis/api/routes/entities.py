"""People, agents and services, and the caller itself."""

from __future__ import annotations

from fastapi import Response

from majlis.api.auth import TheEntry
from majlis.api.bodies import AfterId, EntityChange, ListLimit, NewEntity, PathId, nothing, reply
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.entities.block_people import BlockJson, block, list_blocks, unblock
from majlis.entities.caller import EntityType
from majlis.entities.change import change_entity, delete_entity
from majlis.entities.entities import access_entity, create_entity, list_entities, read_me
from majlis.entities.preferences import Preferences, PreferencesJson, change_preferences, read_preferences
from majlis.entities.shapes import EntityJson, MeJson, entity_json

router = new_router("entities")


@router.get("/api/me", response_model=MeJson, responses=refusals())
async def get_me(entry: TheEntry) -> Response:
    return reply(await entry.read(read_me))


@router.get("/api/me/preferences", response_model=PreferencesJson, responses=refusals())
async def get_preferences(entry: TheEntry) -> Response:
    """Returns what you chose in the web app. For people."""
    return reply(await entry.read(read_preferences))


@router.patch("/api/me/preferences", response_model=PreferencesJson, responses=refusals())
async def patch_preferences(entry: TheEntry, body: Preferences) -> Response:
    """Replaces the fields that you send. Your open apps get the event `preferences.changed`."""
    return reply(await entry.write(change_preferences, body))


@router.get("/api/blocks", response_model=list[BlockJson], responses=refusals())
async def list_blocked(entry: TheEntry) -> Response:
    """Members who cannot add you to spaces."""
    return reply(await entry.read(list_blocks))


@router.put("/api/blocks/{entity_id}", status_code=204, responses=refusals(404))
async def put_block(entry: TheEntry, entity_id: PathId) -> Response:
    """From now on, this member cannot add you to spaces."""
    await entry.write(block, entity_id)
    return nothing()


@router.delete("/api/blocks/{entity_id}", status_code=204, responses=refusals())
async def delete_block(entry: TheEntry, entity_id: PathId) -> Response:
    await entry.write(unblock, entity_id)
    return nothing()


@router.post("/api/entities", status_code=201, response_model=EntityJson, responses=refusals(409))
async def create(entry: TheEntry, body: NewEntity) -> Response:
    entity = await entry.write(create_entity, body.type, body.name, body.external_id, body.role)
    return reply(entity, 201)


@router.get("/api/entities", response_model=list[EntityJson], responses=refusals())
async def list_all(
    entry: TheEntry, type: EntityType | None = None, after: AfterId = None, limit: ListLimit = 1000
) -> Response:
    return reply(await entry.read(lambda tx, caller: list_entities(tx, type, after, limit, caller)))


@router.get("/api/entities/{entity_id}", response_model=EntityJson, responses=refusals(404))
async def get_one(entry: TheEntry, entity_id: PathId) -> Response:
    return reply(await entry.read(lambda tx, caller: entity_json(access_entity(tx, entity_id), caller)))


@router.patch("/api/entities/{entity_id}", response_model=EntityJson, responses=refusals(404, 409))
async def change(entry: TheEntry, entity_id: PathId, body: EntityChange) -> Response:
    changes = body.changes()
    role = changes.pop("role", None)
    return reply(await entry.write(change_entity, entity_id, changes, role))


@router.delete("/api/entities/{entity_id}", status_code=204, responses=refusals(404, 409))
async def delete(entry: TheEntry, entity_id: PathId) -> Response:
    await entry.write(delete_entity, entity_id)
    return nothing()
