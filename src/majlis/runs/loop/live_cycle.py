"""A cycle in progress: previews of new events, room for results, and at its end what is kept."""

from __future__ import annotations

from collections.abc import Callable

from majlis.minds.consciousness.cut import cut_json, cut_pieces
from majlis.minds.consciousness.event_lines import preview_lines
from majlis.minds.consciousness.remember import Lived, lived
from majlis.minds.consciousness.scene import Waking
from majlis.minds.consciousness.token_budget import bytes_for_answer, count_turns, room_for_cycle
from majlis.models.port import Call, Said, Turn, User
from majlis.runs.claim.arrivals import look_at_arrivals
from majlis.runs.run import Run
from majlis.store.transactions import Database

# More than are listed, so that the rest can be counted.
_LOOKED_AT = 100


class LiveCycle:
    """`turns` is the request as it grows; at first its last turn is the inbox. `shown` gives a call's arguments without
    secrets."""

    def __init__(self, waking: Waking, turns: list[Turn], shown: Callable[[Call], str]) -> None:
        self._waking = waking
        self._turns = turns
        self._shown = shown
        self._inbox_at = len(turns) - 1
        self._previewed: set[str] = set()

    async def preview(self, db: Database, run: Run) -> None:
        """Events that arrived since the last request, each once (K5)."""
        world = self._waking.world
        arrived = await db.read(look_at_arrivals, world.agent.id, _LOOKED_AT)
        new = [each.event for each in arrived if each.delivery.id not in self._previewed]
        self._previewed.update(each.delivery.id for each in arrived)
        for each in arrived:
            run.was_told(each.delivery.space_id, each.delivery.seq)
        if new:
            self._turns.append(User(("\n".join(preview_lines(new, world.spaces)),)))

    def bounded(self, content: str) -> str:
        """A tool's result, truncated so that no request exceeds the budget (K7)."""
        most = self._waking.world.config.consciousness.max_tokens
        return cut_json(content, bytes_for_answer(most, count_turns(self._turns)))

    def make_room(self) -> bool:
        """Truncates turns if many long results exceed the budget together: older turns first and by much, results that
        the model has not read yet last. True if anything was truncated."""
        most = self._waking.world.config.consciousness.max_tokens
        begins = self._inbox_at + 1
        room = room_for_cycle(most, count_turns(self._turns[:begins]))
        if count_turns(self._turns[begins:]) <= room:
            return False
        # Mask before truncating: truncated JSON no longer matches its schema.
        mine = self._without_secrets(begins)
        asked = max(at for at, turn in enumerate(mine) if isinstance(turn, Said))
        read, unread = mine[:asked], mine[asked:]
        read = list(cut_pieces(read, room // 2 - count_turns(unread)))
        left = room - count_turns(read)
        self._turns[begins:] = [*read, *(unread if count_turns(unread) <= left else cut_pieces(unread, left))]
        return True

    def close(self, words: str) -> None:
        if words.strip():
            self._turns.append(Said(words))

    def lived(self) -> Lived:
        turns = self._without_secrets(self._inbox_at)
        return lived(turns, self._waking.past if self._waking.compacted else None)

    def _without_secrets(self, begins: int) -> list[Turn]:
        return [self._masked(turn) if isinstance(turn, Said) else turn for turn in self._turns[begins:]]

    def _masked(self, said: Said) -> Said:
        return Said(said.text, tuple(Call(call.id, call.name, self._shown(call)) for call in said.calls))
