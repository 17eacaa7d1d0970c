"""Stores messages: the message, its number, the sender's read position and the event, in one transaction.

The first statement takes the next number and with it the space's lock. The second moves the sender's read position and
so checks, under that lock, that the sender is still a member. A repeated `client_id` rolls back the transaction.
`inbox.deliver.post_message` also delivers the message to agents. The message of a tool changes once more, with its
result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis import clock
from majlis.entities.caller import SYSTEM, Caller
from majlis.errors import Conflict, Forbidden, Invalid
from majlis.live import log
from majlis.spaces.access import require, unknown_space
from majlis.spaces.acts_for import Bounds
from majlis.spaces.attachments import attach
from majlis.spaces.cause import Cause, begin_cause
from majlis.spaces.file_rights import files_for
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.members import find_member
from majlis.spaces.mentions import find_mentions
from majlis.spaces.shapes import FileJson, MessageJson, MessageKind, SpaceRole, StopperJson, ToolJson, message_of
from majlis.spaces.stale import Guard, crosses
from majlis.store import ids
from majlis.store.hot import among, hot
from majlis.store.tables import entities, members, messages, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx

MAX_BYTES = 64 * 1024
# PostgreSQL cannot store NUL, and lone surrogates are not characters. Other control characters are allowed; prompts and
# terminals escape them (X9).
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
MAX_MENTIONS = 50
_NOT_FOR_THIS_PERSON = (
    "Nothing was sent: you act on behalf of a person who may not write in this space. An admin of the space can add "
    'them, or an admin of the gateway can let you act for yourself (actsFor: "itself").'
)

_person = members.alias("person")
_next_number = (
    spaces.update()
    .where(spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None))
    .values(head_seq=spaces.c.head_seq + 1, event_seq=spaces.c.event_seq + 1, event_at=sa.bindparam("at"))
    .returning(
        spaces.c.id,
        spaces.c.head_seq,
        spaces.c.event_seq,
        spaces.c.triggers,
        spaces.c.orchestrator_id,
        spaces.c.gather_millis,
        spaces.c.paused_at,
        spaces.c.max_chain_depth,
        # Not "IS NOT NULL": in RETURNING, SQLite 3.40 says true of a column that is NULL.
        spaces.c.tool_policy.label("governed"),
        # Tells the inbox whether there are agents to wake, without a statement of its own.
        sa.exists()
        .where(
            members.c.space_id == sa.bindparam("space"),
            members.c.entity_id == entities.c.id,
            members.c.entity_id != sa.bindparam("sender"),
            entities.c.type == "agent",
        )
        .label("has_agents"),
        sa.exists()
        .where(
            _person.c.space_id == sa.bindparam("space"),
            _person.c.entity_id == sa.bindparam("person"),
            _person.c.role != word("viewer"),
        )
        .label("person_may_write"),
    )
)
_NEXT_NUMBER = hot(_next_number)
_as_sender = members.update().where(members.c.entity_id == sa.bindparam("sender")).returning(members.c.role)
_MOVE_SENDER = hot(_as_sender.where(members.c.space_id == sa.bindparam("space")).values(seen_seq=sa.bindparam("seq")))
# Both in one round trip on PostgreSQL, the space's row first.
_number = _next_number.cte("number")
_moved = _as_sender.where(members.c.space_id == _number.c.id).values(seen_seq=_number.c.head_seq).cte("moved")
_NUMBER_AND_MOVE = hot(sa.select(_number, sa.select(_moved.c.role).scalar_subquery().label("role")))
_CHAIN = sa.select(messages.c.sender_id, messages.c.chain_depth, messages.c.caused_by)
_IN_SPACE = messages.c.space_id == sa.bindparam("space")
_REPLIED_TO = _CHAIN.where(messages.c.id == sa.bindparam("message"))
_LATEST_TEXT = _CHAIN.where(_IN_SPACE, messages.c.kind == word("text")).order_by(messages.c.seq.desc()).limit(1)
_BY_CLIENT_ID = sa.select(messages.c.id).where(
    _IN_SPACE, messages.c.sender_id == sa.bindparam("sender"), messages.c.client_id == sa.bindparam("client")
)
_IN_THIS_SPACE = hot(sa.select(messages.c.kind).where(messages.c.id == sa.bindparam("message"), _IN_SPACE))
_MEMBERS = sa.select(members.c.entity_id).where(members.c.space_id == sa.bindparam("space"))
_ARE_MEMBERS = hot(_MEMBERS.where(among(members.c.entity_id, "entities")))
_INSERT: dict[Dialect, sa.Executable] = {
    "sqlite": hot(sqlite.insert(messages).on_conflict_do_nothing()),
    # Inline: its generated key is not returned, so it can be deferred.
    "postgresql": hot(postgresql.insert(messages).on_conflict_do_nothing().inline()),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A message before it has a number."""

    text: str
    client_id: str | None = None
    reply_to: str | None = None
    mentions: list[str] = field(default_factory=list)
    session_id: str | None = None
    kind: MessageKind = "text"
    tool: ToolJson | None = None
    origin: dict[str, Any] | None = None
    run_id: str | None = None
    chain_depth: int | None = None
    caused_by: str | None = None
    # A run's message has the run's cause. Any other begins a new one (O4).
    cause: Cause | None = None
    # A run may post only where this person may (G3).
    on_behalf_of: str | None = None
    stream_id: str | None = None
    # The sender pauses until the message is answered (M4).
    expects_reply: bool = False
    # The person who stopped the sender while it wrote this (L7).
    stopped_by: StopperJson | None = None
    # Ids of the files that it carries (L4).
    files: Sequence[str] = ()
    # A run posts only what is not stale (E8).
    guard: Guard | None = None
    # What bounds the run that attaches them (G3).
    bounds: Bounds | None = None
    # False while a run's message has not been checked against the policy of the space (G5).
    permitted: bool = True


