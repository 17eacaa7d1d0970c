"""The order of the blocks (X8): `classic` as in the original design, `stable` for providers' prompt caches.

In `stable`, blocks that never change come first, then the history, which only grows at its end, then what is new in
each run. GOALS, MEMORIES and YOUR SPACES come before the history because they change less often than its first line,
unless they depend on the person on whose behalf the run acts (G3): then they come after it.
PLANS contain the time until each plan, so they come after it. New lines follow the seen lines under one heading,
because the next run repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby

from majlis.minds.describe import describe_timeline
from majlis.minds.fit import fit_timeline, fit_view
from majlis.minds.timeline import blocks
from majlis.minds.timeline.blocks import instructions_block, own_instructions_block, trigger_block
from majlis.minds.timeline.history_block import (
    asked_block,
    earlier,
    first_in_view,
    half_window,
    heading,
    late_summaries,
    omission,
    settled,
    this_run_block,
    timeline,
    unsummarised,
)
from majlis.minds.timeline.lines import MAX_TEXT, edit_lines, seen_line
from majlis.minds.timeline.scene import Message, Scene
from majlis.minds.view import View, pictures_of
from majlis.models.port import System, Turn, User, surely_fits

# Some providers refuse a request without a user turn, and some models do not act on one (F8).
_GO = "Act on the trigger, or end this run."


def perceive(scene: Scene, room: int | None = None) -> View:
    """`room` is the budget in tokens (F1)."""
    show = classic if scene.config.layout == "classic" else stable
    view = show(scene)
    if _shows_all(scene) and (room is None or surely_fits(view.turns, room)):
        return view
    return fit_view(scene, view, room, show, fit_timeline)


def classic(scene: Scene) -> View:
    text = _joined(
        f"{blocks.identity_block(scene)}\n{blocks.current_time(scene)}",
        trigger_block(scene),
        blocks.classic_active_space(scene.active, scene.auto_set),
        _whole_history(scene),
        asked_block(scene),
        this_run_block(scene),
        blocks.pins_block(scene, scene.active),
        blocks.reactions_block(scene, scene.history),
        blocks.spaces_block(scene),
        blocks.goals_block(scene),
        blocks.memories_block(scene),
        blocks.plans_block(scene, countdown=True),
        blocks.runs_block(scene),
        instructions_block(scene.config),
        own_instructions_block(scene.config),
    )
    return _view(scene, System(text), User((_GO,)))


def stable(scene: Scene) -> View:
    system = _joined(
        instructions_block(scene.config), own_instructions_block(scene.config), blocks.identity_block(scene)
    )
    until = settled(scene)
    return _view(scene, System(system), User((*_lasting_parts(scene, until), _passing_part(scene, until))))


def _whole_history(scene: Scene) -> str | None:
    if scene.active is None:
        return None
    lines = timeline(scene, scene.history)
    return "\n".join([heading(scene.active), *omission(scene, scene.active), *earlier(scene, scene.active), *lines])


def _lasting_parts(scene: Scene, until: int) -> list[str]:
    """Each full block of half a window is one part, because the next runs contain it unchanged. The blocks before the
    history belong to the first part."""
    lead = "" if scene.limited else _joined(*_own_blocks(scene), "")
    if scene.active is None:
        return [lead]
    lead += _lines([heading(scene.active), *omission(scene, scene.active), *earlier(scene, scene.active)])
    half = half_window(scene.config)
    seen = [message for message in scene.history if message.seq <= until]
    groups = groupby(seen, key=lambda message: _block(message, until, half))
    parts = [_lines(_seen_lines(scene, group)) for _, group in groups]
    return [lead + parts[0], *parts[1:]] if parts else [lead]


def _seen_lines(scene: Scene, messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        yield seen_line(scene, message)
        yield from edit_lines(scene, message)


def _own_blocks(scene: Scene) -> tuple[str | None, ...]:
    return blocks.goals_block(scene), blocks.memories_block(scene), blocks.spaces_block(scene)


def _block(message: Message, until: int, half: int) -> int:
    """The number of the full block that a message is in; -1 after the last full one."""
    block = (message.seq - 1) // half
    return block if (block + 1) * half <= until else -1


def _passing_part(scene: Scene, until: int) -> str:
    new = timeline(scene, [message for message in scene.history if message.seq > until]) if scene.active else []
    rest = _joined(
        this_run_block(scene),
        late_summaries(scene),
        blocks.pins_block(scene, scene.active),
        blocks.reactions_block(scene, scene.history),
        *(_own_blocks(scene) if scene.limited else ()),
        blocks.plans_block(scene, countdown=True),
        asked_block(scene),
        trigger_block(scene),
        blocks.active_space_block(scene.active, scene.auto_set, depth=scene.trigger.get("chainDepth")),
        blocks.runs_block(scene),
        f"NOW:\n{blocks.current_time(scene)}",
    )
    return f"{_lines(new)}\n{rest}" if scene.active else rest


def _view(scene: Scene, *turns: Turn) -> View:
    active = scene.active.id if scene.active else None
    shown = {active: max(message.seq for message in scene.history)} if active and scene.history else {}
    if scene.asked is not None and scene.asked.history:
        shown[scene.asked.space.id] = scene.asked.history[-1].seq
    carried = [message.files for message in scene.history if message.files]
    return View(
        turns,
        shown,
        active,
        partial(describe_timeline, scene),
        governed=scene.active is None or scene.active.governed,
        unsummarised=unsummarised(scene),
        pictures=pictures_of(carried) if carried else (),
    )


def _shows_all(scene: Scene) -> bool:
    """True if the window has room for every message, and each line for its text."""
    if any(len(message.text) > MAX_TEXT for message in scene.history):
        return False
    return scene.active is None or first_in_view(scene, scene.active) == 1


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _joined(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part is not None)
