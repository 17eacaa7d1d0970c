"""Spaces and their members."""

from __future__ import annotations

from fastapi import APIRouter, Response

from majlis.api.auth import TheCaller, TheGateway
from majlis.api.bodies import NewMember, NewPhase, NewSpace, PathId, ReadPosition, SpaceChange
from majlis.api.errors import refusals
from majlis.api.reply import nothing, reply
from majlis.spaces.members import add_member, list_members, remove_member
from majlis.spaces.overview import list_spaces, space_json
from majlis.spaces.phases import PhaseChange, change_phase, list_phases
from majlis.spaces.reading import ReadJson, mark_read
from majlis.spaces.shapes import MemberJson, PhaseJson, SpaceJson
from majlis.spaces.spaces import change_space, create_space, delete_space

router = APIRouter(tags=["spaces"])


@router.post("/api/spaces", status_code=201, response_model=SpaceJson, responses=refusals(404))
async def create(gateway: TheGateway, caller: TheCaller, body: NewSpace) -> Response:
    arguments = body.name, body.description, body.triggers, body.orchestrator_id
    return reply(await gateway.db.write(create_space, caller, *arguments), 201)


@router.get("/api/spaces", response_model=list[SpaceJson], responses=refusals())
async def list_mine(gateway: TheGateway, caller: TheCaller) -> Response:
    return reply(await gateway.db.snapshot(list_spaces, caller))


@router.get("/api/spaces/{space_id}", response_model=SpaceJson, responses=refusals(404))
async def get_one(gateway: TheGateway, caller: TheCaller, space_id: PathId) -> Response:
    return reply(await gateway.db.snapshot(space_json, caller, space_id))


@router.patch("/api/spaces/{space_id}", response_model=SpaceJson, responses=refusals(404))
async def change(gateway: TheGateway, caller: TheCaller, space_id: PathId, body: SpaceChange) -> Response:
    return reply(await gateway.db.write(change_space, caller, space_id, body.changes()))


@router.delete("/api/spaces/{space_id}", status_code=204, responses=refusals(404))
async def delete(gateway: TheGateway, caller: TheCaller, space_id: PathId) -> Response:
    await gateway.db.write(delete_space, caller, space_id)
    return nothing()


@router.post(
    "/api/spaces/{space_id}/members",
    status_code=201,
    response_model=MemberJson,
    responses={200: {"model": MemberJson, "description": "Was a member already."}, **refusals(404, 409)},
)
async def add(gateway: TheGateway, caller: TheCaller, space_id: PathId, body: NewMember) -> Response:
    member, new = await gateway.db.write(add_member, caller, space_id, body.entity_id, body.role)
    return reply(member, 201 if new else 200)


@router.get("/api/spaces/{space_id}/members", response_model=list[MemberJson], responses=refusals(404))
async def list_members_of(gateway: TheGateway, caller: TheCaller, space_id: PathId) -> Response:
    return reply(await gateway.db.read(list_members, caller, space_id))


@router.delete("/api/spaces/{space_id}/members/{entity_id}", status_code=204, responses=refusals(404, 409))
async def remove(gateway: TheGateway, caller: TheCaller, space_id: PathId, entity_id: PathId) -> Response:
    await gateway.db.write(remove_member, caller, space_id, entity_id)
    return nothing()


@router.post("/api/spaces/{space_id}/read", response_model=ReadJson, responses=refusals(404))
async def read(gateway: TheGateway, caller: TheCaller, space_id: PathId, body: ReadPosition) -> Response:
    return reply(await gateway.db.write(mark_read, caller, space_id, body.last_message_id))


@router.post("/api/spaces/{space_id}/phase", response_model=PhaseJson, responses=refusals(404))
async def enter_phase(gateway: TheGateway, caller: TheCaller, space_id: PathId, body: NewPhase) -> Response:
    change = PhaseChange(body.phase, body.message, body.summary, body.reason)
    return reply(await gateway.db.write(change_phase, caller, space_id, change))


@router.get("/api/spaces/{space_id}/phases", response_model=list[PhaseJson], responses=refusals(404))
async def list_phases_of(gateway: TheGateway, caller: TheCaller, space_id: PathId) -> Response:
    return reply(await gateway.db.read(list_phases, caller, space_id))