@dataclass(frozen=True, slots=True)
class Posted:
    """A stored message, with what decides which agents it is delivered to."""

    message: MessageJson
    triggers: str
    orchestrator_id: str | None
    caused_by: str
    cause: Cause
    # Agents other than the sender are members of the space.
    has_agents: bool
    expects_reply: bool
    # The external session that the sender wants to continue (R7).
    session_id: str | None = None
    gather_millis: int = 0
    # Where chains end in this space, if not at the gateway's limit (E11).
    max_chain_depth: int | None = None
    # What kind of message it replies to.
    replies_to: MessageKind | None = None
    # The read that its caller asked for together with the number.
    asked: sa.CursorResult[Any] | None = None


Ask = Callable[[], sa.CursorResult[Any]]


class Repeated(Exception):
    """This sender has used this client id in this space before. The transaction must not commit."""


class PolicyUnread(Exception):
    """The space has a policy, and the message has not been checked against it. The transaction must not commit."""


def store_message(tx: Tx, sender: Caller, space_id: str, draft: Draft, ask: Ask | None = None) -> Posted:
    """`ask` is for what its caller reads next, under the space's lock. On PostgreSQL that costs no round trip."""
    text = _text_of(draft)
    space, role, asked = _take_number(tx, space_id, sender, draft, ask)
    if space is None or role is None:
        raise unknown_space(space_id)
    if space.paused_at is not None and sender.type == "agent":
        raise Conflict("paused", "Nothing was sent: agents are paused in this space. An admin can resume them.")
    if space.governed and not draft.permitted:
        raise PolicyUnread
    if draft.on_behalf_of is not None and not space.person_may_write:
        raise Forbidden("not_for_this_person", _NOT_FOR_THIS_PERSON)
    try:
        require(role, "write")
        replies_to = _check_references(tx, space_id, draft)
        carried = files_for(tx, sender, space_id, draft.files, draft.bounds) if draft.files else []
    except (Forbidden, Invalid):
        # The first request with this client id may have been allowed: return its message (M16).
        if draft.client_id is not None and is_stored(tx, sender, space_id, draft.client_id):
            raise Repeated from None
        raise
    guard = draft.guard
    crossed = guard is not None and guard.seen < space.head_seq - 1 and crosses(tx, space_id, guard)
    if "@" in text and draft.kind == "text":
        draft = replace(draft, mentions=[*draft.mentions, *find_mentions(tx, space_id, sender.type, text)])
    values = _values(sender, space_id, _in_chain(tx, sender, space_id, draft), text, space.head_seq)
    cause = draft.cause or begin_cause(tx, "message", sender.id, message_id=values["id"])
    values |= {"cause_id": cause.id, "person_id": cause.person_id, "files": carried or None, "crossed": crossed}
    if not tx.later(_INSERT[tx.dialect], values, checked=True):
        raise Repeated
    if carried:
        attach(tx, space_id, values["id"], carried)
    message = _announce(tx, sender, space_id, values, space.event_seq)
    return Posted(
        message,
        space.triggers,
        space.orchestrator_id,
        values["caused_by"],
        cause,
        space.has_agents,
        draft.expects_reply,
        draft.session_id,
        space.gather_millis,
        space.max_chain_depth,
        replies_to,
        asked,
    )


