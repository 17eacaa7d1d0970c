"""Shows old cycles by their summaries, oldest first (K7).

If the summaries exceed their share, older ones are grouped and shortened in one large step, so that the text then stays
the same for long. Every cycle is in exactly one group, and `recall_cycles` finds its full summary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from majlis.clock import iso
from majlis.minds.consciousness.scene import Group, Head
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN, count, fair_limit, size
from majlis.minds.quote import quote

_HEADING = "EARLIER CYCLES (your own closing words, oldest first; recall_cycles has them in full):"
# Summaries per line, bytes between two of them, and the shortest useful beginning.
_TOGETHER = 16
_BETWEEN = 4
_SHORTEST = 24


def group_of(head: Head) -> Group:
    return Group(head.n, head.n, head.at, head.at, (head.summary,))


def earlier_cycles(groups: Iterable[Group]) -> str | None:
    lines = [_line(group) for group in groups]
    return "\n".join([_HEADING, *lines]) if lines else None


def count_groups(groups: Iterable[Group]) -> int:
    text = earlier_cycles(groups)
    return count(text) if text else 0


def within(groups: Sequence[Group], room: int) -> tuple[Group, ...]:
    """Unchanged if they fit; else in half of the room, so that they fit for a while. The newest stay unchanged. The
    others are grouped, and the longest are cut. If there is no room for a beginning of each, the oldest are only
    counted."""
    if count_groups(groups) <= room:
        return tuple(groups)
    target = room * BYTES_PER_TOKEN // 2
    newest = _newest_within(groups, target // 4)
    blocks, left = _fitting(_blocks(groups[: len(groups) - newest]), target - target // 4 - size(_HEADING))
    limit = fair_limit([size(quote(text)) + _BETWEEN for block in blocks for text in block.said], left) - _BETWEEN
    return (*(_cut(block, max(limit, _SHORTEST)) for block in blocks), *groups[len(groups) - newest :])


def _line(group: Group) -> str:
    many = group.last > group.first
    which = f"cycles {group.first}–{group.last}" if many else f"cycle {group.first}"
    when = f"{iso(group.since)} – {iso(group.until)}" if many else iso(group.since)
    said = " · ".join(quote(each) for each in group.said)
    return f"  {which} ({when}): {said or 'only counted here'}"


def _newest_within(groups: Sequence[Group], room: int) -> int:
    for many, group in enumerate(reversed(groups)):
        room -= size(_line(group)) + 1
        if room < 0:
            return many
    return len(groups)


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


def _cut(block: Group, limit: int) -> Group:
    return _joined(block, block, tuple(_beginning(text, limit) for text in block.said))


def _beginning(text: str, limit: int) -> str:
    """At most `limit` bytes when quoted."""
    if size(quote(text)) <= limit:
        return text
    kept = len(text)
    while kept and size(quote(text[:kept])) + size("…") > limit:
        kept = kept * limit // (size(quote(text[:kept])) + size("…")) if kept > limit else kept - 1
    return f"{text[:kept]}…"
