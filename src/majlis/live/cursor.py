"""The opaque id of an SSE event: where a stream stands, so that any process can go on from there.

A stream over one space stands at a number in that space and one among the caller's own notices. A stream over all of
a caller's spaces cannot list a thousand numbers in every id, so it says: "everything older than `at` is known, and of
the topics that moved lately, these are the numbers". An event's time is taken before its commit, at most
OVERLAP_MILLIS before it can be seen (longer waits for a lock are refused), so a topic that is not listed has
shown nothing younger than `at - OVERLAP_MILLIS`, and all that is younger there is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field

OVERLAP_MILLIS = 30_000

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class SpaceCursor:
    space: str
    seq: int
    own_seq: int

    def encode(self) -> str:
        return f"s-{tag(self.space)}-{_base36(self.seq)}-{_base36(self.own_seq)}"


@dataclass(frozen=True, slots=True)
class GatewayCursor:
    entity: str
    at: int
    own_seq: int
    recent: dict[str, int] = field(default_factory=dict)

    def encode(self) -> str:
        recent = ".".join(topic + _base36(seq) for topic, seq in self.recent.items())
        return f"a-{tag(self.entity)}-{_base36(self.at)}-{_base36(self.own_seq)}-{recent}"


def parse_space_cursor(text: str, space: str) -> SpaceCursor | None:
    """None for what is no cursor of this space's stream; such a client starts afresh."""
    match text.split("-"):
        case ["s", found, seq, own_seq] if found == tag(space):
            numbers = _number(seq), _number(own_seq)
            return None if None in numbers else SpaceCursor(space, numbers[0] or 0, numbers[1] or 0)
    return None


def parse_gateway_cursor(text: str, entity: str) -> GatewayCursor | None:
    match text.split("-"):
        case ["a", found, at, own_seq, recent] if found == tag(entity):
            positions = {part[:10]: _number(part[10:]) for part in recent.split(".")} if recent else {}
            numbers = _number(at), _number(own_seq), *positions.values()
            if None in numbers:
                return None
            known = {topic: seq or 0 for topic, seq in positions.items()}
            return GatewayCursor(entity, numbers[0] or 0, numbers[1] or 0, known)
    return None


def tag(topic: str) -> str:
    """Enough of an id to know it again among those of one caller."""
    return topic[-10:]


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _number(text: str) -> int | None:
    return int(text, 36) if 0 < len(text) <= 12 and all(c in _DIGITS for c in text) else None