def _take_number(
    tx: Tx, space_id: str, sender: Caller, draft: Draft, ask: Ask | None
) -> tuple[sa.Row[Any] | None, SpaceRole | None, sa.CursorResult[Any] | None]:
    """The space's row with the message's number, the sender's role, and what was asked for. Both rows are locked from
    here on."""
    given = _numbered(tx, space_id, sender, draft.on_behalf_of)
    if tx.dialect == "postgresql":
        numbered = tx.ask(_NUMBER_AND_MOVE, given)
        asked = ask() if ask is not None else None
        both = numbered.one_or_none()
        return both, both.role if both is not None else None, asked
    space = tx.one(_NEXT_NUMBER, given)
    moved = tx.one(_MOVE_SENDER, {**given, "seq": space.head_seq}) if space is not None else None
    return space, moved.role if moved is not None else None, None


def post_notice(tx: Tx, space_id: str, text: str, reply_to: str | None = None, once: str | None = None) -> None:
    """Posts a message of the gateway itself, which wakes no agent. Does nothing in a deleted space, or if a notice with
    the same `once` was posted before; callers that give `once` hold the space's lock."""
    if once is not None and is_stored(tx, SYSTEM, space_id, once):
        return
    space = tx.one(_NEXT_NUMBER, _numbered(tx, space_id, SYSTEM))
    if space is None:
        return
    values = _values(SYSTEM, space_id, Draft(text, once, reply_to, kind="notice"), text, space.head_seq)
    tx.execute(messages.insert(), values)
    _announce(tx, SYSTEM, space_id, values, space.event_seq)


def _text_of(draft: Draft) -> str:
    """Only a message with files may be without text."""
    if draft.kind != "text" or (draft.files and not draft.text.strip()):
        return draft.text if draft.kind != "text" else ""
    return checked_text(draft.text)


def _numbered(tx: Tx, space_id: str, sender: Caller, person: str | None = None) -> dict[str, Any]:
    return {"space": space_id, "at": tx.now, "sender": sender.id, "person": person or ""}


def is_stored(tx: Tx, sender: Caller, space_id: str, client_id: str) -> bool:
    return tx.one(_BY_CLIENT_ID, {"space": space_id, "sender": sender.id, "client": client_id}) is not None


def _check_references(tx: Tx, space_id: str, draft: Draft) -> MessageKind | None:
    """Replies and mentions stay within the space, and do not reveal what exists elsewhere. Returns the kind of the
    message that is replied to."""
    replied_to = {"message": draft.reply_to, "space": space_id}
    found = tx.one(_IN_THIS_SPACE, replied_to) if draft.reply_to is not None else None
    if draft.reply_to is not None and found is None:
        raise Invalid("unknown_reply_to", "replyTo is not a message in this space.", {"path": "replyTo"})
    if draft.mentions:
        missing = set(draft.mentions) - _members_among(tx, space_id, sorted(set(draft.mentions)))
        if missing:
            problem = f"mentions contains {min(missing)}, who is not a member of this space."
            raise Invalid("unknown_mention", problem, {"path": "mentions"})
    return found.kind if found is not None else None


def _members_among(tx: Tx, space_id: str, entity_ids: list[str]) -> set[str]:
    return {row.entity_id for row in tx.all(_ARE_MEMBERS, {"space": space_id, "entities": entity_ids})}


