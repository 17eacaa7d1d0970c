"""From a scene to turns: the system message, the conversation, missed messages (R4) and, last, the trigger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from majlis.clock import iso
from majlis.minds import summaries
from majlis.minds.describe import describe_roles
from majlis.minds.fit import fit_roles, fit_view
from majlis.minds.quote import quote
from majlis.minds.roles.escape import escape
from majlis.minds.roles.instructions import system_text
from majlis.minds.roles.routing import routing_text
from majlis.minds.roles.scene import Place, Scene
from majlis.minds.roles.speech import edits_after, is_own, missed_line, trigger_turns, turn_of, words_of
from majlis.minds.timeline.blocks import pins_block, reactions_block, trigger_block
from majlis.minds.timeline.history_block import action_line, awaited, room_for, stepped_start
from majlis.minds.timeline.lines import message_line, resume_mark
from majlis.minds.timeline.scene import ActiveSpace, Message, Summary
from majlis.minds.view import View, pictures_of
from majlis.models.port import Said, System, Turn, User

AWAY = "=== MESSAGES WHILE YOU WERE AWAY ==="
END = "=== END OF HISTORY ==="
NEW = "=== NEW INTERACTION ==="
_SPOKE_SINCE = "=== YOU SENT MESSAGES HERE AFTER THE NEXT MESSAGE WAS WRITTEN; read_messages shows them ==="


def perceive(scene: Scene, room: int | None = None) -> View:
    """`room` is the budget in tokens (F1)."""
    return fit_view(scene, _perceive(scene), room, _perceive, fit_roles)


def _perceive(scene: Scene) -> View:
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
        governed=_is_governed(scene),
        beside=("route",) if scene.routing else (),
        unsummarised=summaries.missing(scene.common.active, scene.first_seq) if scene.common.active else (),
        pictures=pictures_of([*(message.files for message in scene.history), scene.common.trigger.get("files")]),
        notes=tuple(f"Message {each.id} is damaged and was left out: {each.reason}." for each in scene.damaged),
    )


def _is_governed(scene: Scene) -> bool:
    active = scene.elsewhere or scene.common.active
    return active is None or active.governed


def _conversation(scene: Scene) -> list[Turn]:
    if scene.routing is not None:
        return [User((routing_text(scene, scene.routing),))]
    if scene.common.trigger["type"] != "space_message" or scene.place is None:
        return [User((trigger_block(scene.common),))]
    known, missed = _known_and_missed(scene)
    history = [turn for message in known for turn in _turns_of(scene, message)]
    block = _away_block(scene, missed)
    reactions = reactions_block(scene.common, scene.history)
    pins = pins_block(scene.common, scene.common.active)
    return [
        *_beginning(scene, history),
        *history,
        *([_ours(scene, _times(scene))] if scene.history else []),
        *([_ours(scene, block)] if block else []),
        *(_ours(scene, f"=== {each} ===") for each in _late_summaries(scene)),
        *(_ours(scene, f"=== {block}\n===") for block in (pins, reactions) if block),
        # The messages of this run are shown after the trigger.
        *([_ours(scene, _SPOKE_SINCE)] if scene.place.spoke_since and not scene.common.actions else []),
        *trigger_turns(scene),
    ]


def _times(scene: Scene) -> str:
    """The times (F8), apart from the messages, whose turns stay plain: first those of the messages in order, then that
    of the trigger, then the current time."""
    said = [f"  {iso(each.created_at)} {_who(scene, each)}" for each in scene.history if words_of(scene, each)]
    trigger = scene.common.trigger
    ends = f"  {trigger['timestamp']} {trigger['senderName']}: the last message", f"  {iso(scene.common.now)} now"
    return "\n".join(["=== TIMES of the messages, oldest first ===", *said, *ends, "==="])


def _who(scene: Scene, message: Message) -> str:
    return "you" if is_own(scene, message) else message.sender.name


def _turns_of(scene: Scene, message: Message) -> list[Turn]:
    turn = turn_of(scene, message)
    edits = [_ours(scene, line) for line in edits_after(scene, message)] if scene.common.edits else []
    return [*([turn] if turn is not None else []), *edits]


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
    summary = _handed_over(scene.place)
    if not missed:
        return "\n\n".join([*summary, NEW]) if summary else None
    return "\n\n".join([AWAY, *summary, *_missed_lines(scene, missed), END, NEW])


def _missed_lines(scene: Scene, missed: Sequence[Message]) -> list[str]:
    return [line for each in missed for line in (missed_line(scene, each), *edits_after(scene, each))]


def _handed_over(place: Place | None) -> list[str]:
    """The summary with its author (G11), because any member can write one."""
    if place is None or not place.summary:
        return []
    author = [f"=== HANDED OVER BY {place.summary_by} ==="] if place.summary_by else []
    return [*author, f"**Previous context**: {escape(place.summary)}"]


def _beginning(scene: Scene, history: list[Turn]) -> list[Turn]:
    """Some providers require a user turn first."""
    if scene.left_out:
        found = _settled_summaries(scene)
        left_out = scene.left_out - summaries.count(found)
        count = f"{left_out} EARLIER MESSAGE{'S' if left_out > 1 else ''}"
        lines = [f"=== {count} NOT SHOWN; read_messages with offset reads more ==="] if left_out > 0 else []
        lines += [f"=== {summaries.line(each)} ===" for each in found]
        return [User(("\n".join(lines),))]
    if history and isinstance(history[0], Said):
        return [User(("=== THE CONVERSATION BEGINS HERE ===",))]
    return []


def _elsewhere(scene: Scene) -> list[str]:
    """F4: the active space, if the run was asked in another one. What this run has sent there is among its calls."""
    if scene.elsewhere is None:
        return []
    there = replace(scene.common, active=scene.elsewhere, quoted=scene.quoted)
    sent = {action.message_id for action in scene.common.actions}
    said = [message_line(there, each) for each in scene.said_elsewhere if each.id not in sent]
    newest = ["  The newest messages there:", *said] if said else []
    return [f"  Your active space is now {quote(scene.elsewhere.name)} (id: {scene.elsewhere.id}).", *newest]


def _settled_summaries(scene: Scene) -> list[Summary]:
    """F3: before the history."""
    if scene.common.active is None or scene.place is None:
        return []
    start = partial(stepped_start, scene.common.config)
    return summaries.settled(scene.common.active, scene.first_seq, start, scene.place.trigger_seq - 1)


def _late_summaries(scene: Scene) -> list[str]:
    if scene.common.active is None or scene.place is None:
        return []
    start = partial(stepped_start, scene.common.config)
    found = summaries.late(scene.common.active, scene.first_seq, start, scene.place.trigger_seq - 1)
    return [summaries.line(each) for each in found]


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
    elif common.resume is not None and common.resume.message_id not in {each.id for each in scene.said_elsewhere}:
        lines.append(f"  {resume_mark(common.resume)}")
    lines += _elsewhere(scene)
    if not lines:
        return []
    return [User(("\n".join(["=== THIS RUN SO FAR: do not repeat these calls ===", *lines]),))]
