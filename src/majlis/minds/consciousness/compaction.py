"""Shows the oldest cycles by their summaries when the past exceeds its share (K7). Stored rows do not change.

A pure function of stored data, so every worker gets the same result. It compacts rarely and much at once, down to half
of the share, so that the prompt's prefix stays the same for many cycles. `minRecentCycles` may keep more.
"""

from __future__ import annotations

from collections.abc import Sequence

from majlis.minds.consciousness.scene import Head, Past
from majlis.minds.consciousness.summaries import count_groups, group_of, within
from majlis.minds.consciousness.token_budget import room_for_summaries

# The fewest tokens to which a recent cycle is cut.
_MIN_CYCLE = 200


def compacted(past: Past, heads: Sequence[Head], room: int, max_tokens: int, min_recent: int) -> Past:
    """`heads` are the cycles after `past.through`, oldest first; `room` is the share of the past in tokens."""
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
    """As many as the config asks for if they fit whole; else as many as are still useful when they are cut."""
    worth = max(1, room // 2 // _MIN_CYCLE)
    return min(len(heads), min_recent, max(worth, _newest_within(heads, room)))


def _shown(past: Past, head: Head) -> int:
    return min(head.tokens, past.cap) if head.n <= past.trimmed else head.tokens


def _newest_within(heads: Sequence[Head], room: int) -> int:
    for count, head in enumerate(reversed(heads)):
        room -= head.tokens
        if room < 0:
            return count
    return len(heads)
