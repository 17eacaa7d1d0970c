"""How many tokens a run's requests may have (F1), and what happens if the provider refuses one as too long (F2).

The view gets what the tools and the answer leave. During the run, results are shortened so that each leaves half of the
rest free, and if the calls exceed the room all the same, earlier ones are shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.minds.consciousness.cut import cut_json, cut_pieces
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN
from majlis.models.estimate_tokens import estimate_tools, estimate_turns
from majlis.models.port import UNLIMITED, Context, Prompt, Said, SizeSource, ToolSpec, Turn, surely_fits
from majlis.models.sizes_and_prices import DEFAULT_CONTEXT, MIN_CONTEXT
from majlis.runs.run import Run
from majlis.store.tables import agents
from majlis.store.transactions import Tx

_DAY_MILLIS = 24 * 3600 * 1000
# For the answer: an eighth of the context, within bounds.
_MAX_ANSWER = 4_096
# A shorter result would be of no use.
MIN_RESULT = 500
_BYTES_SHOWN_PER_TOKEN = 3
# Tools leave this much for the view.
_MIN_VIEW = 2_500

# Without these an agent cannot work. Its own tools come next, then the other built-in ones.
_NEEDED = ("send_message", "skip", "hand_over", "read_messages", "enter_space")

_REMEMBER = (
    agents.update()
    .where(agents.c.id == sa.bindparam("agent"))
    .values(context_limit=sa.bindparam("limit", type_=agents.c.context_limit.type))
)


class Room:
    """`context` is None for the demo model, which has no limit. A room stays the same, so that the runs of a config
    share it."""

    def __init__(
        self,
        context: Context = UNLIMITED,
        tools: Sequence[ToolSpec] = (),
        answer: int | None = None,
        is_own: Callable[[str], bool] = lambda _: False,
        density: float = 1.0,
    ) -> None:
        """`is_own`: a tool of the agent's config, by its name. `density`: tokens of this model for an estimated one."""
        self.context = context.tokens
        self.source: SizeSource | None = context.source
        self._given = tools, answer, is_own, density
        tokens = self.context or 0
        self.for_answer = min(answer if answer is not None else min(_MAX_ANSWER, tokens // 8), tokens // 2)
        # In estimated tokens, without those kept for the answer.
        free = int((tokens - self.for_answer) / density)
        # The tools that the model is offered, and how many are not.
        self.tools, taken = (tuple(tools), 0) if self.context is None else _fitted(tools, free, is_own)
        self.left_out = len(tools) - len(self.tools)
        self.for_turns = free - taken if self.context is not None else None

    def halved(self) -> Room | None:
        """The smaller room after a refusal. None if the context is as small as it gets."""
        if self.context is not None and self.context <= MIN_CONTEXT:
            return None
        # The name `demo` may stand for a real model.
        tokens = max(MIN_CONTEXT, (self.context or 2 * DEFAULT_CONTEXT) // 2)
        return Room(Context(tokens, "learned"), *self._given)

    def density_of(self, prompt: Prompt, counted: int) -> float:
        """Tokens of the model for an estimated one, by the provider's count of a prompt."""
        return counted / (estimate_turns(prompt.turns) + estimate_tools(prompt.tools))

    def config_of(self, config: AgentConfig) -> AgentConfig:
        """A consciousness counts four bytes as a token, but a token in its requests may have only three."""
        room = self.for_turns
        most = config.consciousness.max_tokens
        if room is None or config.mind != "consciousness" or most <= room * 3 // 4:
            return config
        smaller = config.consciousness.model_copy(update={"max_tokens": room * 3 // 4})
        return config.model_copy(update={"consciousness": smaller})

    def bounded(self, turns: Sequence[Turn], content: str) -> str:
        """Shortens a result to half of the free room. Only for results longer than `MIN_RESULT`."""
        room = self.for_turns
        if room is None or (surely_fits(turns, room // 2) and len(content) <= room // 2):
            return content
        free = max(MIN_RESULT, (room - estimate_turns(turns)) // 2)
        return cut_json(content, free * _BYTES_SHOWN_PER_TOKEN)

    def make(self, turns: list[Turn], begins: int) -> bool:
        """Shortens calls and results that the model has read, then the others. True if any was. The turns after the
        first `begins` were added during the run."""
        room = self.for_turns
        if room is None or estimate_turns(turns) <= room:
            return False
        mine = turns[begins:]
        asked = max((at for at, turn in enumerate(mine) if isinstance(turn, Said)), default=0)
        left = max(MIN_RESULT, room - estimate_turns(turns[:begins]))
        read = list(cut_pieces(mine[:asked], _pieces(left // 2)))
        turns[begins:] = [*read, *cut_pieces(mine[asked:], _pieces(left - estimate_turns(read)))]
        return True


def _fitted(tools: Sequence[ToolSpec], free: int, is_own: Callable[[str], bool]) -> tuple[tuple[ToolSpec, ...], int]:
    """The most important tools that have room, and their tokens. They keep their order, because prompts begin with
    them."""
    room = max(free // 4, min(free * 5 // 8, free - _MIN_VIEW))
    taken, kept = 0, set[str]()
    for spec in sorted(tools, key=lambda spec: _rank(spec.name, is_own)):
        tokens = estimate_tools((spec,))
        if taken + tokens <= room or not kept:
            taken += tokens
            kept.add(spec.name)
    return tuple(spec for spec in tools if spec.name in kept), taken


def _rank(name: str, is_own: Callable[[str], bool]) -> int:
    return _NEEDED.index(name) if name in _NEEDED else len(_NEEDED) + (not is_own(name))


def learned_limit(run: Run) -> int | None:
    """The limit that an earlier refusal left for this model, for a day."""
    limit = run.context_limit or {}
    if limit.get("model") != run.config.model_name or limit.get("until", 0) <= run.began_at:
        return None
    return int(limit["tokens"])


def remember_limit(tx: Tx, run: Run, tokens: int) -> None:
    limit: dict[str, Any] = {"model": run.config.model_name, "tokens": tokens, "until": tx.now + _DAY_MILLIS}
    tx.execute(_REMEMBER, {"agent": run.agent_id, "limit": limit})


def _pieces(tokens: int) -> int:
    """For `cut_pieces`, which counts four bytes as a token."""
    return max(1, tokens) * _BYTES_SHOWN_PER_TOKEN // BYTES_PER_TOKEN
