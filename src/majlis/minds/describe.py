"""Describes what a mind shows as plain data, for the demo model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from majlis.minds.consciousness.scene import Waking
from majlis.minds.roles.scene import Place
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.scene import ActiveSpace, Message, OwnSpace, Scene
from majlis.models.demo.outline import Line, Member, Outline, Routing, Seen, Space


def describe_timeline(scene: Scene) -> Outline:
    before = takewhile(lambda message: message.id != scene.trigger.get("messageId"), scene.history)
    resumed_by = scene.resume.message_id if scene.resume else None
    answer = next((message for message in scene.history if message.id == resumed_by), None)
    return _run(scene, scene.active, before, answer)


def describe_roles(scene: RolesScene) -> Outline:
    described = _run(scene.common, scene.place, scene.history, scene.answer)
    if scene.routing is None:
        return described
    turns = scene.routing.turns
    finished = sum(turn.finished for turn in turns)
    return described._replace(routing=Routing(scene.routing.agents, finished, finished < len(turns)))


def describe_cycle(waking: Waking) -> Outline:
    events = tuple(_seen(waking.world, event, event.get("spaceId")) for event in waking.inbox)
    return Outline(events, waking.active.id if waking.active else None, _made(waking.world))


def _run(scene: Scene, place: ActiveSpace | Place | None, before: Iterable[Message], answer: Message | None) -> Outline:
    timed_out = scene.resume is not None and scene.resume.status in ("timeout", "withdrawn")
    seen = replace(
        _seen(scene, scene.trigger, place.id if place else None, place.phase if place else None),
        history=tuple(map(_line, before)),
        resumed=None if scene.resume is None else "timeout" if timed_out else "replied",
        answer=_line(answer) if answer else None,
        made=tuple((call.name, call.output if call.state == "done" else None) for call in scene.actions),
    )
    return Outline((seen,), place.id if place else None, _made(scene))


def _made(scene: Scene) -> int:
    """A message that was held is not sent yet (E8)."""
    return sum(not call.was_held for call in scene.actions)


def _seen(scene: Scene, event: Mapping[str, Any], space_id: str | None, phase: str | None = None) -> Seen:
    spaces = tuple(map(_space, scene.spaces))
    memories = sorted(scene.memories, key=lambda memory: memory.key)
    active = next((space._replace(phase=phase) for space in spaces if space.id == space_id), None)
    return Seen(scene.agent.name, event, spaces, active, tuple(memory.value for memory in memories))


def _space(space: OwnSpace) -> Space:
    others = sorted(space.members, key=lambda member: (member.name, member.id))
    return Space(space.id, space.name, tuple(Member(each.name, each.type) for each in others))


def _line(message: Message) -> Line:
    """Leaves out the text of a tool's message, which no member wrote."""
    sender = Member(message.sender.name, message.sender.type)
    return Line(sender, "" if message.kind == "tool" else message.text)
