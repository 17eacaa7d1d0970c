"""Posting: message, its number, the sender's own read position, the event, and what hangs on it, in one transaction.

The first statement takes the next number and with it the space's lock; the second moves the sender's position and so
finds out, under that lock, whether the sender is still a member. A `client_id` seen before undoes the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis import clock
from majlis.entities.caller import Caller, EntityType
from majlis.entities.voice import VOICE
from majlis.errors import Forbidden, Invalid
from majlis.live import log
from majlis.spaces.access import require, unknown_space
from majlis.spaces.history import find_by_client_id
from majlis.spaces.shapes import MessageJson, MessageKind, ToolJson, message_of
from majlis.spaces.text import checked_text
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import entities, members, messages, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, P, T, Tx

MAX_MENTIONS = 50

_NUMBER = hot(
    spaces.update()
    .where(spaces.c.id == sa.bindparam("space"), spaces.c.deleted_at.is_(None))
    .values(head_seq=spaces.c.head_seq + 1, event_seq=spaces.c.event_seq + 1, event_at=sa.bindparam("at"))
    .returning(
        spaces.c.head_seq,
        spaces.c.event_seq,
        spaces.c.triggers,
        spaces.c.orchestrator_id,
        # Whether anybody here might have to be woken, at the price of no statement of its own.
        sa.exists()
        .where(
            members.c.space_id == sa.bindparam("space"),
            members.c.entity_id == entities.c.id,
            members.c.entity_id != sa.bindparam("sender"),
            entities.c.type == "agent",
        )
        .label("has_agents"),
    )
)
_MOVE_SENDER = hot(
    members.update()
    .where(members.c.space_id == sa.bindparam("space"), members.c.entity_id == sa.bindparam("sender"))
    .values(seen_seq=sa.bindparam("seq"))
    .returning(members.c.role)
)
# What a program that speaks with a token, and not out of a run of ours, is taken to answer (T6).
_CHAIN = sa.select(messages.c.sender_id, messages.c.chain_depth, messages.c.root_cause)
_ANSWERED = _CHAIN.where(messages.c.id == sa.bindparam("message"))
_SAID_LAST = (
    _CHAIN.where(messages.c.space_id == sa.bindparam("space"), messages.c.kind == word("text"))
    .order_by(messages.c.seq.desc())
    .limit(1)
)
_SAID_ONCE = sa.select(messages.c.id).where(
    messages.c.space_id == sa.bindparam("space"),
    messages.c.sender_id == sa.bindparam("sender"),
    messages.c.client_id == sa.bindparam("client"),
)
_IN_THIS_SPACE = hot(
    sa.select(messages.c.id).where(
        messages.c.id == sa.bindparam("message"), messages.c.space_id == sa.bindparam("space")
    )
)
_MEMBERS = sa.select(members.c.entity_id).where(members.c.space_id == sa.bindparam("space"))
_IS_MEMBER = hot(_MEMBERS.where(members.c.entity_id == sa.bindparam("entity")))
_ARE_MEMBERS = _MEMBERS.where(members.c.entity_id.in_(sa.bindparam("entities", expanding=True)))
_INSERT: dict[Dialect, sa.Executable] = {
    "sqlite": hot(sqlite.insert(messages).on_conflict_do_nothing().returning(messages.c.n)),
    "postgresql": hot(postgresql.insert(messages).on_conflict_do_nothing().returning(messages.c.n)),
}


class Sender(Protocol):
    """Whose words these are: always the entity of the token or of the run, never a field of a request."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> EntityType: ...


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
    root_cause: str | None = None
    stream_id: str | None = None
    # The sender pauses until somebody answers (M4).
    expects_reply: bool = False


@dataclass(frozen=True, slots=True)
class Posted:
    """A stored message and what its space says about who hears of it."""

    message: MessageJson
    triggers: str
    orchestrator_id: str | None
    root_cause: str
    # Agents other than the sender are members of the space.
    has_agents: bool
    expects_reply: bool
    # An external session that the sender wants to go on with (R7).
    session_id: str | None = None


class Repeated(Exception):
    """This sender has used this client id in this space before. The transaction must not commit."""


