"""Triggers: why an agent runs (T11). Stored on the run, shown to the model and by the API, with the keys of the
wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from typing_extensions import TypedDict

from majlis.spaces.shapes import FileJson

TriggerType = Literal["space_message", "plan", "service", "heartbeat", "tool_result"]


class EventJson(TypedDict, total=False):
    """`type` and `chainDepth` are always set; the other keys depend on the type.

    space_message: spaceId spaceName messageId senderId senderName senderType text timestamp senderExpectsReply
    [replyTo] [files] [answersExpired: the id of the agent's own question whose wait had timed out (M8)]
    [turnId: the turn that it was routed in; for the orchestrator, the one that is finished (R8)]
    [orchestrates: the agent is the orchestrator of the space]
    plan: planId planName instruction scheduledAt · heartbeat: scheduledAt
    service: serviceName [serviceLabel] payload eventId
    tool_result: toolName toolCallId result
    All of a consciousness: [again: the cycle before reached its limit before it got to this event]
    """

    type: TriggerType
    chainDepth: int
    spaceId: str
    spaceName: str
    messageId: str
    senderId: str
    senderName: str
    senderType: str
    text: str
    files: list[FileJson]
    timestamp: str
    senderExpectsReply: bool
    replyTo: str
    answersExpired: str
    turnId: str
    orchestrates: bool
    planId: str
    planName: str
    instruction: str
    scheduledAt: str
    serviceName: str
    serviceLabel: str
    payload: Any
    eventId: str
    toolName: str
    toolCallId: str
    result: Any
    again: bool


class TriggerJson(EventJson, total=False):
    """A cycle lists all its `events`, people's first, then by time. The other keys are those of the first event, but
    `chainDepth` is the greatest (T6)."""

    events: list[EventJson]


def to_route(events: Iterable[EventJson], space_id: str) -> EventJson | None:
    """The message that the space's orchestrator routes: the latest, since the routed agents see what came before it."""
    mine = [event for event in events if event.get("spaceId") == space_id and "orchestrates" in event]
    return max(mine, key=lambda event: event["messageId"], default=None)
