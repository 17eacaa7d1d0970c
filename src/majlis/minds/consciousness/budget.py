"""How `consciousness.maxTokens` is shared out (K7), so that no request of a cycle goes over it:

- system prompt, inbox and past together get three quarters; the rest is for what the cycle itself says and does, but a
  sixteenth is left free: the estimate does not see escapes;
- the inbox gets a quarter at most: long events are cut, and say so; what an earlier try has done, and
  an orchestrator's routing views, an eighth each;
- summaries within the past get a quarter at most: they are grouped and shortened when they outgrow it;
- a tool's answer gets half of what is left, and 500 tokens however little that is; when the cycle has outgrown its part
  all the same, what it said and was answered before is cut, so that half of the part is free again.

A system prompt of more than half of all (memories, instructions) is the owner's choice; the past then has a quarter.
"""

from __future__ import annotations

from majlis.minds.consciousness.token_budget import BYTES_OF_A_TOKEN

# A tool's answer may be this long however little is left: less would be of no use.
_SHORTEST_ANSWER = 2_000


def room_for_past(max_tokens: int, around: int) -> int:
    """`around` is what the system prompt and the inbox take."""
    return max(max_tokens // 4, max_tokens * 3 // 4 - around)


def room_for_inbox(max_tokens: int) -> int:
    return max_tokens // 4


def room_for_actions(max_tokens: int) -> int:
    """For what an earlier try at the same inbox has done, under the inbox."""
    return max_tokens // 8


def room_for_routing(max_tokens: int) -> int:
    """For the routing views of an orchestrator, under the inbox."""
    return max_tokens // 8


def room_for_summaries(max_tokens: int, room: int) -> int:
    return min(max_tokens // 4, room // 2)


def room_for_cycle(max_tokens: int, before: int) -> int:
    """For what the cycle says and does after its inbox; `before` is what all up to there takes."""
    return max(_SHORTEST_ANSWER // BYTES_OF_A_TOKEN, _usable(max_tokens) - before)


def bytes_for_answer(max_tokens: int, used: int) -> int:
    return max(_SHORTEST_ANSWER, (_usable(max_tokens) - used) * BYTES_OF_A_TOKEN // 2)


def _usable(max_tokens: int) -> int:
    return max_tokens - max_tokens // 16
