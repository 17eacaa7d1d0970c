"""Visible tools: call and result as one structured message in the active space, which answers nobody and wakes nobody
(J4). Without an active space the tool runs silently, and the run says so."""

from __future__ import annotations

from typing import Any

from majlis.errors import MajlisError
from majlis.runs.journal import Entry, hold
from majlis.runs.run import Working
from majlis.spaces.post import Draft, store_message
from majlis.spaces.shapes import ToolJson
from majlis.spaces.tool_messages import finish_tool_message
from majlis.store.transactions import Tx


def show_begun(tx: Tx, run: Working, entry: Entry, stream_id: str | None = None) -> None:
    if run.active_space_id is None:
        run.notes.append(f"{entry.name} is visible, but no space was active: its call was shown nowhere.")
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
        stream_id=stream_id,
    )
    try:
        message = store_message(tx, run.acting("", None), run.active_space_id, draft).message
    except MajlisError as error:
        # Removed from the space meanwhile: the call itself is not the space's business any more.
        raise MajlisError("not_shown", f"{entry.name} was not called: {error.message}") from None
    run.wrote.setdefault(run.active_space_id, []).append(message["seq"])


def show_done(tx: Tx, run: Working, entry: Entry) -> None:
    if run.active_space_id is not None:
        status: Any = "complete" if entry.state == "done" else "error"
        finish_tool_message(tx, run.active_space_id, run.agent_id, _mark(run.id, entry.n), entry.output, status)


def show_unknown(tx: Tx, run: Working, n: int) -> None:
    """The call was interrupted and is not made again: nothing is under way any more."""
    if run.active_space_id is not None:
        outcome = {"status": "unknown"}
        finish_tool_message(tx, run.active_space_id, run.agent_id, _mark(run.id, n), outcome, "error")
    hold(tx, run.id, run.fence, **run.columns())


def show_stopped(tx: Tx, space_id: str, agent_id: str, run_id: str, n: int) -> None:
    """The run was ended from outside in the middle of the call."""
    finish_tool_message(tx, space_id, agent_id, _mark(run_id, n), {"status": "canceled"}, "error")


def _mark(run_id: str, n: int) -> str:
    """Finds the message again, also for another worker."""
    return f"{run_id}:{n}"
