"""Trying an agent out: what it would be shown, without a model and without a trace."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from majlis.api.auth import TheEntry, TheGateway
from majlis.api.bodies import Body, IdText, PathId, Text, reply
from majlis.api.error_responses import refusals
from majlis.runs.view.preview import preview_agent
from majlis.runs.view.shapes import TryJson

router = APIRouter(tags=["agents"])


class Try(Body):
    text: Text = Field(description="What is said to it.")
    space_id: IdText | None = Field(
        default=None, description="Where; both must be members. Without, it comes from a service."
    )
    config: dict[str, Any] | None = Field(default=None, description="A whole config, to try before it is saved.")


@router.post("/api/agents/{agent_id}/try", response_model=TryJson, responses=refusals(404, 409))
async def try_out(gateway: TheGateway, entry: TheEntry, agent_id: PathId, body: Try) -> Response:
    """What the model would be shown if you said this now: a dry run. No model is asked, nothing is kept, nobody hears
    of it. For the owner and administrators."""
    caller = await entry.caller()
    return reply(await preview_agent(gateway.engine, caller, agent_id, body.text, body.space_id, body.config))
