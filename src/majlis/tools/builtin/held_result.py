"""The result of a message that was held (E8): what has arrived since the run's last look."""

from __future__ import annotations

from majlis.runs.calls.behalf import access_as_run
from majlis.runs.calls.context import CallContext, ToolResult
from majlis.store.transactions import Tx
from majlis.tools.builtin.messages import newest, remember_shown

# More are read with read_messages.
_MOST = 50
_NOTE = (
    "Your message was not posted: new messages arrived while you wrote it. Read them, then decide again: send your "
    "message, send another one, or stay silent. You are still expected to answer unless the new messages cover it "
    "completely."
)


def held_result(tx: Tx, call: CallContext, space_id: str) -> ToolResult:
    """This counts as a look: the next message is compared with what arrives after it."""
    space = access_as_run(tx, call.run, space_id, "Nothing was sent")
    count = space.head_seq - (call.run.looked_at(space_id) or 0)
    page = newest(tx, call.run, space_id, space.head_seq, 0, min(count, _MOST))
    remember_shown(tx, call, space_id, space.head_seq)
    call.run.holds += 1
    more = count - len(page.lines)
    omitted = {"omitted": f"{more} earlier messages. Call read_messages to read them."} if more > 0 else {}
    return {"success": False, "status": "held", "newMessages": page.lines, **omitted, "note": _NOTE}
