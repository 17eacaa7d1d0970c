"""When the past outgrows its room, the oldest cycles are shown by their summaries (K7). In the view only: rows stay.

Pure, and a function of what is stored: every worker comes to the same. It does nothing until something has to be done,
and then does much at once: what is left takes half of the room, so the beginning of the prompt stays the same for many
cycles, and a provider's cache can hold it. More is left where `minRecentCycles` asks for it and there is room.
"""

from __future__ import annotations

from collections.abc import Sequence

from majlis.minds.consciousness.budget import room_for_summaries
from majlis.minds.consciousness.scene import Head, Past
from majlis.minds.consciousness.summaries import count_groups, group_of, within

# Recent cycles that have to be cut are as many as have at least this many tokens each.
_SMALLEST_CYCLE = 200


def compacted(past: Past, heads: Sequence[Head], room: int, max_tokens: int, min_recent: int) -> Past:
    """`heads` are the cycles after `past.through`, oldest first; `room` is what the past may take."""
    taken = count_groups(past.groups) + sum(_shown(past, head) for head in heads)
    if taken <= room:
        return past
    for_summaries = room_for_summaries(max_tokens, room)
    for_recent = room - for_summaries
    half = for_recent // 2
    keep = max(_fewest(heads, for_recent, min_recent), _newest_within(heads, half))
    gone, kept = heads[: len(heads) - keep], heads[len(heads) - keep :]
    groups = within([*past.groups, *map(group_of, gone)], for_summaries)
    fits = count_groups(groups) + sum(head.tokens for head in kept) <= room
    return Past(
        through=gone[-1].n if gone else past.through,
        trimmed=0 if fits else kept[-1].n,
        cap=0 if fits else half // keep,
        groups=groups,
    )


def _fewest(heads: Sequence[Head], room: int, min_recent: int) -> int:
    """As many as the config asks for where they fit whole, whatever that costs a cache; else as many as are still worth
    something when they are cut."""
    worth = max(1, room // 2 // _SMALLEST_CYCLE)
    return min(len(heads), min_recent, max(worth, _newest_within(heads, room)))


def _shown(past: Past, head: Head) -> int:
    return min(head.tokens, past.cap) if head.n <= past.trimmed else head.tokens


def _newest_within(heads: Sequence[Head], room: int) -> int:
    for count, head in enumerate(reversed(heads)):
        room -= head.tokens
        if room < 0:
            return count
    return len(heads)
