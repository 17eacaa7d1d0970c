"""Fits what a mind shows into its budget of tokens, and lists what is left out (F1).

Priority: instructions and identity, the trigger, what this run has done, the newest messages, those that call
the agent, then the others from newest to oldest. What does not fit is shortened with a note or counted.
Instructions are shortened last.

The result must stay the same from run to run, for providers' caches: the shares depend on the budget alone, and the
start of the history moves only when its share is full, and then by a quarter of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from majlis.minds import summaries
from majlis.minds.roles.scene import Routing
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.history_block import first_in_view
from majlis.minds.timeline.lines import MAX_TEXT, calls_agent
from majlis.minds.timeline.scene import Action, ActiveSpace, Asked, Message, Scene, Summary
from majlis.minds.view import LeftOut, View
from majlis.models.estimate_tokens import estimate, estimate_turns
from majlis.models.port import surely_fits
from majlis.shorten import shorten, shorten_text

S = TypeVar("S", Scene, RolesScene)
Fit = Callable[[S, "Shares"], S]

# How many times the shares are halved at most, and after how many times lists and instructions are shortened, too.
_LEVELS = 7
_SHORT_LISTS, _SHORT_INSTRUCTIONS = 2, 4
_CHARACTERS_PER_TOKEN = 3
# A line's id, time, name and mark.
_AROUND_MESSAGE = 60
_MOST_LISTED = 40
# The lists in a scene that can be shortened.
_KEPT = ("memories", "goals", "plans", "spaces")


def fit_view(scene: S, view: View, room: int | None, perceive: Callable[[S], View], fitted: Fit[S]) -> View:
    """The view of this scene in at most `room` tokens; None means no limit."""
    shown = scene
    if room is not None and not fits(view, room):
        for level in range(_LEVELS):
            shown = fitted(scene, Shares(max(room, 1) >> level, level))
            view = perceive(shown)
            if fits(view, room):
                break
    return replace(view, left_out=left_out(scene, shown))


def fits(view: View, room: int) -> bool:
    return surely_fits(view.turns, room) or estimate_turns(view.turns) <= room


@dataclass(frozen=True, slots=True)
class Shares:
    """What each part may take. `level` counts how many times the shares were halved."""

    tokens: int
    level: int

    def characters(self, part: int, least: int, most: int = 64 * 1024) -> int:
        """A `part`th of the tokens, in characters."""
        return min(most, max(least >> self.level, self.tokens * _CHARACTERS_PER_TOKEN // part))


def fit_timeline(scene: Scene, shares: Shares) -> Scene:
    common = _fit_common(scene, shares)
    history = _fit_history(scene, scene.history, shares, _kept_of(scene))
    first = next((message.seq for message in reversed(history.left_out)), 0) + 1 if history.left_out else 0
    asked = _fit_asked(scene.asked, scene.trigger, shares) if scene.asked else None
    return replace(common, history=history.shown, first_seq=first, asked=asked)


def fit_roles(scene: RolesScene, shares: Shares) -> RolesScene:
    history = _fit_history(scene.common, scene.history, shares, frozenset())
    left_out = scene.left_out + len(history.left_out)
    first = history.left_out[-1].seq + 1 if history.left_out else scene.first_seq
    return replace(
        scene,
        first_seq=first,
        common=_fit_common(scene.common, shares),
        history=history.shown,
        left_out=left_out,
        answer=_fit_message(scene.answer, shares) if scene.answer else None,
        said_elsewhere=_fit_newest(scene.said_elsewhere, shares),
        routing=_fit_routing(scene.routing, shares) if scene.routing else None,
    )


@dataclass(frozen=True, slots=True)
class _History:
    shown: tuple[Message, ...]
    left_out: tuple[Message, ...]


def _fit_history(scene: Scene, messages: Sequence[Message], shares: Shares, kept: frozenset[str | None]) -> _History:
    shorter = [_fit_message(message, shares) for message in messages]
    start = first_shown([_AROUND_MESSAGE + _cost(message) for message in shorter], shares.tokens // 2)
    before = [message for message in shorter[:start] if message.id in kept]
    called = [message for message in shorter[:start] if calls_agent(scene, message) and message.id not in kept]
    # The newest messages that call the agent and are not shown already.
    room = shares.tokens // 8
    for message in reversed(called):
        room -= _AROUND_MESSAGE + _cost(message)
        if room < 0:
            break
        before.append(message)
    before.sort(key=lambda message: message.seq)
    shown = {message.id for message in before}
    left_out = tuple(message for message in shorter[:start] if message.id not in shown)
    return _History((*before, *shorter[start:]), left_out)


def first_shown(costs: Sequence[int], room: int) -> int:
    """The index of the first message in view, as if the messages had come one by one: whenever they exceed the room,
    the oldest go until three quarters are left. The newest always stays."""
    start = taken = 0
    for end, cost in enumerate(costs):
        taken += cost
        if taken > room:
            while start < end and taken > room * 3 // 4:
                taken -= costs[start]
                start += 1
    return start


def _kept_of(scene: Scene) -> frozenset[str | None]:
    """The trigger, and the answers that ended a wait."""
    answers = (scene.resume.message_id, *(scene.resume.answers or ())) if scene.resume else ()
    return frozenset({scene.trigger.get("messageId"), *answers})


def _fit_asked(asked: Asked, trigger: Mapping[str, Any], shares: Shares) -> Asked:
    """The trigger, and as many of the messages directly around it as an eighth has room for."""
    shorter = [_fit_message(message, shares) for message in asked.history]
    at = next((message.seq for message in shorter if message.id == trigger.get("messageId")), 0)
    room = shares.tokens // 8
    shown: list[Message] = []
    for message in sorted(shorter, key=lambda message: abs(message.seq - at)):
        room -= _AROUND_MESSAGE + _cost(message)
        if shown and room < 0:
            break
        shown.append(message)
    return replace(asked, history=tuple(sorted(shown, key=lambda message: message.seq)))


def _fit_newest(messages: Sequence[Message], shares: Shares) -> tuple[Message, ...]:
    """As many of the newest messages as an eighth has room for; at least one."""
    shorter = [_fit_message(message, shares) for message in messages]
    return tuple(shorter[first_shown([_AROUND_MESSAGE + _cost(each) for each in shorter], shares.tokens // 8) :])


def _cost(message: Message) -> int:
    if message.tool is not None:
        return estimate(str(message.tool))
    return estimate(message.text)


def _fit_message(message: Message, shares: Shares) -> Message:
    most = shares.characters(8, 400, MAX_TEXT)
    tool = shorten(message.tool, most) if message.tool is not None else None
    return replace(message, text=shorten_text(message.text, most), tool=tool)


def _fit_common(scene: Scene, shares: Shares) -> Scene:
    config = scene.config
    if shares.level >= _SHORT_INSTRUCTIONS:
        config = config.model_copy(
            update={"instructions": shorten_text(config.instructions, shares.characters(1, 8_000))}
        )
    each = shares.characters(16, 320)
    active = _fit_space(scene.active, shares) if scene.active else None
    most = _MOST_LISTED >> max(0, shares.level - _SHORT_LISTS + 1)
    return replace(
        scene,
        config=config,
        active=active,
        trigger=_fit_trigger(scene.trigger, shares.characters(4, 1_600)),
        actions=tuple(_fit_actions(scene.actions, shares)),
        memories=tuple(
            replace(memory, value=shorten_text(memory.value, each)) for memory in _some(scene.memories, most, shares)
        ),
        goals=tuple(
            replace(goal, description=shorten_text(goal.description, each)) for goal in _some(scene.goals, most, shares)
        ),
        plans=_some(scene.plans, most, shares),
        spaces=_some(scene.spaces, most, shares),
        more_spaces=scene.more_spaces + len(scene.spaces) - len(_some(scene.spaces, most, shares)),
        more_kept=len(scene.memories)
        + len(scene.goals)
        + len(scene.plans)
        - sum(len(_some(each, most, shares)) for each in (scene.memories, scene.goals, scene.plans)),
    )


def _fit_space(active: ActiveSpace, shares: Shares) -> ActiveSpace:
    """Summaries and pins: the newest that a sixteenth each has room for."""
    room = shares.characters(16, 320)
    if shares.level == 0 and sum(len(each.text) for each in active.summaries) <= room:
        return active
    summaries: list[Summary] = []
    for each in reversed(active.summaries):
        room -= len(each.text)
        summaries.append(each if room >= 0 else replace(each, text=""))
    each_pin = shares.characters(64, 160)
    pins = tuple(replace(pin, text=shorten_text(pin.text, each_pin)) for pin in active.pins)
    return replace(active, summaries=tuple(reversed(summaries)), pins=pins)


L = TypeVar("L")


def _some(items: tuple[L, ...], most: int, shares: Shares) -> tuple[L, ...]:
    return items if shares.level < _SHORT_LISTS else items[: max(1, most)]


def _fit_trigger(trigger: Mapping[str, Any], most: int) -> Mapping[str, Any]:
    shorter = {name: shorten_text(trigger[name], most) for name in ("text", "instruction") if name in trigger}
    shorter |= {name: shorten(trigger[name], most) for name in ("payload", "result") if name in trigger}
    return {**trigger, **shorter} if shorter else trigger


def _fit_actions(actions: tuple[Action, ...], shares: Shares) -> Iterator[Action]:
    """Shortens calls, but names each of them, so that the model does not repeat it."""
    each = max(40, shares.characters(4, 1_600) // max(1, len(actions)))
    for action in actions:
        yield replace(action, input=shorten(action.input, each), output=shorten(action.output, each))


def _fit_routing(routing: Routing, shares: Shares) -> Routing:
    each = shares.characters(16, 320)
    turns = tuple(
        replace(
            turn,
            participants=tuple(
                replace(one, said=tuple(shorten_text(text, each) for text in one.said)) for one in turn.participants
            ),
        )
        for turn in routing.turns
    )
    request = _fit_message(routing.request, shares) if routing.request else None
    return replace(routing, request=request, turns=turns)


def left_out(scene: Scene | RolesScene, shown: Scene | RolesScene) -> tuple[LeftOut, ...]:
    """For people: which parts a view leaves out or shortens, and why. `shown` is the scene as the budget left it."""
    if isinstance(scene, RolesScene) and isinstance(shown, RolesScene):
        first = shown.first_seq
        found = [
            *_of_messages(scene.left_out, scene.history, shown.history),
            *_of_rest(scene.common, shown.common, first),
        ]
    elif isinstance(scene, Scene) and isinstance(shown, Scene):
        first = first_in_view(shown, shown.active) if shown.active else 1
        found = [*_of_messages(_before_window(scene), scene.history, shown.history), *_of_rest(scene, shown, first)]
    else:
        raise TypeError("two scenes of one mind")
    return tuple(each for each in found if each.count > 0)


def _before_window(scene: Scene) -> int:
    if scene.active is None:
        return 0
    first = first_in_view(scene, scene.active)
    return first - 1 - sum(message.seq < first for message in scene.history)


def _of_messages(before: int, loaded: Sequence[Message], shown: Sequence[Message]) -> Iterator[LeftOut]:
    yield LeftOut("messages", "left out", before, "window")
    yield LeftOut("messages", "left out", len(loaded) - len(shown), "budget")
    whole = {message.id: message for message in loaded}
    cut = [message for message in shown if message.text != whole[message.id].text or _tool_differs(message, whole)]
    yield LeftOut("messages", "shortened", len(cut), "budget")
    yield LeftOut("messages", "shortened", sum(len(message.text) > MAX_TEXT for message in shown), "length")


def _tool_differs(message: Message, whole: dict[str, Message]) -> bool:
    return message.tool is not whole[message.id].tool and message.tool != whole[message.id].tool


def _of_rest(scene: Scene, shown: Scene, first: int) -> Iterator[LeftOut]:
    if shown.active is not None and shown.active.summaries:
        yield LeftOut("messages", "summarised", summaries.count(summaries.shown(shown.active, first)), "window")
    if shown is scene:
        return
    for name in _KEPT:
        have, kept = getattr(scene, name), getattr(shown, name)
        yield LeftOut(name, "left out", len(have) - len(kept), "budget")
        yield LeftOut(name, "shortened", _differing(have, kept), "budget")
    yield LeftOut("calls", "shortened", _differing(scene.actions, shown.actions), "budget")
    yield LeftOut("trigger", "shortened", int(scene.trigger != shown.trigger), "budget")
    yield LeftOut("instructions", "shortened", int(scene.config.instructions != shown.config.instructions), "budget")


def _differing(have: Sequence[Any], kept: Sequence[Any]) -> int:
    return sum(one is not other and one != other for one, other in zip(have, kept, strict=False))
