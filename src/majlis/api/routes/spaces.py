"""Spaces: settings, members, read positions and phases."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import (
    Direct,
    IdText,
    NewMember,
    NewPhase,
    NewSpace,
    PageLimit,
    PathId,
    ReadPosition,
    SpaceChange,
    nothing,
    reply,
)
from majlis.api.error_responses import refusals
from majlis.api.route import new_router
from majlis.inbox.pause import PausedJson, pause_space
from majlis.spaces.access import access_space
from majlis.spaces.direct import open_direct
from majlis.spaces.members import add_member, list_members, remove_member
from majlis.spaces.phases import PhaseChange, change_phase, list_phases
from majlis.spaces.pins import PinsJson, list_pins
from majlis.spaces.queries import list_all_spaces, list_spaces, space_json
from majlis.spaces.read_position import ReadJson, mark_read
from majlis.spaces.shapes import MemberJson, PhaseJson, SpaceJson, SpaceOutlineJson
from majlis.spaces.spaces import change_space, create_space, delete_space
from majlis.spaces.summaries import SummariesJson, list_summaries

router = new_router("spaces")


@router.post("/api/spaces", status_code=201, response_model=SpaceJson, responses=refusals(404))
async def create(entry: TheEntry, body: NewSpace) -> Response:
    arguments = body.name, body.description, body.triggers, body.orchestrator_id
    return reply(await entry.write(create_space, *arguments), 201)


@router.post(
    "/api/direct",
    status_code=201,
    response_model=SpaceJson,
    responses={200: {"model": SpaceJson, "description": "The conversation exists already."}, **refusals(404)},
)
async def direct(entry: TheEntry, body: Direct) -> Response:
    """Your direct conversation with a person or an agent. It is created when you first ask for it."""
    space, new = await entry.write(open_direct, body.entity_id)
    return reply(space, 201 if new else 200)


@router.get("/api/spaces", response_model=list[SpaceJson], responses=refusals())
async def list_mine(
    entry: TheEntry,
    limit: Annotated[int | None, Query(ge=1, le=1000, description="Default: all.")] = None,
    after: Annotated[IdText | None, Query(description="The last id of the previous page.")] = None,
) -> Response:
    """Your spaces, most recently active first."""
    return reply(await entry.snapshot(list_spaces, limit, after))


# Before the next route, which would read "all" as an id.
@router.get("/api/spaces/all", response_model=list[SpaceOutlineJson], responses=refusals())
async def list_all(
    entry: TheEntry,
    after: Annotated[IdText | None, Query(description="The last id of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
) -> Response:
    """All spaces of the gateway and their members, without messages. For admins."""
    return reply(await entry.read(list_all_spaces, after, limit))


@router.get("/api/spaces/{space_id}", response_model=SpaceJson, responses=refusals(404))
async def get_one(entry: TheEntry, space_id: PathId) -> Response:
    return reply(await entry.snapshot(space_json, space_id))


@router.patch("/api/spaces/{space_id}", response_model=SpaceJson, responses=refusals(404))
async def change(entry: TheEntry, space_id: PathId, body: SpaceChange) -> Response:
    changes = body.changes()
    if changes.get("tool_policy") is not None:
        changes["tool_policy"] = [rule.model_dump(by_alias=True) for rule in changes["tool_policy"]] or None
    return reply(await entry.write(change_space, space_id, changes))


@router.delete("/api/spaces/{space_id}", status_code=204, responses=refusals(404))
async def delete(entry: TheEntry, space_id: PathId) -> Response:
    await entry.write(delete_space, space_id)
    return nothing()


@router.post("/api/spaces/{space_id}/pause", response_model=PausedJson, responses=refusals(404))
async def pause(entry: TheEntry, space_id: PathId) -> Response:
    """No agent works in the space until it is resumed. For its admins, and admins of the gateway."""
    return reply(await entry.write(pause_space, space_id, True))


@router.delete("/api/spaces/{space_id}/pause", response_model=PausedJson, responses=refusals(404))
async def resume(entry: TheEntry, space_id: PathId) -> Response:
    return reply(await entry.write(pause_space, space_id, False))


@router.post(
    "/api/spaces/{space_id}/members",
    status_code=201,
    response_model=MemberJson,
    responses={200: {"model": MemberJson, "description": "The entity was already a member."}, **refusals(404, 409)},
)
async def add(entry: TheEntry, space_id: PathId, body: NewMember) -> Response:
    member, new = await entry.write(add_member, space_id, body.entity_id, body.role)
    return reply(member, 201 if new else 200)


@router.get("/api/spaces/{space_id}/members", response_model=list[MemberJson], responses=refusals(404))
async def list_members_of(entry: TheEntry, space_id: PathId) -> Response:
    return reply(await entry.read(list_members, space_id))


@router.delete("/api/spaces/{space_id}/members/{entity_id}", status_code=204, responses=refusals(404, 409))
async def remove(entry: TheEntry, space_id: PathId, entity_id: PathId) -> Response:
    await entry.write(remove_member, space_id, entity_id)
    return nothing()


@router.post("/api/spaces/{space_id}/read", response_model=ReadJson, responses=refusals(404))
async def read(entry: TheEntry, space_id: PathId, body: ReadPosition) -> Response:
    return reply(await entry.write_brief(mark_read, space_id, body.last_message_id))


@router.post("/api/spaces/{space_id}/typing", status_code=204, responses=refusals(404))
async def type_message(gateway: TheGateway, entry: TheEntry, space_id: PathId) -> Response:
    """Tells the members who follow the space that you are writing a message. Call it every few seconds meanwhile."""
    caller = await entry.caller()
    await entry.read(access_space, space_id, "write")
    gateway.hub.tell_typing(space_id, caller.id)
    return nothing()


@router.get("/api/spaces/{space_id}/pins", response_model=PinsJson, responses=refusals(404))
async def list_pins_of(entry: TheEntry, space_id: PathId) -> Response:
    """The pinned messages, newest pin first."""
    return reply(await entry.read(list_pins, space_id))


@router.get("/api/spaces/{space_id}/summaries", response_model=SummariesJson, responses=refusals(404))
async def list_summaries_of(
    entry: TheEntry,
    space_id: PathId,
    limit: PageLimit = 50,
    before: Annotated[
        int | None, Query(ge=1, le=2**53, description="Only summaries of messages before this number.")
    ] = None,
) -> Response:
    """What agents are shown instead of messages that left their windows, oldest first. Each is of 25 messages."""
    return reply(await entry.read(list_summaries, space_id, limit, before))


@router.post("/api/spaces/{space_id}/phase", response_model=PhaseJson, responses=refusals(404))
async def enter_phase(entry: TheEntry, space_id: PathId, body: NewPhase) -> Response:
    change = PhaseChange(body.phase, body.message, body.summary, body.reason)
    return reply(await entry.write(change_phase, space_id, change))


@router.get("/api/spaces/{space_id}/phases", response_model=list[PhaseJson], responses=refusals(404))
async def list_phases_of(entry: TheEntry, space_id: PathId) -> Response:
    return reply(await entry.read(list_phases, space_id))
