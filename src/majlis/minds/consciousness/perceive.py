"""What a cycle begins with: the refreshed system prompt, the compacted past, recent cycles in full, the new inbox (K3).

For a provider's prompt cache: the past only grows at its end, a compaction moves its beginning in large steps, and what
is new each time (the inbox, the time, where the agent stands) comes last. No time is told relative to now.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from majlis.clock import iso
from majlis.minds.consciousness.budget import room_for_actions, room_for_routing
from majlis.minds.consciousness.cut import cut_text, cut_turns
from majlis.minds.consciousness.event_lines import inbox_lines
from majlis.minds.consciousness.instructions import instructions_block
from majlis.minds.consciousness.scene import Cycle, Past, Waking
from majlis.minds.consciousness.summaries import earlier_cycles
from majlis.minds.consciousness.token_budget import BYTES_OF_A_TOKEN, count_turns, fair_limit, size
from majlis.minds.consciousness.transcript import closed, restored
from majlis.minds.describe import describe_cycle
from majlis.minds.quote import bare, quote
from majlis.minds.roles.routing import routing_text
from majlis.minds.timeline.actions import action_line
from majlis.minds.timeline.blocks import goals_block, identity_block, memories_block, spaces_block
from majlis.minds.timeline.instructions import own_instructions_block
from majlis.minds.timeline.scene import Plan, Scene
from majlis.minds.view import View
from majlis.models.port import System, Turn, User

# Enough to see which call it was.
_SHORTEST_ACTION = 200
# Enough for a request and the names of those who may act on it.
_SHORTEST_ROUTING = 1_000


def perceive(waking: Waking) -> View:
    turns = _merged([System(system_text(waking)), *_past(waking), inbox_turn(waking)])
    beside = ("route",) if waking.conducts else ()
    outline = partial(describe_cycle, waking)
    return View(turns, {}, waking.active.id if waking.active else None, outline, beside=beside)


def system_text(waking: Waking) -> str:
    world = waking.world
    parts = (
        identity_block(world),
        spaces_block(world),
        goals_block(world),
        memories_block(world),
        _plans_block(world),
        instructions_block(waking.conducts),
        own_instructions_block(world.config),
    )
    return "\n\n".join(part for part in parts if part is not None)


def inbox_turn(waking: Waking) -> User:
    """In two parts: the border after the inbox is where a provider's cache point does most good."""
    world = waking.world
    lines = inbox_lines(waking.inbox, world.now, world.spaces, world.config.consciousness.max_tokens)
    below = (*_routing(waking), *_already_done(world), _active_space(waking))
    return User(("\n".join(lines), "".join(f"\n\n{block}" for block in below)))


def count_around(waking: Waking) -> int:
    """Tokens of everything but the past, what is around its summaries included."""
    return count_turns((System(system_text(waking)), User(("",)), inbox_turn(waking)))


def _past(waking: Waking) -> Iterable[Turn]:
    earlier = earlier_cycles(waking.past.groups)
    if earlier is not None:
        yield User((earlier,))
    for cycle in waking.recent:
        yield from shown_turns(cycle, waking.past)


def shown_turns(cycle: Cycle, past: Past) -> tuple[Turn, ...]:
    turns = closed(restored(cycle.messages), cycle.summary)
    return cut_turns(turns, cycle.summary, past.cap) if cycle.n <= past.trimmed else turns


def _merged(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Two turns of the same side in a row are one: some models insist that sides alternate."""
    whole: list[Turn] = []
    for turn in turns:
        before = whole[-1] if whole else None
        if isinstance(turn, User) and isinstance(before, User):
            *parts, last = before.parts
            whole[-1] = User((*parts, f"{last}\n\n", *turn.parts))
        else:
            whole.append(turn)
    return tuple(whole)


def _plans_block(world: Scene) -> str | None:
    plans = sorted(world.plans, key=lambda plan: (plan.next_at, plan.id))
    return "\n".join(["PLANS:", *map(_plan, plans)]) if plans else None


def _plan(plan: Plan) -> str:
    """Without how long it is until then: that is another text each time."""
    if plan.cron is not None:
        when = f"recurring, cron: {bare(plan.cron)}, next: {iso(plan.next_at)}"
    else:
        when = f"one-time, scheduledAt: {iso(plan.next_at)}"
    made = f"  [created via runAfter: {quote(plan.run_after)}]" if plan.run_after else ""
    return f"  - {quote(plan.name)} ({when}){made}"


def _routing(waking: Waking) -> list[str]:
    """R8: what an orchestrator decides by, for each of its spaces that something has come from."""
    room = room_for_routing(waking.world.config.consciousness.max_tokens) * BYTES_OF_A_TOKEN
    views = [(each.place, routing_text(each, each.routing)) for each in waking.routings if each.place and each.routing]
    limit = max(_SHORTEST_ROUTING, room // len(views)) if views else 0
    return [f"ROUTING {quote(place.name)} (id: {place.id}):\n\n{cut_text(text, limit)}" for place, text in views]


def _already_done(world: Scene) -> list[str]:
    """K8, J2: side effects that happened must not happen again."""
    if not world.actions:
        return []
    lines = [(action_line(action), action.state) for action in world.actions]
    room = room_for_actions(world.config.consciousness.max_tokens) * BYTES_OF_A_TOKEN
    limit = max(_SHORTEST_ACTION, fair_limit((size(line) for line, _ in lines), room))
    # That an outcome is unknown stands at the end of its line, and is never cut off.
    shown = [line if state == "started" else cut_text(line, limit) for line, state in lines]
    return ["\n".join(["ALREADY DONE (by an earlier try at this inbox, which was interrupted):", *shown])]


def _active_space(waking: Waking) -> str:
    if waking.active is None:
        return "ACTIVE SPACE: none (call enter_space to enter a space first)"
    return f"ACTIVE SPACE: {quote(waking.active.name)} (id: {waking.active.id})"
