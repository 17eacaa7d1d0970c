"""Posts the last user message of a request, once, in the space of its conversation (D3).

One transaction finds or makes the conversation and its space, recognises a retry, and posts. The conversation's row is
locked first, so that two requests of one conversation come one after the other, on all nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.conversations.models import Model, find_model
from majlis.entities.caller import Caller
from majlis.errors import Forbidden, Invalid
from majlis.inbox.deliver import post_message
from majlis.spaces.addable import require_addable
from majlis.spaces.members import join
from majlis.spaces.post import Draft
from majlis.spaces.spaces import add_space
from majlis.store import ids
from majlis.store.tables import conversations, members, messages, runs, spaces
from majlis.store.tables.columns import word
from majlis.store.transactions import Tx

MAX_CONVERSATIONS = 10_000
_LONGEST_NAME = 64

_MESSAGE = sa.select(
    messages.c.id,
    messages.c.seq,
    messages.c.cause_id,
    messages.c.created_at,
    messages.c.text,
    sa.or_(messages.c.edited_at.is_not(None), messages.c.deleted_at.is_not(None)).label("changed"),
)
_QUESTION = (
    sa.select(runs.c.wait_message_id)
    .where(
        runs.c.wait_space_id == sa.bindparam("space"),
        runs.c.agent_id == sa.bindparam("agent"),
        runs.c.status == word("waiting_reply"),
    )
    .order_by(runs.c.id.desc())
    .limit(1)
)


@dataclass(frozen=True, slots=True)
class Ask:
    """The text of a request, and where it belongs."""

    model: str
    text: str
    # The client's name for the conversation.
    conversation: str
    # Which of the request's user messages it is.
    position: int = 1
    # The request has no earlier messages: it is the first of its conversation, or the client sends only what is new.
    alone: bool = True
    # The client's own id for the request.
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A posted message, and who is to answer it."""

    model: Model
    asker_id: str
    space_id: str
    message_id: str
    seq: int
    cause_id: str | None
    created_at: int


def post_once(tx: Tx, caller: Caller, ask: Ask) -> Turn:
    # The answer is read with the same token.
    caller.require_scope("read")
    model = find_model(tx, caller, ask.model)
    talk = _conversation(tx, caller, model, ask.conversation)
    space_id = model.id if model.kind == "space" else _own_space(tx, caller, model, talk)
    said = _digest(f"{ask.position}\n{ask.text}")
    client_id = f"v1:{talk.id}:{_place(ask, talk, said)}"
    repeated = ask.alone and ask.key is None and talk.last_digest == said and talk.space_id == space_id
    known = messages.c.id == talk.last_message_id if repeated else messages.c.client_id == client_id
    mine = messages.c.space_id == space_id, messages.c.sender_id == caller.id, known
    found = tx.one(_MESSAGE.where(*mine))
    if found is None:
        question = tx.one(_QUESTION, {"space": space_id, "agent": model.id}) if model.kind == "agent" else None
        reply_to = question.wait_message_id if question is not None else None
        message = post_message(tx, caller, space_id, Draft(ask.text, client_id, reply_to))
        newest = {"space_id": space_id, "turns": talk.turns + 1, "last_digest": said, "last_message_id": message["id"]}
        tx.execute(conversations.update().where(conversations.c.id == talk.id).values(newest))
        found = tx.execute(_MESSAGE.where(messages.c.id == message["id"])).one()
    elif ask.key is not None and found.text != ask.text and not found.changed:
        problem = "This Idempotency-Key was used for another message. Use a new key."
        raise Invalid("idempotency_key_used", problem, {"path": "Idempotency-Key"})
    return Turn(model, caller.id, space_id, found.id, found.seq, found.cause_id, found.created_at)


def _conversation(tx: Tx, caller: Caller, model: Model, name: str) -> sa.Row[Any]:
    digest = _digest(name)
    values = {
        "id": ids.new("cnv"),
        "entity_id": caller.id,
        "target_id": model.id,
        "name_digest": digest,
        "created_at": tx.now,
    }
    insert: Any = (sqlite if tx.dialect == "sqlite" else postgresql).insert(conversations)
    if tx.execute(insert.on_conflict_do_nothing(), values).rowcount:
        _check_count(tx, caller)
    this = conversations.c.entity_id == caller.id, conversations.c.target_id == model.id
    found = sa.select(conversations).where(*this, conversations.c.name_digest == digest)
    return tx.execute(found.with_for_update()).one()


def _check_count(tx: Tx, caller: Caller) -> None:
    if caller.administers:
        return
    mine = sa.select(conversations.c.id).where(conversations.c.entity_id == caller.id).limit(MAX_CONVERSATIONS + 1)
    count = tx.execute(sa.select(sa.func.count()).select_from(mine.subquery())).scalar_one()
    if count > MAX_CONVERSATIONS:
        problem = f"You have {MAX_CONVERSATIONS} conversations, which is the limit. Continue one of them."
        raise Forbidden("too_many_conversations", problem)


def _own_space(tx: Tx, caller: Caller, agent: Model, talk: sa.Row[Any]) -> str:
    """The conversation's space, or a new one if it was deleted or one of the two has left it."""
    if talk.space_id is not None:
        both = (
            sa.select(members.c.entity_id)
            .join(spaces, spaces.c.id == members.c.space_id)
            .where(members.c.space_id == talk.space_id, spaces.c.deleted_at.is_(None))
            .where(members.c.entity_id.in_((caller.id, agent.id)))
        )
        if len(tx.all(both)) == 2:
            return str(talk.space_id)
    space_id = add_space(tx, caller, f"Chat with {agent.name}"[:_LONGEST_NAME].strip())
    require_addable(tx, caller, space_id, agent.id)
    join(tx, space_id, agent.id, "member")
    return space_id


def _place(ask: Ask, talk: sa.Row[Any], said: str) -> str:
    """Where the message belongs in the conversation. The same place is used once, by a unique key."""
    if ask.key is not None:
        return f"k:{_digest(ask.key)}"
    return f"n:{talk.turns}" if ask.alone else f"p:{said}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=24).hexdigest()
