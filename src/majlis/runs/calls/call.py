"""Makes a tool call: parse, journal, act. An error becomes a result that tells the model what to do; for invalid input,
`tools/json_schema.py` words it.

A tool that acts on the database is one transaction with its journal entry. A tool that acts on the outside world is
journalled as started first, in a transaction that also checks the fence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson
import structlog

from majlis import clock, metrics
from majlis.agents.config.policy import verdict
from majlis.errors import MajlisError
from majlis.minds.consciousness.remember import Lived
from majlis.models.port import Call, ToolSpec, read_input
from majlis.runs.calls.commit import Policy, Started, commit_call, commit_speech, finish_call, start_call, write_journal
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.runs.calls.dialog import AskingContext, Dialog
from majlis.runs.calls.elicit import Elicitation, Reply, pause_for
from majlis.runs.calls.held_message import hold_message
from majlis.runs.calls.made_files import WithFiles, keep_files
from majlis.runs.calls.masks import hide, holds_secrets, secrets_in, shown_input
from majlis.runs.calls.permission import Place, judge, offered_specs
from majlis.runs.calls.progress import Progress
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS, clean, plain
from majlis.runs.calls.tool_port import InTransaction, Outside
from majlis.runs.engine import Engine
from majlis.runs.journal import Entry
from majlis.runs.loop.deltas import UNSTREAMED, CallStream
from majlis.runs.run import Run
from majlis.shorten import shorten
from majlis.spaces.post import PolicyUnread
from majlis.spaces.stale import Stale
from majlis.tool_decorator import ToolContext, ignore_progress

_MAX_ERROR = 4000
Keep = Callable[[WithFiles], Awaitable[dict[str, Any]]]
_logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """The result as the model reads it. `paused`: no further request now, because the run waits or has ended.
    `failed`: the code of its error."""

    content: str
    paused: bool = False
    output: Any = None
    failed: str | None = None


class Calls:
    """The calls of one run."""

    def __init__(self, engine: Engine, run: Run) -> None:
        self._engine = engine
        self._run = run
        self._progress: Progress | None = None
        # As they were offered: secrets stay masked even if their MCP server fails later.
        self._schemas: dict[str, Mapping[str, Any]] = {}

    async def offered(self) -> tuple[ToolSpec, ...]:
        """The tools for the model. Those that are unavailable are noted on the run."""
        self._run.note(*await self._engine.toolbox.open(self._run.config))
        specs = self._specs()
        self._schemas = {spec.name: spec.schema for spec in specs}
        return specs

    def _specs(self) -> tuple[ToolSpec, ...]:
        config, toolbox = self._run.config, self._engine.toolbox
        specs = toolbox.specs(config)
        return offered_specs(config, specs) if config.policy else specs

    def leave(self, space_id: str) -> None:
        """The agent left the space: its tool's progress is not shown there any more (A7)."""
        if self._progress is not None and self._progress.space_id == space_id:
            self._progress.end()

    async def make(
        self, call: Call, n: int, entries: list[Entry], stream: CallStream, rest: Sequence[str] = ()
    ) -> Done:
        """`entries` are journal entries that are not written yet; they are written with this one. `rest` names the
        calls after it, which are not made if it pauses the run."""
        tool = self._engine.toolbox.find(self._run.config, call.name)
        entry = Entry(n, "tool", clock.now(), call_id=call.id[:256], name=call.name[:128])
        secrets = self._keep_input(call, entry)
        try:
            if tool is None:
                known = ", ".join(spec.name for spec in self._specs())
                raise MajlisError("unknown_tool", f"There is no tool named {call.name[:64]}. Your tools are: {known}.")
            if self._run.config.policy:
                judge(self._run.config, Place(), call.name)
            given = tool.parse(call.arguments)
            if tool.outside:
                return await self._outside(tool, given, entry, entries, stream, rest)
            given = await tool.loaded(self._engine, self._run, given)
            return await self._in_transaction(tool, given, entry, entries, stream, rest)
        except MajlisError as error:
            error.message = hide(secrets, error.message)
            return await self._refused(error, entry, entries, stream)

    async def speak(
        self, text: str, n: int, entries: list[Entry], stream: CallStream, lived: Lived | None
    ) -> dict[str, Any]:
        """Posts the final text of an agent that speaks by text, and completes the run (E10). Returns the result of
        `send_message`; unless it is a success, the run goes on."""
        tool = self._engine.toolbox.find(self._run.config, "send_message")
        assert tool is not None
        assert not tool.outside
        call = Call(f"text_{n}", tool.name, orjson.dumps({"text": text}).decode())
        entry = Entry(n, "tool", clock.now(), call_id=call.id, name=tool.name, input={"text": text})
        try:
            given = tool.parse(call.arguments)
            _, result = await self._commit(commit_speech, tool, given, entry, entries, stream, lived)
        except MajlisError as error:
            await self._refused(error, entry, entries, stream)
            return {**error_result(error), "status": "refused"}
        if result["success"]:
            metrics.runs_settled.labels("complete").inc()
        return result

    def streamed(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a visible tool, whose calls are streamed."""
        tool = self._engine.toolbox.find(self._run.config, name)
        return self.schema(name) if tool is not None and tool.visible else None

    def shown_arguments(self, call: Call) -> str:
        """The input without secrets, for the journal."""
        schema = self.schema(call.name)
        if schema is None or not holds_secrets(schema):
            return call.arguments
        return orjson.dumps(shown_input(call, read_input(call), schema)).decode()

    async def _in_transaction(
        self,
        tool: InTransaction,
        input: Any,
        entry: Entry,
        entries: list[Entry],
        stream: CallStream,
        rest: Sequence[str],
    ) -> Done:
        context, result = await self._commit(commit_call, tool, input, entry, entries, stream, rest)
        metrics.tool_calls.labels("done").inc()
        if context.skipped is not None:
            metrics.runs_settled.labels("complete").inc()
        return Done(dump(result), context.pause is not None or context.skipped is not None, result)

    async def _commit(
        self,
        commit: Callable[..., tuple[CallContext, ToolResult]],
        tool: InTransaction,
        input: Any,
        entry: Entry,
        entries: list[Entry],
        stream: CallStream,
        last: object,
    ) -> tuple[CallContext, ToolResult]:
        """Commits the call. A message that has become stale is held instead (E8)."""
        policy: Policy = "check" if self._is_governed(tool) else "unread"
        while True:
            try:
                context, result = await self._engine.write_then(
                    lambda done: self._run.become(done[0].run),
                    commit, self._run, tool, input, stream.id, entry, entries, last, policy,
                )  # fmt: skip
            except PolicyUnread:
                policy = "check"
            except Stale:
                stream.fail("New messages arrived before this one was posted.")
                return await hold_message(self._engine, self._run, entry, entries)
            else:
                stream.complete(result)
                return context, result

    def _is_governed(self, tool: InTransaction) -> bool:
        """True if the policies are checked before the call. A message's policy is read when it is posted."""
        own = verdict(self._run.config.policy, tool.name) if self._run.config.policy else "allow"
        return not tool.own and (
            own != "allow" or (tool.name != "send_message" and self._run.active_space_id is not None)
        )

    async def _outside(
        self, tool: Outside, input: Any, entry: Entry, entries: list[Entry], stream: CallStream, rest: Sequence[str]
    ) -> Done:
        entry.state = "started"
        started: Started = await self._engine.write_then(
            lambda started: self._run.become(started.run),
            start_call, self._run, tool, entry, entries, stream.id, rest,
        )  # fmt: skip
        if started.asked is None:
            return await self.act(tool, input, entry, started.space_name, stream, rest)
        stream.complete(started.asked)
        return Done(dump(started.asked), started.paused)

    async def act(
        self,
        tool: Outside,
        input: Any,
        entry: Entry,
        space_name: str | None,
        stream: CallStream = UNSTREAMED,
        rest: Sequence[str] = (),
        resumed: Elicitation | None = None,
        may_pause: bool = True,
    ) -> Done:
        """Called after the call was journalled as started. `resumed`: what the server has asked before, with the
        answers."""
        run = self._run
        self._progress = progress = self._progress_of(tool, entry)
        tell = progress.tell if progress is not None else ignore_progress
        key = f"{run.id}:{entry.n}"
        dialog = Dialog(self._engine, run, entry, resumed, may_pause)
        context = AskingContext(
            run.agent_id, run.agent_name, run.id, run.active_space_id, space_name, key, tell, dialog
        )
        try:
            output, state = await outcome(tool, context, input, self._secrets_of(entry), self._keep(entry))
        finally:
            if progress is not None:
                progress.end()
            await dialog.close()
        if isinstance(output, Elicitation):
            return await self._pause_for(output, tool, input, entry, space_name, stream, rest)
        entry.output, entry.state = output, state
        await self._engine.write(finish_call, run, tool, entry)
        metrics.tool_calls.labels(entry.state).inc()
        if entry.state == "error":
            stream.fail(entry.output["error"])
        else:
            stream.complete(entry.output)
        failed = "tool_failed" if entry.state == "error" else None
        return Done(dump(entry.output), output=entry.output, failed=failed)

    async def _pause_for(
        self,
        asked: Elicitation,
        tool: Outside,
        input: Any,
        entry: Entry,
        space_name: str | None,
        stream: CallStream,
        rest: Sequence[str],
    ) -> Done:
        """If people cannot be asked, the server is told so at once."""
        try:
            context = await self._engine.write_then(
                lambda context: self._run.become(context.run),
                pause_for, self._run, tool, entry, asked, tuple(rest),
            )  # fmt: skip
        except MajlisError as error:
            note = f"The server asked the people in the space, but could not be shown there: {error.message}"
            asked = asked.answered(Reply(action="cancel"), note)
            return await self.act(tool, input, entry, space_name, stream, rest, asked, may_pause=False)
        metrics.tool_calls.labels("done").inc()
        waiting = {"status": "waiting", "toolCallId": context.pause.call_id if context.pause is not None else None}
        stream.complete(waiting)
        return Done(dump(waiting), True)

    def _keep(self, entry: Entry) -> Keep:
        async def keep(result: WithFiles) -> dict[str, Any]:
            found, entry.files = await keep_files(self._engine, self._run, result, entry.n)
            return found

        return keep

    def _keep_input(self, call: Call, entry: Entry) -> list[str]:
        """Puts the input into the journal entry. Returns the texts to mask from here on."""
        schema = self.schema(call.name)
        if schema is not None and not holds_secrets(schema):
            schema = None
        given = read_input(call)
        entry.input = given if given is not None and schema is None else shown_input(call, given, schema)
        entry.secret = given if schema is not None else None
        return self._secrets_of(entry)

    def _secrets_of(self, entry: Entry) -> list[str]:
        schema = self.schema(entry.name or "") if entry.secret is not None else None
        return secrets_in(schema, entry.secret) if schema is not None else []

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """None for built-in tools."""
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

    async def _refused(self, error: MajlisError, entry: Entry, entries: list[Entry], stream: CallStream) -> Done:
        entry.state, entry.output, entry.secret = "error", error_result(error), None
        await self._engine.write(write_journal, self._run, [*entries, entry])
        stream.fail(error.message)
        metrics.tool_calls.labels("error").inc()
        return Done(dump(entry.output), failed=error.code)


async def outcome(
    tool: Outside, context: ToolContext, input: Any, secrets: Sequence[str] = (), keep: Keep | None = None
) -> tuple[Any, Literal["done", "error"]]:
    """Returns the result for the model and the journal, bounded in size and with `secrets` masked. Raises nothing.
    `keep` stores its files."""
    try:
        result = await tool.act(context, input)
        if isinstance(result, Elicitation):
            return result, "done"
        if keep is not None and isinstance(result, WithFiles):
            result = await keep(result)
        return hide(secrets, plain(result)), "done"
    except MajlisError as error:
        return hide(secrets, error_result(error)), "error"
    except Exception as error:
        # A traceback may contain a secret.
        _logger.warning("tool failed", tool=tool.name, run=context.run_id, exc_info=not secrets)
        failed = MajlisError("tool_failed", f"{tool.name} failed: {_describe(error)}")
        return hide(secrets, error_result(failed)), "error"


def _describe(error: Exception) -> str:
    try:
        words = str(error)
    except Exception:
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def error_result(error: MajlisError) -> dict[str, Any]:
    return {"success": False, "error": clean(error.message[:_MAX_ERROR])}


def dump(value: Any) -> str:
    """Shortened with notes if it is too long (F5)."""
    text = orjson.dumps(value, default=str).decode()
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return orjson.dumps(shorten(orjson.loads(text), MAX_RESULT_CHARACTERS)).decode()
