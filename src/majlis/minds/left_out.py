"""Lists what a view leaves out or shortens, and why (F1), for people, who see it beside the prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from majlis.minds import summaries
from majlis.minds.roles.scene import Scene as RolesScene
from majlis.minds.timeline.history_block import first_in_view
from majlis.minds.timeline.lines import MAX_TEXT
from majlis.minds.timeline.scene import Message, Scene
from majlis.minds.view import LeftOut

_KEPT = ("memories", "goals", "plans", "spaces")


def left_out(scene: Scene | RolesScene, shown: Scene | RolesScene) -> tuple[LeftOut, ...]:
    """`shown` is the scene as the budget left it."""
    if isinstance(scene, RolesScene) and isinstance(shown, RolesScene):
        first = shown.first_seq
        found = [*_messages(scene.left_out, scene.history, shown.history), *_rest(scene.common, shown.common, first)]
    elif isinstance(scene, Scene) and isinstance(shown, Scene):
        first = first_in_view(shown, shown.active) if shown.active else 1
        found = [*_messages(_before_window(scene), scene.history, shown.history), *_rest(scene, shown, first)]
    else:
        raise TypeError("two scenes of one mind")
    return tuple(each for each in found if each.count > 0)


def _before_window(scene: Scene) -> int:
    if scene.active is None:
        return 0
    first = first_in_view(scene, scene.active)
    return first - 1 - sum(message.seq < first for message in scene.history)


def _messages(before: int, loaded: Sequence[Message], shown: Sequence[Message]) -> Iterator[LeftOut]:
    yield LeftOut("messages", "left out", before, "window")
    yield LeftOut("messages", "left out", len(loaded) - len(shown), "budget")
    whole = {message.id: message for message in loaded}
    cut = [message for message in shown if message.text != whole[message.id].text or _tool_differs(message, whole)]
    yield LeftOut("messages", "shortened", len(cut), "budget")
    yield LeftOut("messages", "shortened", sum(len(message.text) > MAX_TEXT for message in shown), "length")


def _tool_differs(message: Message, whole: dict[str, Message]) -> bool:
    return message.tool is not whole[message.id].tool and message.tool != whole[message.id].tool


def _rest(scene: Scene, shown: Scene, first: int) -> Iterator[LeftOut]:
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
