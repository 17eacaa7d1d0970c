"""Making a call: parsed, journalled, done. What goes wrong is a result that tells the model what to do.

A tool that acts on the database is one transaction with its journal entry. One that acts on the world is journalled as
begun before it is called, in a transaction that also proves that the run is still ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog

from majlis import clock, metrics
from majlis.clock import iso
from majlis.errors import MajlisError
from majlis.models.port import Call
from majlis.runs.acting import Acting, Pause
from majlis.runs.actions import unknown_outcomes
from majlis.runs.announcing import announce, presence, run_event
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry, finish_entry, hold, write_entries
from majlis.runs.showing import show_begun, show_done
from majlis.runs.streaming import SpokenStream
from majlis.runs.toolbox import CallContext, InTransaction, Outside
from majlis.runs.working import Working
from majlis.store.transactions import Tx

MAX_RESULT_BYTES = 64 * 1024
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """The result as the model reads it."""

    content: str
    paused: bool = False


class Calling:
    def __init__(self, engine: Engine, run: Working) -> None:
        self._engine = engine
        self._run = run

    async def make(
        self, call: Call, n: int, entries: list[Entry], stream: SpokenStream | None, rest: Sequence[str] = ()
    ) -> Done:
        """`entries` are the journal's lines so far that are not written yet; they go with this one. `rest` are the
        calls after it, which are not made if it pauses the run."""
        tool = self._engine.toolbox.find(self._run.config, call.name)
        entry = Entry(n, "tool", clock.now(), call_id=call.id[:256], name=call.name[:128], input=_shown_input(call))
        try:
            if tool is None:
                known = ", ".join(spec.name for spec in self._engine.toolbox.specs(self._run.config))
                raise MajlisError("unknown_tool", f"There is no tool {call.name[:64]}. Your tools are: {known}.")
            given = tool.parse(call.arguments)
            if tool.outside:
                return await self._outside(tool, given, entry, entries)
            return await self._in_transaction(tool, given, entry, entries, stream, rest)
        except MajlisError as error:
            return await self._refused(error, entry, entries, stream)

    async def repeat_unknown(self) -> bool:
        """After a worker's death: calls whose outcome nobody knows are made again only if their tool is declared
        idempotent. The rest stays as it is, and the model is shown that (J2). Whether any was made."""
        repeated = False
        for left in await self._engine.db.read(unknown_outcomes, self._run.id):
            tool = self._engine.toolbox.find(self._run.config, left.name)
            if tool is not None and tool.outside and tool.idempotent:
                entry = Entry(left.n, "tool", left.started_at, "started", left.call_id, left.name, left.input)
                # Right before an effect outside: the run is still ours.
                await self._engine.write(_journal, self._run, [])
                await self._act(tool, tool.parse(orjson.dumps(left.input).decode()), entry)
                repeated = True
        return repeated

    async def _in_transaction(
        self,
        tool: InTransaction,
        input: Any,
        entry: Entry,
        entries: list[Entry],
        stream: SpokenStream | None,
        rest: Sequence[str],
    ) -> Done:
        stream_id = stream.id if stream else None
        acted, result = await self._engine.write(_commit_call, self._run, tool, input, stream_id, entry, entries, rest)
        self._run.take_in(acted)
        if stream is not None:
            stream.complete(result)
        metrics.tool_calls.labels("done").inc()
        return Done(dump(result), acted.pause is not None)

    async def _outside(self, tool: Outside, input: Any, entry: Entry, entries: list[Entry]) -> Done:
        entry.state = "started"
        await self._engine.write(_begin_call, self._run, tool, entry, entries)
        return await self._act(tool, input, entry)

    async def _act(self, tool: Outside, input: Any, entry: Entry) -> Done:
        run = self._run
        context = CallContext(run.agent_id, run.agent_name, run.id, run.active_space_id, f"{run.id}:{entry.n}")
        try:
            entry.output = await tool.act(context, input)
            entry.state = "done"
        except MajlisError as error:
            entry.output, entry.state = _error(error), "error"
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _logger.warning("a tool failed", tool=tool.name, run=run.id, error=repr(error))
            entry.output, entry.state = {"success": False, "error": f"{tool.name} failed: {error}"[:2000]}, "error"
        await self._engine.write(_finish_call, run, tool, entry)
        metrics.tool_calls.labels(entry.state).inc()
        return Done(dump(entry.output))

    async def _refused(
        self, error: MajlisError, entry: Entry, entries: list[Entry], stream: SpokenStream | None
    ) -> Done:
        entry.state, entry.output = "error", _error(error)
        await self._engine.write(_journal, self._run, [*entries, entry])
        if stream is not None:
            stream.fail(error.message)
        metrics.tool_calls.labels("error").inc()
        return Done(dump(entry.output))


def _commit_call(
    tx: Tx,
    run: Working,
    tool: InTransaction,
    input: Any,
    stream_id: str | None,
    entry: Entry,
    entries: list[Entry],
    rest: Sequence[str],
) -> tuple[Acting, dict[str, Any]]:
    acting = run.acting(entry.call_id or "", stream_id)
    result = tool.call(tx, acting, input)
    entry.output, entry.ended_at = result, tx.now
    write_entries(tx, run.id, [*entries, entry])
    columns = _columns_after(run, acting)
    if acting.pause is not None:
        columns |= _paused(tx, run, acting.pause)
        unmade = [f"{name} was not called: the run had paused before it." for name in rest]
        columns["notes"] = [*run.notes, *unmade] or None
    hold(tx, run.id, run.fence, **columns)
    return acting, result


def _columns_after(run: Working, acting: Acting) -> dict[str, Any]:
    columns = run.columns()
    kept = {**columns["shown"], "shown": acting.shown, "wrote": acting.wrote}
    return {**columns, "active_space_id": acting.active_space_id, "waits": acting.waits, "shown": kept}


def _paused(tx: Tx, run: Working, pause: Pause) -> dict[str, Any]:
    """Waiting is a row: no task, no connection, no memory is held (M4)."""
    wait: dict[str, Any] = {
        "spaceId": pause.space_id,
        "messageId": pause.message_id,
        "startedAt": iso(tx.now),
        "timeoutSeconds": pause.seconds,
    }
    if run.expired:
        wait["expired"] = run.expired
    events = run_event(f"run.{pause.status}", run, wait=wait) + presence("agent.inactive", run)
    announce(tx, events)
    return {
        "status": pause.status,
        "wait": wait,
        "wait_space_id": pause.space_id,
        "wait_message_id": pause.message_id,
        "deadline": tx.now + pause.seconds * 1000,
        "among_agents": pause.among_agents,
        "lease_owner": None,
    }


def _begin_call(tx: Tx, run: Working, tool: Outside, entry: Entry, entries: list[Entry]) -> None:
    write_entries(tx, run.id, [*entries, entry])
    if tool.visible:
        show_begun(tx, run, entry)
    hold(tx, run.id, run.fence, **run.columns())


def _finish_call(tx: Tx, run: Working, tool: Outside, entry: Entry) -> None:
    finish_entry(tx, run.id, entry)
    if tool.visible:
        show_done(tx, run, entry)
    hold(tx, run.id, run.fence, **run.columns())


def _journal(tx: Tx, run: Working, entries: list[Entry]) -> None:
    write_entries(tx, run.id, entries)
    hold(tx, run.id, run.fence, **run.columns())


def _shown_input(call: Call) -> Any:
    """As the model gave it; what is no JSON is kept as text."""
    try:
        return orjson.loads(call.arguments or "{}")
    except orjson.JSONDecodeError:
        return {"malformed": call.arguments[:4096]}


def _error(error: MajlisError) -> dict[str, Any]:
    return {"success": False, "error": error.message}


def dump(value: Any) -> str:
    """A result that is too long for anybody's context is cut, and says so."""
    text = orjson.dumps(value, default=str).decode()
    if len(text) <= MAX_RESULT_BYTES:
        return text
    return orjson.dumps({"truncated": text[:MAX_RESULT_BYTES], "note": f"cut from {len(text)} characters"}).decode()
