"""Making a call: parsed, journalled, done. What goes wrong is a result that tells the model what to do.

A tool that acts on the database is one transaction with its journal entry. One that acts on the world is journalled as
begun before it is called, in a transaction that also proves that the run is still ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import sqlalchemy as sa
import structlog

from majlis import clock, metrics
from majlis.errors import MajlisError
from majlis.models.port import Call, ToolSpec
from majlis.runs.calls.approved import approved_call, begin_approved, find_approved, give_up_approved
from majlis.runs.calls.input import given_again, read_input, shown_input
from majlis.runs.calls.masks import hide, holds_secrets, secrets_in
from majlis.runs.calls.permission import Place, judge, offered_specs
from majlis.runs.calls.progress import Progress
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS, clean, plain
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.calls.transactions import Begun, begin_call, commit_call, finish_call, hold_again, write_journal
from majlis.runs.calls.visible import show_unknown
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.loop.deltas import CallStream
from majlis.runs.loop.earlier_calls import unknown_outcomes
from majlis.runs.run import Working
from majlis.tool_decorator import ToolContext, nobody_listens

_MAX_ERROR = 4000
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """The result as the model reads it. `paused`: no further request now, be it a wait or the end."""

    content: str
    paused: bool = False


class Calling:
    def __init__(self, engine: Engine, run: Working) -> None:
        self._engine = engine
        self._run = run
        self._progress: Progress | None = None
        # As the model was told of them: a server that fails later must not uncover what its schema calls secret.
        self._schemas: dict[str, Mapping[str, Any]] = {}

    async def offered(self) -> tuple[ToolSpec, ...]:
        """The tools that the model is told of; what is missing among them, people read on the run."""
        missing = await self._engine.toolbox.open(self._run.config)
        self._run.notes += [note for note in missing if note not in self._run.notes]
        specs = self._specs()
        self._schemas = {spec.name: spec.schema for spec in specs}
        return specs

    def _specs(self) -> tuple[ToolSpec, ...]:
        config = self._run.config
        return offered_specs(config, self._engine.toolbox.specs(config), self._engine.toolbox.is_own)

    def leave(self, space_id: str) -> None:
        """The agent is no member any more: what its tool is doing is not that space's business (A7)."""
        if self._progress is not None and self._progress.space_id == space_id:
            self._progress.end()

    async def make(
        self, call: Call, n: int, entries: list[Entry], stream: CallStream | None, rest: Sequence[str] = ()
    ) -> Done:
        """`entries` are the journal's lines so far that are not written yet; they go with this one. `rest` are the
        calls after it, which are not made if it pauses the run."""
        tool = self._engine.toolbox.find(self._run.config, call.name)
        entry = Entry(n, "tool", clock.now(), call_id=call.id[:256], name=call.name[:128])
        secrets = self._keep_input(call, entry)
        try:
            if tool is None:
                known = ", ".join(spec.name for spec in self._specs())
                raise MajlisError("unknown_tool", f"There is no tool {call.name[:64]}. Your tools are: {known}.")
            if tool.outside or tool.own:
                judge(self._run.config, Place(), call.name)
            given = tool.parse(call.arguments)
            if tool.outside:
                return await self._outside(tool, given, entry, entries, stream, rest)
            return await self._in_transaction(tool, given, entry, entries, stream, rest)
        except MajlisError as error:
            error.message = hide(secrets, error.message)
            return await self._refused(error, entry, entries, stream)

    def streamed(self, name: str) -> Mapping[str, Any] | None:
        """The input's schema of a tool whose calls people see while they are written."""
        tool = self._engine.toolbox.find(self._run.config, name)
        return self._schema(name) if tool is not None and tool.visible else None

    def shown_arguments(self, call: Call) -> str:
        """As the journal keeps them with the model's step."""
        schema = self._schema(call.name)
        if schema is None or not holds_secrets(schema):
            return call.arguments
        return orjson.dumps(shown_input(call, read_input(call), schema)).decode()

    async def make_approved(self, wait: dict[str, Any] | None) -> bool:
        """After people have approved a call: it is made now, before the model is asked anything. Whether it was."""
        call_id = approved_call(wait)
        found = await self._engine.db.read(find_approved, self._run.id, call_id) if call_id else None
        if found is None:
            return False
        entry = Entry(found.n, "tool", found.started_at, "started", found.call_id, found.name, found.input)
        entry.secret = found.secret
        await self.offered()
        try:
            tool = self._engine.toolbox.find(self._run.config, found.name)
            if tool is None or not tool.outside:
                raise MajlisError("unknown_tool", f"{found.name} was not called: there is no such tool any more.")
            given = tool.parse(self._given_again(entry))
            begun = await self._engine.write_and_take_in(
                self._take_begun, begin_approved, self._run, tool, entry, found.card_id
            )
        except MajlisError as error:
            entry.output = _error(error)
            await self._engine.write(give_up_approved, self._run, entry, found.card_id)
            return True
        await self._act(tool, given, entry, begun.space_name)
        return True

    async def repeat_unknown(self) -> bool:
        """After a worker's death: calls whose outcome nobody knows are made again only if their tool is declared
        idempotent. The rest stays as it is, and the model is shown that (J2). Whether any was made."""
        repeated = False
        for left in await self._engine.db.read(unknown_outcomes, self._run.id):
            tool = self._engine.toolbox.find(self._run.config, left.name)
            if tool is None or not tool.outside:
                continue
            if tool.idempotent and await self._repeat(tool, left):
                repeated = True
            elif tool.visible:
                await self._engine.write(show_unknown, self._run, left.n)
        return repeated

    async def _repeat(self, tool: Outside, left: sa.Row[Any]) -> bool:
        """Not if the tool does not take this input any more, or may not be used now."""
        entry = Entry(left.n, "tool", left.started_at, "started", left.call_id, left.name, left.input)
        entry.secret = left.secret
        try:
            given = tool.parse(self._given_again(entry))
            # Right before an effect outside: the run is still ours.
            space_name = await self._engine.write(hold_again, self._run, tool.name)
        except MajlisError as error:
            self._run.notes.append(f"A call of {tool.name} was interrupted and not repeated: {error.message}")
            return False
        await self._act(tool, given, entry, space_name)
        return True

    async def _in_transaction(
        self,
        tool: InTransaction,
        input: Any,
        entry: Entry,
        entries: list[Entry],
        stream: CallStream | None,
        rest: Sequence[str],
    ) -> Done:
        stream_id = stream.id if stream else None
        acted, result = await self._engine.write_and_take_in(
            lambda done: self._run.take_in(done[0]),
            commit_call, self._run, tool, input, stream_id, entry, entries, rest,
        )  # fmt: skip
        if stream is not None:
            stream.complete(result)
        metrics.tool_calls.labels("done").inc()
        if acted.skipped is not None:
            metrics.runs_settled.labels("complete").inc()
        return Done(dump(result), acted.pause is not None or acted.skipped is not None)

    async def _outside(
        self,
        tool: Outside,
        input: Any,
        entry: Entry,
        entries: list[Entry],
        stream: CallStream | None,
        rest: Sequence[str],
    ) -> Done:
        entry.state = "started"
        stream_id = stream.id if stream else None
        begun = await self._engine.write_and_take_in(
            self._take_begun, begin_call, self._run, tool, entry, entries, stream_id, rest
        )
        if begun.asked is None:
            return await self._act(tool, input, entry, begun.space_name, stream)
        acted, waiting = begun.asked
        if stream is not None:
            stream.complete(waiting)
        return Done(dump(waiting), acted.pause is not None)

    def _take_begun(self, begun: Begun) -> None:
        self._run.take_shown(begun.run)
        if begun.asked is not None:
            self._run.take_in(begun.asked[0])

    async def _act(
        self, tool: Outside, input: Any, entry: Entry, space_name: str | None, stream: CallStream | None = None
    ) -> Done:
        run = self._run
        self._progress = progress = self._progress_of(tool, entry)
        tell = progress.tell if progress is not None else nobody_listens
        key = f"{run.id}:{entry.n}"
        context = ToolContext(run.agent_id, run.agent_name, run.id, run.active_space_id, space_name, key, tell)
        try:
            entry.output, entry.state = await outcome(tool, context, input, self._secrets_of(entry))
        finally:
            if progress is not None:
                progress.end()
        await self._engine.write(finish_call, run, tool, entry)
        metrics.tool_calls.labels(entry.state).inc()
        if stream is not None and entry.state == "error":
            stream.fail(entry.output["error"])
        elif stream is not None:
            stream.complete(entry.output)
        return Done(dump(entry.output))

    def _keep_input(self, call: Call, entry: Entry) -> list[str]:
        """For the journal. The texts that are hidden from here on."""
        schema = self._schema(call.name)
        if schema is not None and not holds_secrets(schema):
            schema = None
        given = read_input(call)
        entry.input = shown_input(call, given, schema)
        entry.secret = given if schema is not None else None
        return self._secrets_of(entry)

    def _given_again(self, entry: Entry) -> str:
        schema = self._schema(entry.name or "")
        if entry.secret is None and schema is not None and holds_secrets(schema):
            raise MajlisError("secret_not_kept", f"{entry.name} was not called: its secret input is not kept here.")
        return given_again(entry)

    def _secrets_of(self, entry: Entry) -> list[str]:
        schema = self._schema(entry.name or "") if entry.secret is not None else None
        return secrets_in(schema, entry.secret) if schema is not None else []

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        """Of a tool that is not built in."""
        toolbox, config = self._engine.toolbox, self._run.config
        if not toolbox.is_own(config, name):
            return None
        if name in self._schemas:
            return self._schemas[name]
        return next((spec.schema for spec in toolbox.specs(config) if spec.name == name), None)

    def _progress_of(self, tool: Outside, entry: Entry) -> Progress | None:
        run = self._run
        if not tool.visible or run.active_space_id is None:
            return None
        about = {"runId": run.id, "agentId": run.agent_id, "callId": entry.call_id, "toolName": tool.name}
        return Progress(self._engine.channel, run.active_space_id, about)

    async def _refused(self, error: MajlisError, entry: Entry, entries: list[Entry], stream: CallStream | None) -> Done:
        entry.state, entry.output, entry.secret = "error", _error(error), None
        await self._engine.write(write_journal, self._run, [*entries, entry])
        if stream is not None:
            stream.fail(error.message)
        metrics.tool_calls.labels("error").inc()
        return Done(dump(entry.output))


