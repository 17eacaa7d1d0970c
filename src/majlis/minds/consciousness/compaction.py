"""Shows old cycles by their summaries when the past exceeds its share (K7). Stored rows do not change.

A pure function of stored data, so every worker gets the same result. It compacts rarely and much at once, down to half
of the share, so that the prompt's prefix stays the same for many cycles. `minRecentCycles` may keep more. If the
summaries exceed their own share, older ones are grouped and shortened. Every cycle is in exactly one group, and
`recall_cycles` finds its full summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from majlis.clock import iso
from majlis.minds.consciousness.scene import Group, Head, Past
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, count, room_for_summaries, size
from majlis.minds.quote import quote
from majlis.shorten import fair_limit

_HEADING = "EARLIER CYCLES (your own closing words, oldest first; recall_cycles has them in full):"
# The fewest tokens to which a recent cycle is cut.
_MIN_CYCLE = 200
# Summaries per line, bytes between two of them, and the shortest useful beginning.
_TOGETHER = 16
_BETWEEN = 4
_SHORTEST = 24


def compacted(past: Past, heads: Sequence[Head], room: int, max_tokens: int, min_recent: int) -> Past:
    """`heads` are the cycles after `past.through`, oldest first; `room` is the share of the past in tokens."""
    taken = count_groups(past.groups) + sum(
        min(head.tokens, past.cap) if head.n <= past.trimmed else head.tokens for head in heads
    )
    if taken <= room:
        return past
    for_summaries = room_for_summaries(max_tokens, room)
    for_recent = room - for_summaries
    half = for_recent // 2
    tokens = [head.tokens for head in heads]
    # As many as the config asks for if they fit whole; else as many as are still useful when they are cut.
    useful = max(1, half // _MIN_CYCLE, _newest_within(tokens, for_recent))
    keep = max(min(len(heads), min_recent, useful), _newest_within(tokens, half))
    gone, kept = heads[: len(heads) - keep], heads[len(heads) - keep :]
    groups = within(
        [*past.groups, *(Group(head.n, head.n, head.at, head.at, (head.summary,)) for head in gone)], for_summaries
    )
    fits = count_groups(groups) + sum(head.tokens for head in kept) <= room
    return Past(
        through=gone[-1].n if gone else past.through,
        trimmed=0 if fits else kept[-1].n,
        cap=0 if fits else half // keep,
        groups=groups,
    )


def earlier_cycles(groups: Iterable[Group]) -> str | None:
    lines = [_line(group) for group in groups]
    return "\n".join([_HEADING, *lines]) if lines else None


def count_groups(groups: Iterable[Group]) -> int:
    text = earlier_cycles(groups)
    return count(text) if text else 0


def within(groups: Sequence[Group], room: int) -> tuple[Group, ...]:
    """Returns the summaries unchanged if they fit; otherwise cuts them to half of the room, so that they fit for a
    while. The newest stay unchanged. The others are grouped, and the longest are cut. If there is no room for a
    beginning of each, the oldest are only counted."""
    if count_groups(groups) <= room:
        return tuple(groups)
    target = room * BYTES_PER_TOKEN // 2
    newest = _newest_within([size(_line(group)) + 1 for group in groups], target // 4)
    blocks, left = _fitting(_blocks(groups[: len(groups) - newest]), target - target // 4 - size(_HEADING))
    limit = fair_limit([size(quote(text)) + _BETWEEN for block in blocks for text in block.said], left) - _BETWEEN
    cut = (_joined(each, each, tuple(_beginning(text, max(limit, _SHORTEST)) for text in each.said)) for each in blocks)
    return (*cut, *groups[len(groups) - newest :])


def _line(group: Group) -> str:
    many = group.last > group.first
    which = f"cycles {group.first}–{group.last}" if many else f"cycle {group.first}"
    when = f"{iso(group.since)} – {iso(group.until)}" if many else iso(group.since)
    said = " · ".join(quote(each) for each in group.said)
    return f"  {which} ({when}): {said or 'only counted here'}"


def _newest_within(sizes: Sequence[int], room: int) -> int:
    """How many of the newest fit."""
    for many, each in enumerate(reversed(sizes)):
        room -= each
        if room < 0:
            return many
    return len(sizes)


def _blocks(groups: Sequence[Group]) -> list[Group]:
    blocks: list[Group] = []
    for group in groups:
        before = blocks[-1] if blocks else None
        # Counted cycles and summarized cycles are not grouped together.
        if before and bool(before.said) == bool(group.said) and len(before.said) + len(group.said) <= _TOGETHER:
            blocks[-1] = _joined(before, group, (*before.said, *group.said))
        else:
            blocks.append(group)
    return blocks


def _fitting(blocks: Sequence[Group], room: int) -> tuple[list[Group], int]:
    """The newest blocks that have room for a beginning of each summary, those before them as one counted block, and the
    room for all summaries."""
    room -= _around(_joined(blocks[0], blocks[-1], ())) if blocks else 0
    left = room
    for many, block in enumerate(reversed(blocks)):
        left -= _around(block) + sum(min(size(quote(text)), _SHORTEST) + _BETWEEN for text in block.said)
        if left < 0:
            kept = list(blocks[len(blocks) - many :])
            first = _joined(blocks[0], blocks[len(blocks) - many - 1], ())
            return [first, *kept], room - sum(map(_around, kept))
    return list(blocks), room - sum(map(_around, blocks))


def _around(block: Group) -> int:
    return size(_line(_joined(block, block, ()))) + 1


def _joined(first: Group, last: Group, said: tuple[str, ...]) -> Group:
    return Group(first.first, last.last, first.since, last.until, said)


def _beginning(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` bytes when quoted."""
    if size(quote(text)) <= limit:
        return text
    kept = len(text)
    while kept and size(quote(text[:kept])) + size("…") > limit:
        kept = kept * limit // (size(quote(text[:kept])) + size("…")) if kept > limit else kept - 1
    return f"{text[:kept]}…"
