"""Describes what a mind shows as plain data, for the demo model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from majlis.minds.consciousness.scene import Waking
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.scene import Message, OwnSpace, Scene
from majlis.models.outline import Line, Made, Member, Outline, Resume, Seen, Space, Trigger


def describe_timeline(scene: Scene) -> Outline:
    before = takewhile(lambda message: message.id != scene.trigger.get("messageId"), scene.history)
    resumed_by = scene.resume.message_id if scene.resume else None
    answer = next((message for message in scene.history if message.id == resumed_by), None)
    return _run(scene, scene.active.id if scene.active else None, before, answer)


def describe_roles(scene: RolesScene) -> Outline:
    """An orchestrator's routing view has no event: the demo model does not route."""
    if scene.routing is not None:
        return Outline()
    return _run(scene.common, scene.place.id if scene.place else None, scene.history, scene.answer)


def describe_cycle(waking: Waking) -> Outline:
    events = tuple(_seen(waking.world, event, event.get("spaceId")) for event in waking.inbox)
    return Outline(events, waking.active.id if waking.active else None, len(waking.world.actions))


def _run(scene: Scene, space_id: str | None, before: Iterable[Message], answer: Message | None) -> Outline:
    seen = replace(
        _seen(scene, scene.trigger, space_id),
        history=tuple(map(_line, before)),
        resume=_resume(scene, answer),
        made=tuple(Made(call.name, call.output if call.state == "done" else None) for call in scene.actions),
    )
    return Outline((seen,), space_id, len(scene.actions))


def _resume(scene: Scene, answer: Message | None) -> Resume | None:
    if scene.resume is None:
        return None
    if scene.resume.status == "timeout":
        return Resume("timeout")
    return Resume("replied", _line(answer) if answer else None)


def _seen(scene: Scene, event: Mapping[str, Any], space_id: str | None) -> Seen:
    spaces = tuple(Space(space.id, space.name, _members(space)) for space in scene.spaces)
    return Seen(
        name=scene.agent.name,
        trigger=_trigger(event),
        spaces=spaces,
        active=next((space for space in spaces if space.id == space_id), None),
        memories=tuple(sorted((memory.key, memory.value) for memory in scene.memories)),
    )


def _members(space: OwnSpace) -> tuple[Member, ...]:
    others = sorted(space.members, key=lambda member: (member.name, member.id))
    return tuple(Member(each.name, each.type) for each in others)


def _trigger(event: Mapping[str, Any]) -> Trigger:
    return Trigger(
        type=event["type"],
        sender=Member(event["senderName"], event["senderType"]) if "senderName" in event else None,
        text=event.get("text", ""),
        message_id=event.get("messageId", ""),
        expects_reply=bool(event.get("senderExpectsReply")),
        depth=event.get("chainDepth", 0),
        instruction=event.get("instruction", ""),
        service=event.get("serviceName", ""),
        payload=event.get("payload"),
    )


def _line(message: Message) -> Line:
    """Without the text of a tool's message, which no one said."""
    return Line(message.sender.name, message.sender.type, "" if message.kind == "tool" else message.text)
