"""Text that an agent wrote but did not send (E10). The model gets one more request that says so. After that the asker,
and only the asker, can read the text and post it as the agent's message."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict, Forbidden
from majlis.inbox.deliver import post_message
from majlis.live import log
from majlis.runs.run import Run
from majlis.runs.view.queries import access_run, shown_run
from majlis.runs.view.shapes import RunJson
from majlis.spaces.access import lock_space
from majlis.spaces.cause import Cause
from majlis.spaces.history import SELECT_MESSAGES
from majlis.spaces.post import Draft
from majlis.spaces.shapes import MessageJson, message_json
from majlis.store.hot import hot
from majlis.store.tables import entities, members, messages, steps
from majlis.store.transactions import Tx

NUDGE = (
    "Your text is not shown to anyone, and you have not sent a message. If the text was meant as your answer, send it "
    "now with send_message. If you want to stay silent, end this run with an empty response."
)
# Calls that may show an agent another space. Without a space id, the last three do.
_LOOKS = ("enter_space", "read_messages", "search_messages", "explain_message", "read_file")

_MENTIONS = hot(sa.select(messages.c.mentions).where(messages.c.id == sa.bindparam("message")))
_OTHER_AGENT = hot(
    sa.select(members.c.entity_id)
    .join(entities, entities.c.id == members.c.entity_id)
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id != sa.bindparam("agent"),
        entities.c.type == "agent",
    )
    .limit(1)
)
_INPUTS = sa.select(steps.c.name, steps.c.input).where(
    steps.c.run_id == sa.bindparam("run"), steps.c.kind == "tool", steps.c.name.in_(_LOOKS)
)
_TEXT = sa.select(steps.c.output).where(steps.c.run_id == sa.bindparam("run"), steps.c.n == sa.bindparam("step"))


def is_expected_to_answer(tx: Tx, run: Run) -> bool:
    """True if the agent was mentioned, or is the only agent there, as in a direct conversation."""
    space_id, message_id = run.trigger_space_id, run.trigger.get("messageId")
    if space_id is None or message_id is None:
        return False
    mentioned = tx.execute(_MENTIONS, {"message": message_id}).scalar_one_or_none() or ()
    return run.agent_id in mentioned or tx.one(_OTHER_AGENT, {"space": space_id, "agent": run.agent_id}) is None


def may_offer(tx: Tx, run: Run) -> bool:
    """True if a person asked, and the text cannot reveal another space to that person."""
    if run.cycle or run.trigger.get("senderType") != "human" or set(run.shown) - {run.trigger_space_id}:
        return False
    looked = tx.all(_INPUTS, {"run": run.id})
    by_default = dict.fromkeys(_LOOKS[:2], run.trigger_space_id)
    return all(((row.input or {}).get("spaceId") or by_default.get(row.name)) == run.trigger_space_id for row in looked)


def tell_asker(tx: Tx, run: Run) -> None:
    """Sends an event to the person who asked, without the text."""
    trigger = run.trigger
    about = {"runId": run.id, "agentId": run.agent_id, "agentName": run.agent_name}
    place = {"spaceId": run.trigger_space_id, "messageId": trigger.get("messageId")}
    log.record_for_entity(tx, trigger["senderId"], "run.unsent", {**about, **place})


def get_run_with_unsent(tx: Tx, caller: Caller, run_id: str) -> RunJson:
    """Only the person who asked may read the text."""
    run = access_run(tx, caller, run_id)
    shown = shown_run(caller, run)
    if run.unsent_step is not None and caller.id == run.trigger.get("senderId"):
        posted = tx.one(_posted(run))
        shown["unsent"] = {"text": _text(tx, run), "messageId": posted.id if posted else None}
    return shown


def post_unsent(tx: Tx, caller: Caller, run_id: str) -> MessageJson:
    """Posts the text as the agent's message, once: a second call returns the same message."""
    run = access_run(tx, caller, run_id)
    if caller.id != run.trigger.get("senderId"):
        raise Forbidden("not_the_asker", "Only the person who asked can post what the agent did not send.")
    if run.unsent_step is None:
        raise Conflict("nothing_unsent", "This run has no answer that was not sent.")
    lock_space(tx, caller, run.trigger_space_id, "write")
    posted = tx.one(_posted(run))
    if posted is not None:
        return message_json(posted)
    agent = Caller(run.agent_id, run.agent_name, "agent", "member", run.id)
    draft = Draft(
        _text(tx, run),
        client_id=_client_id(run.id),
        reply_to=run.trigger["messageId"],
        run_id=run.id,
        chain_depth=run.chain_depth + 1,
        caused_by=run.trigger["messageId"],
        cause=Cause(run.cause_id, run.person_id),
    )
    return post_message(tx, agent, run.trigger_space_id, draft)


def _text(tx: Tx, run: sa.Row[Any]) -> str:
    output = tx.execute(_TEXT, {"run": run.id, "step": run.unsent_step}).scalar_one()
    return str(output["text"])


def _posted(run: sa.Row[Any]) -> sa.Select[Any]:
    return SELECT_MESSAGES.where(
        messages.c.space_id == run.trigger_space_id,
        messages.c.sender_id == run.agent_id,
        messages.c.client_id == _client_id(run.id),
    )


def _client_id(run_id: str) -> str:
    return f"{run_id}:unsent"
