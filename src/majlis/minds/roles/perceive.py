"""From a scene to turns: the system message, the conversation, missed messages (R4) and, last, the trigger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from majlis.minds.describe import describe_roles
from majlis.minds.quote import quote
from majlis.minds.roles.escape import escape
from majlis.minds.roles.instructions import system_text
from majlis.minds.roles.routing import routing_text
from majlis.minds.roles.scene import Scene
from majlis.minds.roles.speech import is_own, missed_line, trigger_turns, turn_of, words_of
from majlis.minds.timeline.blocks import trigger_block
from majlis.minds.timeline.history_block import action_line, awaited, room_for
from majlis.minds.timeline.lines import message_line, resume_mark
from majlis.minds.timeline.scene import ActiveSpace, Message
from majlis.minds.view import View
from majlis.models.port import Said, System, Turn, User

AWAY = "=== MESSAGES WHILE YOU WERE AWAY ==="
END = "=== END OF HISTORY ==="
NEW = "=== NEW INTERACTION ==="
_SPOKE_SINCE = "=== YOU SENT MESSAGES HERE AFTER THE NEXT MESSAGE WAS WRITTEN; read_messages shows them ==="


def perceive(scene: Scene) -> View:
    turns = [System(system_text(scene)), *_conversation(scene), *_this_run(scene)]
    place = scene.place
    return View(
        tuple(turns),
        {place.id: place.trigger_seq} if place else {},
        scene.elsewhere.id if scene.elsewhere else place.id if place else None,
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
    known, missed = _known_and_missed(scene)
    history = [turn for turn in (turn_of(scene, message) for message in known) if turn is not None]
    block = _away_block(scene, missed)
    return [
        *_beginning(scene, history),
        *history,
        *([_ours(scene, block)] if block else []),
        # The messages of this run are shown after the trigger.
        *([_ours(scene, _SPOKE_SINCE)] if scene.place.spoke_since and not scene.common.actions else []),
        *trigger_turns(scene),
    ]


def _known_and_missed(scene: Scene) -> tuple[list[Message], list[Message]]:
    """Missed messages are those of others after `since`. In its first run in a space the agent has missed none (R3)."""
    since = scene.place.since if scene.place else None
    known: list[Message] = []
    missed: list[Message] = []
    for message in scene.history:
        new = since is not None and message.seq > since and not is_own(scene, message)
        (missed if new and words_of(scene, message) else known).append(message)
    return known, missed


def _away_block(scene: Scene, missed: Sequence[Message]) -> str | None:
    """The missed messages, with the summary of a handover (R6)."""
    handed_over = scene.place.summary if scene.place else None
    summary = [f"**Previous context**: {escape(handed_over)}"] if handed_over else []
    if not missed:
        return "\n\n".join([*summary, NEW]) if summary else None
    return "\n\n".join([AWAY, *summary, *(missed_line(scene, each) for each in missed), END, NEW])


def _beginning(scene: Scene, history: list[Turn]) -> list[Turn]:
    """Some providers require a user turn first."""
    if scene.left_out:
        count = f"{scene.left_out} EARLIER MESSAGE{'S' if scene.left_out > 1 else ''}"
        return [User((f"=== {count} NOT SHOWN; read_messages with offset reads more ===",))]
    if history and isinstance(history[0], Said):
        return [User(("=== THE CONVERSATION BEGINS HERE ===",))]
    return []


def _ours(scene: Scene, text: str) -> Turn:
    return System(text) if scene.common.config.projection == "seed" else User((text,))


def _this_run(scene: Scene) -> list[Turn]:
    """The run's earlier calls, after a crash, a failed attempt or a pause (J2)."""
    common = scene.common
    waited_for = awaited(common)
    lines = [action_line(action, room_for(action, waited_for)) for action in common.actions]
    if scene.answer is not None and scene.place is not None:
        # As a quoted line of the timeline: the agent had that mind when it asked.
        active = ActiveSpace(scene.answer.space_id, scene.place.name, scene.answer.seq, 0)
        lines.append(message_line(replace(common, active=active), scene.answer))
    elif common.resume is not None:
        lines.append(f"  {resume_mark(common.resume)}")
    if scene.elsewhere is not None:
        lines.append(f"  Your active space is now {quote(scene.elsewhere.name)} (id: {scene.elsewhere.id}).")
    if not lines:
        return []
    return [User(("\n".join(["=== THIS RUN SO FAR: do not repeat these calls ===", *lines]),))]
