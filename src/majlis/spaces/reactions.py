"""Members react to messages with emoji (L3).

Every change holds the space's lock, gives the message a higher revision and records an event. No agent is woken.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict, Invalid
from majlis.live import log
from majlis.spaces.edit import lock_message, require_not_deleted
from majlis.spaces.shapes import MessageJson, message_of, reactions_json
from majlis.store.tables import messages
from majlis.store.transactions import Tx

MAX_EMOJI = 20
MAX_REACTIONS = 500
_BASE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa"
    "\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614\u2615\u2618\u261d\u2620\u2622\u2623"
    "\u2626\u262a\u262e\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f\u2660\u2663\u2665\u2666\u2668\u267b\u267e"
    "\u267f\u2692-\u2697\u2699\u269b\u269c\u26a0\u26a1\u26a7\u26aa\u26ab\u26b0\u26b1\u26bd\u26be\u26c4\u26c5\u26c8"
    "\u26ce\u26cf\u26d1\u26d3\u26d4\u26e9\u26ea\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712"
    "\u2714\u2716\u271d\u2721\u2728\u2733\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797"
    "\u27a1\u27b0\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f004\U0001f0cf\U0001f170\U0001f171\U0001f17e\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f201\U0001f202"
    "\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f250\U0001f251\U0001f300-\U0001f3fa\U0001f400-\U0001f64f"
    "\U0001f680-\U0001f6ff\U0001f7e0-\U0001f7eb\U0001f7f0\U0001f90c-\U0001f9ff\U0001fa70-\U0001faff"
)
_ONE = f"[{_BASE}]\ufe0f?[\U0001f3fb-\U0001f3ff]?"
_EMOJI = re.compile(
    f"(?:{_ONE}(?:\u200d{_ONE}){{0,7}}"
    "|[\U0001f1e6-\U0001f1ff]{2}"
    "|[0-9#*]\ufe0f?\u20e3"
    "|\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f)"
)


def react(tx: Tx, caller: Caller, message_id: str, emoji: str) -> MessageJson:
    emoji = _checked(emoji)
    _, row = lock_message(tx, caller, message_id, "write")
    require_not_deleted(row)
    kept = [dict(each) for each in row.reactions or ()]
    found = next((each for each in kept if each["emoji"] == emoji), None)
    if found is not None and caller.id in found["entityIds"]:
        return message_of(row._mapping)
    if sum(len(each["entityIds"]) for each in kept) >= MAX_REACTIONS or (found is None and len(kept) >= MAX_EMOJI):
        limit = f"{MAX_EMOJI} different emoji and {MAX_REACTIONS} reactions"
        raise Conflict("too_many_reactions", f"A message can have at most {limit}. Remove one first.")
    if found is None:
        kept.append({"emoji": emoji, "entityIds": [caller.id]})
    else:
        found["entityIds"] = [*found["entityIds"], caller.id]
    return _change_reactions(tx, row, kept)


def unreact(tx: Tx, caller: Caller, message_id: str, emoji: str) -> MessageJson:
    emoji = _checked(emoji)
    _, row = lock_message(tx, caller, message_id, "read")
    kept = [
        {**each, "entityIds": [who for who in each["entityIds"] if each["emoji"] != emoji or who != caller.id]}
        for each in row.reactions or ()
    ]
    kept = [each for each in kept if each["entityIds"]]
    if kept == (row.reactions or []):
        return message_of(row._mapping)
    return _change_reactions(tx, row, kept)


def _checked(text: str) -> str:
    if len(text) > 32 or not _EMOJI.fullmatch(text):
        raise Invalid("not_an_emoji", "A reaction is exactly one emoji, such as 👍.", {"path": "emoji"})
    return text


def _change_reactions(tx: Tx, row: sa.Row[Any], kept: list[dict[str, Any]]) -> MessageJson:
    values = {"reactions": kept or None, "revision": row.revision + 1}
    tx.execute(messages.update().where(messages.c.id == row.id).values(**values))
    data = {
        "spaceId": row.space_id,
        "messageId": row.id,
        "seq": row.seq,
        "reactions": reactions_json(kept),
        "revision": values["revision"],
    }
    log.record_for_space(tx, row.space_id, "message.reactions", data)
    return message_of({**row._mapping, **values})