def _values(sender: Caller, space_id: str, draft: Draft, text: str, seq: int) -> dict[str, Any]:
    message_id = ids.new("msg")
    return {
        "id": message_id,
        "space_id": space_id,
        "seq": seq,
        "sender_id": sender.id,
        "kind": draft.kind,
        "text": text,
        "tool": draft.tool,
        "reply_to": draft.reply_to,
        "mentions": list(dict.fromkeys(draft.mentions))[:MAX_MENTIONS] or None,
        "origin": draft.origin,
        "run_id": draft.run_id,
        "chain_depth": draft.chain_depth or 0,
        "caused_by": draft.caused_by or message_id,
        "client_id": draft.client_id,
        "stream_id": draft.stream_id,
        "session_id": draft.session_id,
        "stopped_by": draft.stopped_by,
        "files": None,
        # Read under the lock, so that times ascend with the numbers.
        "created_at": clock.now(),
    }


def _in_chain(tx: Tx, sender: Caller, space_id: str, draft: Draft) -> Draft:
    """Only a person resets a chain's depth (T6). A run sets its own depth. Other messages of an agent, sent with its
    token, answer the message they reply to or else the latest one; otherwise a program that answers our agents over
    HTTP could talk with them forever. A service starts a new chain unless it replies."""
    if draft.chain_depth is not None or sender.type == "human":
        return draft
    if draft.reply_to is None and sender.type != "agent":
        return draft
    before = (
        tx.one(_REPLIED_TO, {"message": draft.reply_to})
        if draft.reply_to
        else tx.one(_LATEST_TEXT, {"space": space_id})
    )
    if before is None:
        return replace(draft, chain_depth=1)
    # A message after one's own does not deepen the chain.
    depth = before.chain_depth + (before.sender_id != sender.id)
    return replace(draft, chain_depth=max(depth, 1), caused_by=before.caused_by)


def _announce(tx: Tx, sender: Caller, space_id: str, values: dict[str, Any], event_seq: int) -> MessageJson:
    message = message_of({**values, "sender_name": sender.name, "sender_type": sender.type})
    data: dict[str, Any] = {"spaceId": space_id, "message": message}
    if values["stream_id"] is not None:
        data["streamId"] = values["stream_id"]
    log.append(tx, space_id, event_seq, "space.message", data)
    return message


def finish_tool_message(
    tx: Tx,
    space_id: str,
    sender_id: str,
    client_id: str,
    output: Any,
    status: Literal["complete", "error"],
    files: Sequence[FileJson] = (),
) -> None:
    """Adds the result to a tool's message, if there is one. A sender that has left the space shows no output there
    (A7)."""
    marked = messages.c.space_id == space_id, messages.c.sender_id == sender_id, messages.c.client_id == client_id
    found = tx.one(SELECT_MESSAGES.where(*marked))
    if found is None:
        return
    if find_member(tx, space_id, sender_id) is None:
        output, status, files = None, "error", ()
    _change_tool(tx, found, {"output": output, "status": status}, files)


def change_tool_message(
    tx: Tx, space_id: str, message_id: str, changes: dict[str, Any], files: Sequence[FileJson] = ()
) -> MessageJson | None:
    found = tx.one(SELECT_MESSAGES.where(messages.c.space_id == space_id, messages.c.id == message_id))
    return _change_tool(tx, found, changes, files) if found is not None else None


def _change_tool(tx: Tx, found: sa.Row[Any], changes: dict[str, Any], files: Sequence[FileJson] = ()) -> MessageJson:
    if files:
        attach(tx, found.space_id, found.id, files)
    tool = {**found.tool, **changes}
    changed = {"tool": tool, "revision": found.revision + 1, **({"files": list(files)} if files else {})}
    tx.execute(messages.update().where(messages.c.id == found.id).values(**changed))
    message = message_of({**found._mapping, **changed})
    data = {"spaceId": found.space_id, "message": message}
    # Not `record_for_space`: the space may have been deleted.
    log.record_together(tx, [(found.space_id, "space.message", data)])
    return message


def checked_text(text: str, path: str = "text", max_bytes: int = MAX_BYTES) -> str:
    refuse_controls(text, path)
    if not text.strip():
        raise Invalid("empty_text", f"{path} must not be empty.", {"path": path})
    size = len(text.encode())
    if size > max_bytes:
        raise Invalid("text_too_long", f"{path} is too long: {size} bytes; the limit is {max_bytes}.", {"path": path})
    return text


def refuse_controls(text: str, path: str) -> str:
    found = _UNSTORABLE.search(text)
    if found:
        raise Invalid(
            "control_characters",
            f"{path} contains U+{ord(found[0]):04X} at position {found.start()}, which cannot be stored. Remove it.",
            {"path": path},
        )
    return text
