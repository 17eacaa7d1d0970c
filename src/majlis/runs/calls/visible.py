"""Visible tools: the call and its result as one structured message in the active space, which answers and triggers
nothing (J4). Without an active space the tool runs silently, and the run notes it."""

from __future__ import annotations

from typing import Any

from majlis.errors import MajlisError
from majlis.runs.journal import Entry, update_fenced
from majlis.runs.run import Run
from majlis.spaces.post import Draft, finish_tool_message, store_message
from majlis.spaces.shapes import ToolJson
from majlis.store.transactions import Tx


def show_started(tx: Tx, run: Run, entry: Entry, stream_id: str | None = None) -> None:
    if run.active_space_id is None:
        run.notes.append(f"{entry.name} is a visible tool, but no space was active, so its call was not shown.")
        return
    tool: ToolJson = {
        "callId": entry.call_id or "",
        "name": entry.name or "",
        "input": entry.input,
        "output": None,
        "status": "running",
        "ui": None,
    }
    draft = Draft(
        "",
        client_id=_mark(run.id, entry.n),
        kind="tool",
        tool=tool,
        run_id=run.id,
        chain_depth=run.chain_depth + 1,
        cause=run.cause,
        on_behalf_of=run.person_in(run.active_space_id),
        stream_id=stream_id,
    )
    try:
        message = store_message(tx, run.caller, run.active_space_id, draft).message
    except MajlisError as error:
        # The agent was removed from the space.
        raise MajlisError("not_shown", f"{entry.name} was not called: {error.message}") from None
    run.wrote.setdefault(run.active_space_id, []).append(message["seq"])


def show_done(tx: Tx, run: Run, entry: Entry) -> None:
    if run.active_space_id is not None:
        status: Any = "complete" if entry.state == "done" else "error"
        mark = _mark(run.id, entry.n)
        finish_tool_message(tx, run.active_space_id, run.agent_id, mark, entry.output, status, entry.files)


def show_unknown(tx: Tx, run: Run, n: int) -> None:
    """The call was interrupted and is not made again."""
    if run.active_space_id is not None:
        outcome = {"status": "unknown"}
        finish_tool_message(tx, run.active_space_id, run.agent_id, _mark(run.id, n), outcome, "error")
    update_fenced(tx, run.id, run.fence, **run.columns())


def show_stopped(tx: Tx, space_id: str, agent_id: str, run_id: str, n: int) -> None:
    """The run was canceled during the call."""
    finish_tool_message(tx, space_id, agent_id, _mark(run_id, n), {"status": "canceled"}, "error")


def _mark(run_id: str, n: int) -> str:
    """The message's client id, by which any worker finds it again."""
    return f"{run_id}:{n}"
