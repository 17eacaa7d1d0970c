"""An orchestrator's routing view (R8): the request, finished turns and the current turn, with quoted text."""

from __future__ import annotations

from collections.abc import Iterable

from majlis.clock import iso
from majlis.minds.quote import quote, quote_start
from majlis.minds.roles.scene import Participant, Routing, Scene, Turn
from majlis.minds.timeline.lines import stamp

# Messages of the latest turns are shown at length, of earlier ones the beginning.
_AT_LENGTH = 3
_MAX_LONG = 2_000
_MAX_SHORT = 300
_MAX_SAID = 3
_DOING = {"pending": "has not started yet", "taken": "is working"}


def routing_text(scene: Scene, routing: Routing) -> str:
    finished = [turn for turn in routing.turns if turn.finished]
    current = [turn for turn in routing.turns if not turn.finished]
    numbers = {turn.id: n for n, turn in enumerate(routing.turns, 1)}
    latest = len(routing.turns) - _AT_LENGTH
    omitted = ["  (… earlier turns are not shown)"] if routing.more_turns else []

    def drawn(turns: Iterable[Turn]) -> list[str]:
        lengths = ((each, _MAX_LONG if numbers[each.id] > latest else _MAX_SHORT) for each in turns)
        return [_turn(each, numbers[each.id], length) for each, length in lengths]

    parts = (
        _listed("AGENTS:", (f"  - {name}" for name in routing.agents)),
        _listed("ORIGINAL REQUEST:", _request(routing)),
        _listed("FINISHED TURNS:", [*omitted, *drawn(finished)]),
        _listed("CURRENT TURN:", drawn(current)),
        _listed("NOW:", [_now(scene, routing, numbers)]),
    )
    return "\n\n".join(parts)


def _listed(heading: str, lines: Iterable[str]) -> str:
    return "\n".join([heading, *(list(lines) or ["  (none)"])])


def _request(routing: Routing) -> list[str]:
    request = routing.request
    if request is None:
        return []
    who = f"{request.sender.name} ({request.sender.type}, id:{request.sender.id})"
    return [f"  {stamp(request)} {who}: {quote(request.text)}"]


def _turn(turn: Turn, number: int, words: int) -> str:
    routed = ", ".join(each.name for each in turn.participants) or "no agent"
    phase = f", phase: {quote(turn.phase)}" if turn.phase else ""
    reason = f", reason: {quote(turn.reason)}" if turn.reason else ""
    lines = (_participant(each, words) for each in turn.participants)
    return "\n".join([f"  {number}. [{iso(turn.at)}] routed to {routed}{phase}{reason}", *lines])


def _participant(each: Participant, words: int) -> str:
    said = " · ".join(quote_start(text, words) for text in each.said[-_MAX_SAID:])
    if each.state in _DOING:
        return f"     - {each.name} {_DOING[each.state]}{f' and has said: {said}' if said else ''}"
    if each.state == "failed":
        return f"     - {each.name} could not complete it{f', but has said: {said}' if said else ''}"
    return f"     - {each.name} completed{f': {said}' if said else ' without a message'}"


def _now(scene: Scene, routing: Routing, numbers: dict[str, int]) -> str:
    if routing.finished is not None:
        number = numbers.get(routing.finished)
        return f"  Turn {number} is finished." if number else "  A turn is finished."
    trigger = scene.common.trigger
    if routing.request is not None and routing.request.id == trigger.get("messageId"):
        return "  The request is new."
    who = f"{trigger['senderName']} ({trigger['senderType']}, id:{trigger['senderId']})"
    return f"  {who}: {quote(trigger['text'])}"
