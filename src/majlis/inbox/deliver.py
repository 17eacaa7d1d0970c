"""Delivers a new message to agents, in the transaction that stores it.

The order is fixed: store, resume the runs it answers, trigger the other agents, and last pause the sender (M3). One
message wakes an agent once: an agent whose run it resumes is not triggered as well (M7).

A delivery is one row per agent and event. Offering the same event again changes nothing (T7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.caller import Caller
from majlis.inbox.external_sessions import bind_offered
from majlis.inbox.mentions import addressed
from majlis.inbox.trigger import TriggerType
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.post import Draft, Posted, post_notice, store_message
from majlis.spaces.shapes import MessageJson
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import deliveries, entities, members, messages, runs, turns
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx
from majlis.waits.wait import resume_answered

_AGENTS = hot(
    sa.select(
        members.c.entity_id.label("agent_id"),
        entities.c.name,
        runs.c.id.label("run_id"),
        runs.c.wait,
        runs.c.wait_message_id,
        runs.c.chain_depth,
    )
    .join(entities, entities.c.id == members.c.entity_id)
    .outerjoin(
        runs,
        sa.and_(
            runs.c.wait_space_id == members.c.space_id,
            runs.c.agent_id == members.c.entity_id,
            runs.c.status == word("waiting_reply"),
        ),
    )
    .where(
        members.c.space_id == sa.bindparam("space"),
        members.c.entity_id != sa.bindparam("sender"),
        entities.c.type == "agent",
    )
    .order_by(members.c.entity_id)
)
_INSERT: dict[Dialect, Any] = {
    "sqlite": hot(sqlite.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
    "postgresql": hot(postgresql.insert(deliveries).on_conflict_do_nothing(index_elements=["agent_id", "event_id"])),
}
_IN_TURN = (
    sa.select(turns.c.id)
    .join(deliveries, deliveries.c.event_id == turns.c.id)
    .where(deliveries.c.run_id == sa.bindparam("run"), turns.c.space_id == sa.bindparam("space"))
    .limit(1)
)
_MAX_CALL_ID = 128
_CAUSE = sa.select(messages.c.root_cause).where(messages.c.id == sa.bindparam("message"))


def post_message(tx: Tx, sender: Caller, space_id: str, draft: Draft) -> MessageJson:
    """Stores a text message and delivers it, in one transaction."""
    posted = store_message(tx, sender, space_id, draft)
    if posted.has_agents:
        _deliver(tx, posted, tx.hooks.max_chain_depth)
    elif posted.session_id is not None:
        bind_offered(tx, posted, ())
    return posted.message


def _deliver(tx: Tx, posted: Posted, max_chain_depth: int) -> None:
    message = posted.message
    agents = tx.all(_AGENTS, {"space": message["spaceId"], "sender": message["sender"]["id"]})
    heard = _who_hears(tx, posted, agents)
    if posted.session_id is not None:
        bind_offered(tx, posted, heard)
    if message["chainDepth"] >= max_chain_depth:
        if heard or any(agent.run_id for agent in agents):
            _post_depth_notice(tx, posted, max_chain_depth)
        return
    waiting = [agent for agent in agents if agent.run_id is not None]
    resumed = resume_answered(tx, message, waiting) if waiting else {}
    rows = [_delivery(tx, posted, agent, resumed.get(agent)) for agent in sorted({*heard, *resumed})]
    insert_deliveries(tx, rows, bool(resumed))


def _who_hears(tx: Tx, posted: Posted, agents: Sequence[sa.Row[Any]]) -> set[str]:
    """The agents that the message triggers (T10). In an orchestrated space an unaddressed message goes to its
    orchestrator (R8)."""
    everyone = {agent.agent_id for agent in agents}
    if posted.triggers == "everyone":
        return everyone
    called = everyone & {*posted.message["mentions"], *addressed(posted.message["text"], agents)}
    if posted.triggers == "orchestrated" and not called:
        run_id = posted.message["runId"]
        in_turn = run_id is not None and _speaks_in_turn(tx, run_id, posted.message["spaceId"])
        return set() if in_turn else everyone & {posted.orchestrator_id or ""}
    return called


def _delivery(tx: Tx, posted: Posted, agent_id: str, run_id: str | None) -> dict[str, Any]:
    message = posted.message
    return new_delivery(
        tx,
        agent_id,
        "space_message",
        message["id"],
        {"senderExpectsReply": posted.expects_reply},
        message["chainDepth"],
        space_id=message["spaceId"],
        message_id=message["id"],
        run_id=run_id,
    )


def deliver_tool_result(
    tx: Tx, agent_id: str, run_id: str, call_id: str, tool_name: str, result: object, chain_depth: int = 0
) -> bool:
    """A tool's result that arrives after its cycle has gone on (J5). The event's id contains the run, since a model may
    reuse call ids. `chain_depth` is the run's: a tool result resets no chain (T6)."""
    call_id = call_id[:_MAX_CALL_ID]
    payload = {"toolName": tool_name, "toolCallId": call_id, "result": result}
    event_id = f"tool:{run_id}:{call_id}"
    return insert_delivery(tx, new_delivery(tx, agent_id, "tool_result", event_id, payload, chain_depth))


