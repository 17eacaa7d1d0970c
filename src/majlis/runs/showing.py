"""Visible tools: call and result as one structured message in the active space, which answers nobody and wakes nobody
(J4). Without an active space the tool runs silently, and the run says so."""

from __future__ import annotations

from typing import Any

from majlis.errors import MajlisError
from majlis.runs.journal import Entry
from majlis.runs.working import Working
from majlis.spaces.posting import Draft, post_message
from majlis.spaces.shapes import ToolJson
from majlis.spaces.tool_messages import finish_tool_message
from majlis.store.transactions import Tx


def show_begun(tx: Tx, run: Working, entry: Entry) -> None:
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
        "", client_id=_mark(run, entry), kind="tool", tool=tool, run_id=run.id, chain_depth=run.chain_depth + 1
    )
    try:
        message = post_message(tx, run.acting("", None), run.active_space_id, draft)
    except MajlisError as error:
        # Removed from the space meanwhile: the call itself is not the space's business any more.
        raise MajlisError("not_shown", f"{entry.name} was not called: {error.message}") from None
    run.wrote.setdefault(run.active_space_id, []).append(message["seq"])


def show_done(tx: Tx, run: Working, entry: Entry) -> None:
    if run.active_space_id is not None:
        status: Any = "complete" if entry.state == "done" else "error"
        finish_tool_message(tx, run.active_space_id, run.agent_id, _mark(run, entry), entry.output, status)


def _mark(run: Working, entry: Entry) -> str:
    """Finds the message again, also for another worker."""
    return f"{run.id}:{entry.n}"
