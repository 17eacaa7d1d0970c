"""The first request of a cycle: system prompt, compacted past, recent cycles in full, new inbox (K3).

For providers' prompt caches, the past only grows at its end, a compaction moves its start in large steps, and whatever
changes (inbox, time, active space) comes last. No time is relative to now.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from majlis.minds.consciousness.compaction import earlier_cycles
from majlis.minds.consciousness.cut import cut_text, cut_turns
from majlis.minds.consciousness.event_lines import inbox_lines, message_times
from majlis.minds.consciousness.instructions import instructions_block
from majlis.minds.consciousness.remember import closed, restored
from majlis.minds.consciousness.scene import Cycle, Past, Waking
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, count_turns, room_below_inbox, size
from majlis.minds.describe import describe_cycle
from majlis.minds.quote import quote
from majlis.minds.roles.routing import routing_text
from majlis.minds.timeline import blocks
from majlis.minds.timeline.blocks import own_instructions_block
from majlis.minds.timeline.history_block import action_line
from majlis.minds.timeline.scene import Scene
from majlis.minds.view import LeftOut, View, pictures_of
from majlis.models.port import System, Turn, User
from majlis.shorten import fair_limit

# Enough to identify a call.
_MIN_ACTION = 200
# Enough for a request and the names of the agents.
_MIN_ROUTING = 1_000


def perceive(waking: Waking) -> View:
    turns = _merged([System(system_text(waking)), *_past(waking), inbox_turn(waking)])
    beside = ("route",) if waking.orchestrates else ()
    outline = partial(describe_cycle, waking)
    active = waking.active
    stands_at = {active.id: active.total} if active is not None and active.total else {}
    governed = active is None or active.governed
    where = active.id if active else None
    pictures = pictures_of(event.get("files") for event in waking.inbox)
    return View(
        turns,
        {},
        where,
        outline,
        stands_at=stands_at,
        governed=governed,
        beside=beside,
        pictures=pictures,
        left_out=tuple(_left_out(waking)),
    )


def _left_out(waking: Waking) -> Iterable[LeftOut]:
    past = waking.past
    summarised = sum(group.last - group.first + 1 for group in past.groups)
    cut = sum(cycle.n <= past.trimmed and cycle.tokens > past.cap for cycle in waking.recent)
    if summarised:
        yield LeftOut("cycles", "summarised", summarised, "budget")
    if cut:
        yield LeftOut("cycles", "shortened", cut, "budget")


def system_text(waking: Waking) -> str:
    world = waking.world
    parts = (
        blocks.identity_block(world),
        blocks.spaces_block(world),
        blocks.goals_block(world),
        blocks.memories_block(world),
        blocks.plans_block(world),
        instructions_block(waking.orchestrates, world.config.speak == "text"),
        own_instructions_block(world.config),
    )
    return "\n\n".join(part for part in parts if part is not None)


def inbox_turn(waking: Waking) -> User:
    """Two parts, because a provider's cache point is best right after the inbox."""
    world = waking.world
    lines = inbox_lines(waking.inbox, world.now, world.spaces, world.config.consciousness.max_tokens)
    pins = blocks.pins_block(world, waking.active)
    place = (*([pins] if pins else []), blocks.active_space_block(waking.active))
    below = (*message_times(waking.inbox), *_routing(waking), *_already_done(world), *place)
    return User(("\n".join(lines), "".join(f"\n\n{block}" for block in below)))


def count_around(waking: Waking) -> int:
    """Tokens of everything except the past, with the overhead of its turn of summaries."""
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
    """Joins consecutive user turns, because some models require alternating turns."""
    whole: list[Turn] = []
    for turn in turns:
        before = whole[-1] if whole else None
        if isinstance(turn, User) and isinstance(before, User):
            *parts, last = before.parts
            whole[-1] = User((*parts, f"{last}\n\n", *turn.parts))
        else:
            whole.append(turn)
    return tuple(whole)


def _routing(waking: Waking) -> list[str]:
    """R8: one view for each orchestrated space in the inbox."""
    room = room_below_inbox(waking.world.config.consciousness.max_tokens) * BYTES_PER_TOKEN
    views = [(each.place, routing_text(each, each.routing)) for each in waking.routings if each.place and each.routing]
    limit = max(_MIN_ROUTING, room // len(views)) if views else 0
    return [f"ROUTING {quote(place.name)} (id: {place.id}):\n\n{cut_text(text, limit)}" for place, text in views]


def _already_done(world: Scene) -> list[str]:
    """K8, J2: calls that must not be repeated."""
    if not world.actions:
        return []
    lines = [(action_line(action), action.state) for action in world.actions]
    room = room_below_inbox(world.config.consciousness.max_tokens) * BYTES_PER_TOKEN
    limit = max(_MIN_ACTION, fair_limit((size(line) for line, _ in lines), room))
    # The end of a line says that the outcome is unknown, so such a line is not cut.
    shown = [line if state == "started" else cut_text(line, limit) for line, state in lines]
    return ["\n".join(["ALREADY DONE (by an earlier attempt at this inbox, which was interrupted):", *shown])]
