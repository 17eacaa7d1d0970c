"""Messages as tools return them to a model: what a timeline line says, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
import sqlalchemy as sa

from majlis.clock import iso
from majlis.runs.calls.context import Acting
from majlis.runs.calls.result import MAX_RESULT_CHARACTERS
from majlis.spaces.damage import Damaged, read_rows
from majlis.spaces.history import SELECT_MESSAGES
from majlis.store.tables import messages
from majlis.store.transactions import Tx

# The rest of a result has a space's name and a few numbers.
MAX_PAGE = MAX_RESULT_CHARACTERS - 2048

_BEFORE = (
    SELECT_MESSAGES.where(messages.c.space_id == sa.bindparam("space"), messages.c.seq <= sa.bindparam("seq"))
    .order_by(messages.c.seq.desc())
    .limit(sa.bindparam("limit"))
)
# For a page with damage in it (R9).
_NUMBERS = _BEFORE.with_only_columns(messages.c.seq)
_BY_NUMBER = SELECT_MESSAGES.where(
    messages.c.space_id == sa.bindparam("space_id"), messages.c.seq == sa.bindparam("seq")
)


class Page(NamedTuple):
    """The last messages up to some number, oldest first; `note` goes into the result, and is empty if nothing is left
    out of the page."""

    lines: list[dict[str, Any]]
    note: dict[str, str]


def newest(tx: Tx, space_id: str, head: int, offset: int, limit: int) -> Page:
    """`limit` messages, without the newest `offset`; fewer if they are long. Then the older ones are left out: a result
    that is cut anywhere else would lack the newest, which count as shown (C2)."""
    given = {"space": space_id, "seq": head - offset, "limit": limit}
    rows = read_rows(tx, space_id, lambda: tx.all(_BEFORE, given), _NUMBERS, given, _BY_NUMBER)
    lines: list[dict[str, Any]] = []
    room = MAX_PAGE
    for n, row in enumerate(rows):
        if isinstance(row, Damaged):
            continue
        line = _line(row)
        size = size_of(line)
        if size > room and lines:
            return Page(lines[::-1], _left_out(len(rows) - n, head - row.seq))
        if size > room:
            line = _shortened(line, room)
        lines.append(line)
        room -= size
    return Page(lines[::-1], {})


def remember_shown(acting: Acting, space_id: str, seq: int) -> None:
    """Only the newest page moves the cursor: what lies after an older one was not shown (C2)."""
    acting.shown[space_id] = max(seq, acting.shown.get(space_id, 0))


def _shortened(line: dict[str, Any], room: int) -> dict[str, Any]:
    """A single message that is longer than any result may be."""
    text = line["text"]
    line = {**line, "tool": {"name": line["tool"].get("name")}} if "tool" in line else line
    keep = len(text)
    while True:
        cut = f"the first {keep} of {len(text)} characters" if keep < len(text) else "its tool's input and output"
        shown = {**line, "text": text[:keep], "cut": cut}
        if size_of(shown) <= room or keep == 0:
            return shown
        keep = keep * 9 // 10


def _left_out(count: int, offset: int) -> dict[str, str]:
    what = "1 earlier message" if count == 1 else f"{count} earlier messages"
    return {"note": f"{what} left out: this would be too long. Call read_messages with offset {offset} to go on."}


def size_of(line: Mapping[str, Any]) -> int:
    """Characters in a result, with the comma after it."""
    return len(orjson.dumps(line).decode()) + 1


def _line(row: sa.Row[Any]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "messageId": row.id,
        "timestamp": iso(row.created_at),
        "sender": {"id": row.sender_id, "name": row.sender_name, "type": row.sender_type},
        "text": row.text,
    }
    if row.kind != "text":
        line["kind"] = row.kind
    if row.tool is not None:
        line["tool"] = row.tool
    if row.reply_to is not None:
        line["replyTo"] = row.reply_to
    return line
