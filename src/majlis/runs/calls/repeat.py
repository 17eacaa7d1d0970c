"""Makes the calls that a pause or a dead worker has left: calls that a person has approved or answered, and calls that
were started and may not have ended (J2)."""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa

from majlis import metrics
from majlis.cards.close import withdraw_held_cards
from majlis.errors import MajlisError
from majlis.runs.calls.approved import commit_approved, find_approved, give_up_approved, start_approved
from majlis.runs.calls.call import Calls, error_result
from majlis.runs.calls.commit import check_before_repeat
from majlis.runs.calls.elicit import Elicitation, ask_next, reply_of, start_again
from majlis.runs.calls.masks import given_again, holds_secrets
from majlis.runs.calls.tool_port import Outside
from majlis.runs.calls.visible import show_unknown
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.loop.earlier_calls import unknown_outcomes
from majlis.runs.run import Run


class Repeats:
    """The calls of one run that were not made, or not finished, before it was claimed."""

    def __init__(self, engine: Engine, run: Run, calls: Calls) -> None:
        self._engine = engine
        self._run = run
        self._calls = calls

    async def make_approved(self) -> Literal["none", "made", "paused"]:
        """Makes the call that a person has approved, or whose server a person has answered, before the model is asked
        again. It may pause the run."""
        call_id = self._run.wait.call_to_make if self._run.wait is not None else None
        found = await self._engine.db.read(find_approved, self._run.id, call_id) if call_id else None
        if found is None:
            return "none"
        entry = Entry(found.n, "tool", found.started_at, "started", found.call_id, found.name, found.input)
        entry.secret = found.secret
        await self._calls.offered()
        try:
            tool = self._engine.toolbox.find(self._run.config, found.name)
            if tool is None:
                raise MajlisError("unknown_tool", f"{found.name} was not called: the tool no longer exists.")
            given = tool.parse(self._given_again(entry))
            if not tool.outside:
                context, _ = await self._engine.write_then(
                    lambda done: self._run.become(done[0].run),
                    commit_approved, self._run, tool, given, entry, found.card_id,
                )  # fmt: skip
                metrics.tool_calls.labels("done").inc()
                return "made" if context.pause is None else "paused"
            if found.elicitation is not None:
                return await self._go_on(tool, given, entry, found)
            started = await self._engine.write_then(
                lambda started: self._run.become(started.run), start_approved, self._run, tool, entry, found.card_id
            )
        except MajlisError as error:
            entry.output = error_result(error)
            await self._engine.write(give_up_approved, self._run, entry, found.card_id)
            return "made"
        done = await self._calls.act(tool, given, entry, started.space_name)
        return "paused" if done.paused else "made"

    async def _go_on(self, tool: Outside, given: Any, entry: Entry, card: sa.Row[Any]) -> Literal["made", "paused"]:
        """A person has answered the server of this call: asks its next question, or makes the call again."""
        asked = Elicitation.model_validate(card.elicitation).answered(*reply_of(card))
        if asked.questions:
            await self._engine.write_then(
                lambda context: self._run.become(context.run), ask_next, self._run, tool, entry, asked, card.card_id
            )
            return "paused"
        started = await self._engine.write_then(
            lambda started: self._run.become(started.run), start_again, self._run, tool, entry, card.card_id
        )
        done = await self._calls.act(tool, given, entry, started.space_name, resumed=asked)
        return "paused" if done.paused else "made"

    async def repeat_unknown(self) -> bool:
        """After a worker died: calls with an unknown outcome are made again only if their tool is idempotent; the
        others are shown to the model as unknown (J2). True if any was made again."""
        repeated = False
        unknown = await self._engine.db.read(unknown_outcomes, self._run.id)
        if unknown:
            await self._engine.write(withdraw_held_cards, self._run.id)
        for left in unknown:
            tool = self._engine.toolbox.find(self._run.config, left.name)
            if tool is None or not tool.outside:
                continue
            if tool.idempotent and await self._repeat(tool, left):
                repeated = True
            elif tool.visible:
                await self._engine.write(show_unknown, self._run, left.n)
        return repeated

    async def _repeat(self, tool: Outside, left: sa.Row[Any]) -> bool:
        """False if the input is no longer valid, or the tool is no longer allowed."""
        entry = Entry(left.n, "tool", left.started_at, "started", left.call_id, left.name, left.input)
        entry.secret = left.secret
        try:
            given = tool.parse(self._given_again(entry))
            # Check the fence right before an effect outside.
            space_name = await self._engine.write(check_before_repeat, self._run, tool.name)
        except MajlisError as error:
            self._run.notes.append(f"A call of {tool.name} was interrupted and was not repeated: {error.message}")
            return False
        await self._calls.act(tool, given, entry, space_name)
        return True

    def _given_again(self, entry: Entry) -> str:
        schema = self._calls.schema(entry.name or "")
        if entry.secret is None and schema is not None and holds_secrets(schema):
            raise MajlisError("secret_not_kept", f"{entry.name} was not called: its secret input was not kept.")
        return given_again(entry)
