"""How many tokens a run's requests may have (F1), and what happens if the provider refuses one as too long (F2).

The view gets what the tools and the answer leave. During the run, results are shortened so that each leaves half of the
rest free, and if the calls exceed the room all the same, earlier ones are shortened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from majlis.agents.config.config import AgentConfig
from majlis.minds.consciousness.cut import cut_json, cut_pieces
from majlis.minds.consciousness.token_budget import BYTES_PER_TOKEN
from majlis.models.catalog import DEFAULT_CONTEXT, MIN_CONTEXT
from majlis.models.port import UNLIMITED, Context, Prompt, Said, SizeSource, ToolSpec, Turn, surely_fits
from majlis.models.tokens import estimate_tools, estimate_turns
from majlis.runs.engine import Engine, ModelSource
from majlis.runs.run import Run
from majlis.store.tables import agents
from majlis.store.transactions import Tx

_DAY_MILLIS = 24 * 3600 * 1000
# For the answer: an eighth of the context, within bounds.
_MAX_ANSWER = 4_096
# A shorter result would be of no use.
_MIN_RESULT = 500
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
    """None as the context means no limit: the demo model."""

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
        self._answer = answer
        self._all_tools = tuple(tools)
        self._is_own = is_own
        self._density = density
        # The tools that the model is offered, and how many tokens they take.
        self.tools, self._tools = self._fitted()
        # The turns after these were added during the run.
        self.begins = 0

    @property
    def for_turns(self) -> int | None:
        if self.context is None:
            return None
        return self._free - self._tools

    @property
    def _free(self) -> int:
        """In estimated tokens, without those kept for the answer."""
        return int(((self.context or 0) - self.for_answer) / self._density)

    @property
    def left_out(self) -> int:
        """How many tools are not offered."""
        return len(self._all_tools) - len(self.tools)

    @property
    def for_answer(self) -> int:
        context = self.context or 0
        answer = self._answer if self._answer is not None else min(_MAX_ANSWER, context // 8)
        return min(answer, context // 2)

    def halve(self) -> bool:
        """After a refusal. False if the context is as small as it gets."""
        if self.context is not None and self.context <= MIN_CONTEXT:
            return False
        # The name `demo` may stand for a real model.
        self.context = max(MIN_CONTEXT, (self.context or 2 * DEFAULT_CONTEXT) // 2)
        self.source = "learned"
        self.tools, self._tools = self._fitted()
        return True

    def _fitted(self) -> tuple[tuple[ToolSpec, ...], int]:
        """The most important tools that have room. They keep their order, because prompts begin with them."""
        if self.context is None:
            return self._all_tools, 0
        room = max(self._free // 4, min(self._free * 5 // 8, self._free - _MIN_VIEW))
        taken, kept = 0, set[str]()
        for spec in sorted(self._all_tools, key=self._rank):
            tokens = estimate_tools((spec,))
            if taken + tokens <= room or not kept:
                taken += tokens
                kept.add(spec.name)
        return tuple(spec for spec in self._all_tools if spec.name in kept), taken

    def _rank(self, spec: ToolSpec) -> int:
        if spec.name in _NEEDED:
            return _NEEDED.index(spec.name)
        return len(_NEEDED) + (not self._is_own(spec.name))

    def density_of(self, prompt: Prompt, counted: int) -> float | None:
        """From a provider's count of a prompt. None if the prompt was too short to tell, or to matter."""
        if self.context is None or counted <= self.context // 2:
            return None
        return counted / (estimate_turns(prompt.turns) + estimate_tools(prompt.tools))

    def config_of(self, config: AgentConfig) -> AgentConfig:
        """A consciousness counts four bytes as a token; in its requests a token is three bytes and more."""
        room = self.for_turns
        most = config.consciousness.max_tokens
        if room is None or config.mind != "consciousness" or most <= room * 3 // 4:
            return config
        smaller = config.consciousness.model_copy(update={"max_tokens": room * 3 // 4})
        return config.model_copy(update={"consciousness": smaller})

    def bounded(self, turns: Sequence[Turn], content: str) -> str:
        room = self.for_turns
        if room is None or len(content) <= _MIN_RESULT or (surely_fits(turns, room // 2) and len(content) <= room // 2):
            return content
        free = max(_MIN_RESULT, (room - estimate_turns(turns)) // 2)
        return cut_json(content, free * _BYTES_SHOWN_PER_TOKEN)

    def make(self, turns: list[Turn]) -> bool:
        """Shortens calls and results that the model has read, then the others. True if any was."""
        room = self.for_turns
        if room is None or surely_fits(turns, room) or estimate_turns(turns) <= room:
            return False
        mine = turns[self.begins :]
        asked = max((at for at, turn in enumerate(mine) if isinstance(turn, Said)), default=0)
        left = max(_MIN_RESULT, room - estimate_turns(turns[: self.begins]))
        read = list(cut_pieces(mine[:asked], _pieces(left // 2)))
        turns[self.begins :] = [*read, *cut_pieces(mine[asked:], _pieces(left - estimate_turns(read)))]
        return True


async def room_of(engine: Engine, config: AgentConfig, tools: Sequence[ToolSpec], run: Run | None = None) -> Room:
    settings = getattr(config.model, "settings", None)
    answer = settings.max_tokens if settings is not None else None
    context = await _context(config, engine.models, run)
    return Room(context, tools, answer, partial(engine.toolbox.is_own, config), engine.density(config.model))


async def _context(config: AgentConfig, models: ModelSource, run: Run | None) -> Context:
    if config.context_tokens is not None:
        context = Context(config.context_tokens, "config")
    else:
        context = await models.context(config.model)
    if context.tokens is None:
        return context
    limit = _limit_of(run) if run is not None else None
    if limit is not None and limit < context.tokens:
        return Context(limit, "learned")
    return context._replace(tokens=max(MIN_CONTEXT, context.tokens))


def _limit_of(run: Run) -> int | None:
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
