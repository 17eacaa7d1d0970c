"""Asks people for a server while the worker holds its call (D6). The time is limited: a call holds its worker,
and other runs may use the same connection."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import structlog

from majlis.errors import MajlisError
from majlis.runs.calls.elicit import Elicitation, Reply, ServerQuestion, held_card, post_held, reply_of, withdraw_held
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, Fenced
from majlis.runs.run import Run
from majlis.tool_decorator import ToolContext

# How long a call is held for an answer.
HOLD_SECONDS = 300
MAX_QUESTIONS = 10
# How often to look for an answer that another process took while the bus was down.
_LOOK_SECONDS = 1.0
_CANCEL = Reply(action="cancel")
_logger = structlog.get_logger(__name__)


class Dialog:
    """`resumed`: the answers of an earlier round, if the call is made again with them."""

    def __init__(self, engine: Engine, run: Run, entry: Entry, resumed: Elicitation | None, may_pause: bool) -> None:
        self.resumed = resumed
        # A consciousness never pauses.
        self.pauses = may_pause and not run.cycle and run.active_space_id is not None
        self.notes: list[str] = list(resumed.notes) if resumed is not None else []
        self._engine = engine
        self._run = run
        self._entry = entry
        self._asked = 0
        self._over = False
        self._turn = asyncio.Lock()
        self._happened = asyncio.Event()

    async def ask(self, server: str, question: ServerQuestion) -> Reply:
        """Asks one question after another."""
        async with self._turn:
            self._asked += 1
            if self._over:
                return _CANCEL
            if self._asked > MAX_QUESTIONS:
                self.note(f"The server asked more than {MAX_QUESTIONS} questions. The others were not shown.")
                return _CANCEL
            try:
                return await self._hold(Elicitation(server=server, questions=(question,)))
            except MajlisError as error:
                self.note(f"The server asked the people in the space, but could not be shown there: {error.message}")
            except Fenced:
                pass
            return _CANCEL

    async def close(self) -> None:
        """Withdraws the open question, because the call is over."""
        self._over = True
        self._happened.set()
        async with self._turn:
            pass

    async def _hold(self, asked: Elicitation) -> Reply:
        space_id, name = self._run.active_space_id, self._entry.name or ""
        seconds = min(HOLD_SECONDS, self._run.config.limits.tool_wait_seconds)
        unwatch = self._engine.channel.watch(space_id, lambda _: self._happened.set()) if space_id else lambda: None
        try:
            _, call_id = await self._engine.write_then(
                lambda posted: self._run.become(posted[0]), post_held, self._run, name, self._entry, asked, seconds
            )
            try:
                reply, note = await self._answer(call_id)
            except BaseException:
                await self._withdraw(call_id)
                raise
        finally:
            unwatch()
        if note is not None:
            self.note(note)
        return reply

    async def _answer(self, call_id: str) -> tuple[Reply, str | None]:
        while True:
            self._happened.clear()
            card = await self._engine.db.read(held_card, self._run.id, call_id)
            if card is not None:
                return reply_of(card)
            if self._over:
                await self._withdraw(call_id)
                return _CANCEL, None
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS):
                    await self._happened.wait()

    async def _withdraw(self, call_id: str) -> None:
        try:
            await self._engine.write(withdraw_held, self._run.id, call_id)
        except Exception:
            # It ends at its deadline.
            _logger.exception("a question could not be withdrawn", run=self._run.id)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True, slots=True)
class AskingContext(ToolContext):
    """For a tool whose server may ask people."""

    dialog: Dialog | None = None