async def outcome(
    tool: Outside, context: ToolContext, input: Any, secrets: Sequence[str] = ()
) -> tuple[Any, Literal["done", "error"]]:
    """What the model gets to read, and is kept: never an exception, never more than a context can hold. The call's own
    `secrets` are in none of it."""
    try:
        return hide(secrets, plain(await tool.act(context, input))), "done"
    except MajlisError as error:
        return hide(secrets, _error(error)), "error"
    except Exception as error:
        # Its type and words are the model's to read, the traceback is for the log, unless it may tell a secret.
        _logger.warning("a tool failed", tool=tool.name, run=context.run_id, exc_info=not secrets)
        return hide(secrets, _error(MajlisError("tool_failed", f"{tool.name} failed: {_told(error)}"))), "error"


def _told(error: Exception) -> str:
    try:
        words = str(error)
    except Exception:
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _error(error: MajlisError) -> dict[str, Any]:
    return {"success": False, "error": clean(error.message[:_MAX_ERROR])}


def dump(value: Any) -> str:
    """A result that is too long for anybody's context is cut, and says so."""
    text = orjson.dumps(value, default=str).decode()
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    cut = {"truncated": text[:MAX_RESULT_CHARACTERS], "note": f"cut from {len(text)} characters"}
    return orjson.dumps(cut).decode()
