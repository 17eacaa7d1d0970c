"""Decides which summaries a prompt shows and where, and lists the blocks of messages that have none yet (F3).

A summary is made at any time, but the beginning of a prompt may change only when the window moves. So a summary stands
before the history if it was made before the window moved to where it is, and after the history until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from majlis.minds.quote import quote
from majlis.minds.timeline.scene import ActiveSpace, Summary
from majlis.spaces.summaries import BLOCK

# How many blocks before the window are shown as summaries; older messages are only counted.
MAX_SUMMARIES = 8
# From the newest message to the first one in the window.
Start = Callable[[int], int]


def shown(active: ActiveSpace, first: int) -> list[Summary]:
    """The summaries of messages before `first`."""
    return [each for each in active.summaries if each.last < first and each.text][-MAX_SUMMARIES:]


def settled(active: ActiveSpace, first: int, start: Start | None, total: int) -> list[Summary]:
    """Without a `start`, the prompt has no beginning to keep."""
    return [each for each in shown(active, first) if start is None or start(each.at_seq) < start(total)]


def late(active: ActiveSpace, first: int, start: Start | None, total: int) -> list[Summary]:
    before = settled(active, first, start, total)
    return [each for each in shown(active, first) if each not in before]


def missing(active: ActiveSpace, first: int) -> tuple[tuple[str, int], ...]:
    """The blocks of which a summary would be shown, newest first."""
    if not active.summarised:
        return ()
    until = (first - 1) // BLOCK
    have = {each.first for each in active.summaries}
    wanted = range(until - 1, max(-1, until - 1 - MAX_SUMMARIES), -1)
    return tuple((active.id, block) for block in wanted if block * BLOCK + 1 not in have)


def count(summaries: Sequence[Summary]) -> int:
    """The number of messages that the summaries stand for."""
    return sum(each.last - each.first + 1 for each in summaries)


def line(summary: Summary) -> str:
    return f"EARLIER (messages {summary.first}–{summary.last}, summarised): {quote(summary.text)}"