def _post_depth_notice(tx: Tx, posted: Posted, max_chain_depth: int) -> None:
    """Once per chain, however many agents speak at the limit."""
    name = posted.message["sender"]["name"]
    post_notice(
        tx,
        posted.message["spaceId"],
        f"Agents have replied to each other {max_chain_depth} times in a row, so {name}'s message was not delivered to "
        "any agent. A message from a person resets this.",
        posted.message["id"],
        once=f"depth:{_root(tx, posted, max_chain_depth)}",
    )


def _root(tx: Tx, posted: Posted, max_chain_depth: int) -> str:
    """The message that started the chain. Each message stores the one that caused it."""
    cause = posted.root_cause
    for _ in range(max_chain_depth + 1):
        earlier = tx.execute(_CAUSE, {"message": cause}).scalar_one_or_none()
        if earlier is None or earlier == cause:
            break
        cause = earlier
    return cause


def _speaks_in_turn(tx: Tx, run_id: str, space_id: str) -> bool:
    """Messages within a turn are part of its result: the orchestrator is triggered when the turn is finished."""
    return tx.one(_IN_TURN, {"run": run_id, "space": space_id}) is not None


def new_delivery(
    tx: Tx,
    agent_id: str,
    type: TriggerType,
    event_id: str,
    payload: Any,
    chain_depth: int = 0,
    *,
    space_id: str | None = None,
    message_id: str | None = None,
    run_id: str | None = None,
) -> dict[str, Any]:
    """A row to insert. `run_id` is the run that takes it at once."""
    return {
        "id": ids.new("dlv"),
        "agent_id": agent_id,
        "event_id": event_id,
        "type": type,
        "space_id": space_id,
        "message_id": message_id,
        "payload": payload,
        "chain_depth": chain_depth,
        "state": "taken" if run_id else "pending",
        "run_id": run_id,
        "created_at": tx.now,
    }


def insert_deliveries(tx: Tx, rows: Sequence[dict[str, Any]], resumed: bool = False) -> None:
    if rows:
        tx.execute(_INSERT[tx.dialect], rows)
        tx.outbox.append(WorkAvailable(payload=QUEUED) if resumed else WorkAvailable())


def insert_delivery(tx: Tx, row: dict[str, Any]) -> bool:
    """False if the agent has this event already."""
    if tx.execute(_INSERT[tx.dialect], row).rowcount == 0:
        return False
    tx.outbox.append(WorkAvailable())
    return True


def turn_of_event(event_id: str) -> str | None:
    """The turn that a delivery is part of; the delivery that reports a finished turn is not."""
    return event_id if event_id.startswith("trn_") and "." not in event_id else None