class Hands(Protocol):
    """Somebody on whose behalf work is run in a transaction."""

    async def write_brief(
        self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T: ...

    async def read(self, work: Callable[Concatenate[Tx, Caller, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


async def post(hands: Hands, space_id: str, draft: Draft) -> tuple[MessageJson, bool]:
    """The stored message, and whether it is new. A repeated client id finds the first one, for ever (M16)."""
    try:
        return await hands.write_brief(post_message, space_id, draft), True
    except Repeated:
        assert draft.client_id is not None
        return await hands.read(find_by_client_id, space_id, draft.client_id), False


def post_message(tx: Tx, sender: Sender, space_id: str, draft: Draft) -> MessageJson:
    text = checked_text(draft.text) if draft.kind == "text" else draft.text
    space = tx.one(_NUMBER, {"space": space_id, "at": tx.now, "sender": sender.id})
    if space is None:
        raise unknown_space(space_id)
    role = tx.execute(
        _MOVE_SENDER, {"space": space_id, "sender": sender.id, "seq": space.head_seq}
    ).scalar_one_or_none()
    if role is None:
        raise unknown_space(space_id)
    try:
        require(role, "write")
        _check_references(tx, space_id, draft)
    except (Forbidden, Invalid):
        _find_repeated(tx, sender, space_id, draft)
        raise
    values = _values(sender, space_id, _in_chain(tx, sender, space_id, draft), text, space.head_seq)
    if tx.execute(_INSERT[tx.dialect], values).scalar_one_or_none() is None:
        raise Repeated
    message = message_of({**values, "sender_name": sender.name, "sender_type": sender.type})
    log.append(tx, space_id, space.event_seq, "space.message", _event_data(space_id, message, draft.stream_id))
    posted = Posted(
        message,
        space.triggers,
        space.orchestrator_id,
        values["root_cause"],
        space.has_agents,
        draft.expects_reply,
        draft.session_id,
    )
    for hook in tx.hooks.posted:
        hook(tx, posted)
    return message


def post_notice(tx: Tx, space_id: str, text: str, reply_to: str | None = None, once: str | None = None) -> None:
    """The gateway itself speaks: to everybody in the space, waking nobody. A space that is gone hears nothing. What is
    said `once` for some reason is not said again for the same; asked under the space's lock, by whoever holds it."""
    if once is not None and tx.one(_SAID_ONCE, {"space": space_id, "sender": VOICE.id, "client": once}) is not None:
        return
    space = tx.one(_NUMBER, {"space": space_id, "at": tx.now, "sender": VOICE.id})
    if space is None:
        return
    values = _values(VOICE, space_id, Draft(text, once, reply_to, kind="notice"), text, space.head_seq)
    tx.execute(messages.insert(), values)
    message = message_of({**values, "sender_name": VOICE.name, "sender_type": VOICE.type})
    log.append(tx, space_id, space.event_seq, "space.message", _event_data(space_id, message, None))


def _find_repeated(tx: Tx, sender: Sender, space_id: str, draft: Draft) -> None:
    """What would be refused today may have been stored when it was first sent (M16)."""
    which = {"space": space_id, "sender": sender.id, "client": draft.client_id}
    if draft.client_id is not None and tx.one(_SAID_ONCE, which) is not None:
        raise Repeated from None


def _check_references(tx: Tx, space_id: str, draft: Draft) -> None:
    """A reply and a mention stay within the space; what exists elsewhere is as unknown as what does not exist."""
    answered = {"message": draft.reply_to, "space": space_id}
    if draft.reply_to is not None and tx.one(_IN_THIS_SPACE, answered) is None:
        raise Invalid("unknown_reply_to", "replyTo names no message of this space.", {"path": "replyTo"})
    if draft.mentions:
        missing = set(draft.mentions) - _members_among(tx, space_id, sorted(set(draft.mentions)))
        if missing:
            raise Invalid(
                "unknown_mention",
                f"mentions names {min(missing)}, which is no member of this space.",
                {"path": "mentions"},
            )


def _members_among(tx: Tx, space_id: str, asked: list[str]) -> set[str]:
    """One is called more often than several, and a list among the parameters costs more than the statement."""
    if len(asked) == 1:
        found = tx.all(_IS_MEMBER, {"space": space_id, "entity": asked[0]})
    else:
        found = tx.all(_ARE_MEMBERS, {"space": space_id, "entities": asked})
    return {row.entity_id for row in found}


def _values(sender: Sender, space_id: str, draft: Draft, text: str, seq: int) -> dict[str, Any]:
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
        "mentions": list(dict.fromkeys(draft.mentions)) or None,
        "origin": draft.origin,
        "run_id": draft.run_id,
        "chain_depth": draft.chain_depth or 0,
        "root_cause": draft.root_cause or message_id,
        "client_id": draft.client_id,
        "stream_id": draft.stream_id,
        "session_id": draft.session_id,
        # Read under the lock, so that times ascend with the numbers.
        "created_at": clock.now(),
    }


def _in_chain(tx: Tx, sender: Sender, space_id: str, draft: Draft) -> Draft:
    """Depth survives every hop, and a chain is reset by nobody but a person (T6). A run knows its depth. Whoever else
    speaks with an agent's token answers the message it names, or else what was said last: a program that answers our
    agents over HTTP would otherwise talk with them for ever. A service brings news, unless it replies."""
    if draft.chain_depth is not None or sender.type == "human":
        return draft
    if draft.reply_to is None and sender.type != "agent":
        return draft
    heard = (
        tx.one(_ANSWERED, {"message": draft.reply_to}) if draft.reply_to else tx.one(_SAID_LAST, {"space": space_id})
    )
    if heard is None:
        return replace(draft, chain_depth=1)
    # Going on after one's own words is no hop.
    depth = heard.chain_depth + (heard.sender_id != sender.id)
    return replace(draft, chain_depth=max(depth, 1), root_cause=heard.root_cause)


def _event_data(space_id: str, message: MessageJson, stream_id: str | None) -> dict[str, Any]:
    data: dict[str, Any] = {"spaceId": space_id, "message": message}
    return data if stream_id is None else {**data, "streamId": stream_id}
