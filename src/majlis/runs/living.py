"""A cycle while it goes on: what has arrived meanwhile, how long a tool's answer may be, and at last what is kept."""

from __future__ import annotations

from collections.abc import Callable

from majlis.minds.consciousness.budget import bytes_for_answer
from majlis.minds.consciousness.closing import Lived, lived
from majlis.minds.consciousness.cutting import cut_json
from majlis.minds.consciousness.events import preview_lines
from majlis.minds.consciousness.scene import Waking
from majlis.minds.consciousness.tokens import count_turns
from majlis.models.port import Call, Said, Turn, User
from majlis.runs.arrivals import look_at_arrivals
from majlis.store.transactions import Database

# More than are ever listed, so that the rest can be counted.
_LOOKED_AT = 100


class Living:
    """`turns` are those of the request as it grows; the last of them at the beginning is the inbox."""

    def __init__(self, waking: Waking, turns: list[Turn]) -> None:
        self._waking = waking
        self._turns = turns
        self._inbox_at = len(turns) - 1
        self._previewed: set[str] = set()

    async def preview(self, db: Database) -> None:
        """K5: what has come since the model was last asked, each event once."""
        world = self._waking.world
        arrived = await db.read(look_at_arrivals, world.agent.id, _LOOKED_AT)
        new = [each.event for each in arrived if each.delivery.id not in self._previewed]
        self._previewed.update(each.delivery.id for each in arrived)
        if new:
            self._turns.append(User(("\n".join(preview_lines(new, world.spaces)),)))

    def bounded(self, content: str) -> str:
        """A tool's answer, cut to what the budget leaves: no request of a cycle goes over it (K7)."""
        most = self._waking.world.config.consciousness.max_tokens
        return cut_json(content, bytes_for_answer(most, count_turns(self._turns)))

    def close(self, words: str) -> None:
        if words.strip():
            self._turns.append(Said(words))

    def lived(self, shown: Callable[[Call], str]) -> Lived:
        """`shown` are a call's arguments without secrets: those are kept nowhere."""
        turns = [_with(turn, shown) if isinstance(turn, Said) else turn for turn in self._turns[self._inbox_at :]]
        return lived(turns, self._waking.past if self._waking.compacted else None)


def _with(said: Said, shown: Callable[[Call], str]) -> Said:
    return Said(said.text, tuple(Call(call.id, call.name, shown(call)) for call in said.calls))
