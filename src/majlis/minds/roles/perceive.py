"""From a scene to turns: the system message, the conversation, what was missed, and last of all the trigger."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from majlis.minds.describe import describe_roles
from majlis.minds.quote import quote
from majlis.minds.roles.away import away_block, known_and_missed
from majlis.minds.roles.instructions import system_text
from majlis.minds.roles.routing import routing_text
from majlis.minds.roles.scene import Scene
from majlis.minds.roles.speech import trigger_turns, turn_of
from majlis.minds.timeline.actions import action_line, awaited, room_for
from majlis.minds.timeline.lines import message_line, resume_mark
from majlis.minds.timeline.scene import ActiveSpace
from majlis.minds.timeline.trigger_block import trigger_block
from majlis.minds.view import View
from majlis.models.port import Said, System, Turn, User

_SPOKEN_SINCE = "=== YOU HAVE SPOKEN HERE SINCE THE NEXT MESSAGE WAS WRITTEN; read_messages shows what you said ==="


def perceive(scene: Scene) -> View:
    turns = [System(system_text(scene)), *_conversation(scene), *_this_run(scene)]
    place = scene.place
    return View(
        tuple(turns),
        {place.id: place.trigger_seq} if place else {},
        scene.elsewhere[0] if scene.elsewhere else place.id if place else None,
        partial(describe_roles, scene),
        since={place.id: place.since} if place and place.since is not None else {},
        session_id=place.session_id if place else None,
        keeps_session=place is not None,
        beside=("route",) if scene.routing else (),
        notes=tuple(f"Message {each.id} is damaged and was left out: {each.reason}." for each in scene.damaged),
    )


def _conversation(scene: Scene) -> list[Turn]:
    if scene.routing is not None:
        return [User((routing_text(scene, scene.routing),))]
    if scene.common.trigger["type"] != "space_message" or scene.place is None:
        return [User((trigger_block(scene.common),))]
    known, missed = known_and_missed(scene)
    history = [turn for turn in (turn_of(scene, message) for message in known) if turn is not None]
    block = away_block(scene, missed)
    return [
        *_beginning(scene, history),
        *history,
        *([_ours(scene, block)] if block else []),
        # What this very run has said is told after the trigger.
        *([_ours(scene, _SPOKEN_SINCE)] if scene.place.spoke_since and not scene.common.actions else []),
        *trigger_turns(scene),
    ]


def _beginning(scene: Scene, history: list[Turn]) -> list[Turn]:
    """Some providers want a user's turn first, and a model should know that there was more."""
    if scene.left_out:
        count = f"{scene.left_out} EARLIER MESSAGE{'S' if scene.left_out > 1 else ''}"
        return [User((f"=== {count} NOT SHOWN; read_messages with offset reads more ===",))]
    if history and isinstance(history[0], Said):
        return [User(("=== THE CONVERSATION BEGINS HERE ===",))]
    return []


def _ours(scene: Scene, text: str) -> Turn:
    return System(text) if scene.common.config.projection == "seed" else User((text,))


def _this_run(scene: Scene) -> list[Turn]:
    """After a crash, a failed try or a pause: what is done must not be done again (J2)."""
    common = scene.common
    waited_for = awaited(common)
    lines = [action_line(action, room_for(action, waited_for)) for action in common.actions]
    if scene.answer is not None and scene.place is not None:
        # In the form of a timeline, whose mind the agent had when it asked: every line is quoted.
        active = ActiveSpace(scene.answer.space_id, scene.place.name, scene.answer.seq, 0)
        lines.append(message_line(replace(common, active=active), scene.answer))
    elif common.resume is not None:
        lines.append(f"  {resume_mark(common.resume)}")
    if scene.elsewhere is not None:
        lines.append(f"  Your active space is now {quote(scene.elsewhere[1])} (id: {scene.elsewhere[0]}).")
    if not lines:
        return []
    return [User(("\n".join(["=== THIS RUN SO FAR: it is done; do not do it again ===", *lines]),))]
