"""The opaque id of an SSE event: a stream's position, from which any process can resume it.

The position in one space is a number in that space and a number among the caller's own notices. A stream over all
spaces cannot list a thousand numbers in every id. Its position is a time `at`, before which the client knows
everything, and the numbers of the topics with recent events. An event's time is taken before its commit, at most
OVERLAP_MILLIS before it becomes visible (longer lock waits fail). So for a topic that is not listed, the client has
seen no event after `at - OVERLAP_MILLIS`, and every event after that is new.
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
    """None for anything but a cursor of this space's stream."""
    match text.split("-"):
        case ["s", found, seq, own_seq] if found == tag(space):
            numbers = _numbers([seq, own_seq])
            return SpaceCursor(space, *numbers) if numbers else None
    return None


def parse_gateway_cursor(text: str, entity: str) -> GatewayCursor | None:
    match text.split("-"):
        case ["a", found, at, own_seq, recent] if found == tag(entity):
            parts = recent.split(".") if recent else []
            numbers = _numbers([at, own_seq, *(part[10:] for part in parts)])
            if numbers:
                positions = {part[:10]: seq for part, seq in zip(parts, numbers[2:], strict=True)}
                return GatewayCursor(entity, numbers[0], numbers[1], positions)
    return None


def tag(topic: str) -> str:
    """A part of the id that is unique among the topics of one caller."""
    return topic[-10:]


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"


def _numbers(texts: list[str]) -> list[int] | None:
    """None if any of them is not a number."""
    if not all(0 < len(text) <= 12 and set(text) <= set(_DIGITS) for text in texts):
        return None
    return [int(text, 36) for text in texts]
