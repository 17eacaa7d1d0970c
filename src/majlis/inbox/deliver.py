"""Delivers a new message to agents, in the transaction that stores it.

The order is fixed: store, resume the runs it answers, trigger the other agents, and last pause the sender (M3). One
message wakes an agent once: an agent whose run it resumes is not triggered as well (M7).

A delivery is one row per agent and event. Offering the same event again changes nothing (T7).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from majlis.entities.caller import Caller
from majlis.inbox.elect import elect
from majlis.inbox.external_sessions import bind_offered
from majlis.inbox.gather import gather_columns
from majlis.inbox.standby import BEGIN_MILLIS
from majlis.inbox.trigger_shapes import TriggerType
from majlis.inbox.wake import QUEUED, WorkAvailable
from majlis.spaces.cause import UNKNOWN, Cause
from majlis.spaces.post import Draft, Posted, post_notice, store_message
from majlis.spaces.shapes import MessageJson
from majlis.store import ids
from majlis.store.hot import hot
from majlis.store.tables import deliveries, entities, members, messages, runs, turns
from majlis.store.tables.columns import word
from majlis.store.transactions import Dialect, Tx
from majlis.waits.collect import Taken, answer_waits

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
# In a list of names for a model.
MAX_NAMES = 20
_CAUSE_OF_RUN = sa.select(runs.c.cause_id, runs.c.person_id).where(runs.c.id == sa.bindparam("run"))
_CAUSED_BY = sa.select(messages.c.caused_by).where(messages.c.id == sa.bindparam("message"))


@dataclass(frozen=True, slots=True)
class Reach:
    """Which agents of the space a message wakes, for its sender (E9)."""

    wakes: Sequence[str] = ()
    # Names with the reason.
    not_woken: Sequence[tuple[str, str]] = ()
    # How many more times agents may reply to each other after this message.
    hops_left: int = 0

    def result(self) -> dict[str, Any]:
        """For a tool's result: a bounded number of names, then a count."""
        result: dict[str, Any] = {
            "wakes": list(self.wakes[:MAX_NAMES]),
            "notWoken": [{"name": name, "why": why} for name, why in self.not_woken[:MAX_NAMES]],
            "hopsLeft": self.hops_left,
        }
        if self.not_woken and not self.hops_left:
            result["note"] = (
                "This message woke no agent: the chain of agents' replies has reached its limit here. A message from a "
                "person starts a new chain."
            )
        more = {"moreWoken": len(self.wakes) - MAX_NAMES, "moreNotWoken": len(self.not_woken) - MAX_NAMES}
        return result | {name: count for name, count in more.items() if count > 0}


def post_message(tx: Tx, sender: Caller, space_id: str, draft: Draft) -> MessageJson:
    """Stores a text message and delivers it, in one transaction."""
    return post_and_reach(tx, sender, space_id, draft)[0]


def post_and_reach(tx: Tx, sender: Caller, space_id: str, draft: Draft) -> tuple[MessageJson, Reach]:
    def ask() -> sa.CursorResult[Any]:
        return tx.ask(_AGENTS, {"space": space_id, "sender": sender.id})

    posted = store_message(tx, sender, space_id, draft, ask)
    if posted.replies_to == "tool":
        for hook in tx.hooks.replied:
            hook(tx, sender, posted.message)
        # They may have ended waits.
        posted = replace(posted, asked=None)
    limit = tx.hooks.depth_limit(posted.max_chain_depth)
    hops_left = max(0, limit - posted.message["chainDepth"])
    if not posted.has_agents:
        if posted.session_id is not None:
            bind_offered(tx, posted, ())
        return posted.message, Reach(hops_left=hops_left)
    agents, woken = _deliver(tx, posted, limit)
    names = {agent.agent_id: agent.name for agent in agents}
    why = "not mentioned" if hops_left else "chain limit reached"
    asleep = [(name, why) for agent_id, name in names.items() if agent_id not in woken]
    return posted.message, Reach([names[agent_id] for agent_id in names if agent_id in woken], asleep, hops_left)


def post_to(tx: Tx, sender: Caller, space_id: str, draft: Draft, agent_ids: Collection[str]) -> MessageJson:
    """Stores a message that wakes only these agents of the space."""
    posted = store_message(tx, sender, space_id, draft)
    if posted.message["chainDepth"] < tx.hooks.depth_limit(posted.max_chain_depth):
        insert_deliveries(tx, [_delivery(tx, posted, each, None) for each in sorted(agent_ids)])
    return posted.message


def _deliver(tx: Tx, posted: Posted, max_chain_depth: int) -> tuple[Sequence[sa.Row[Any]], Collection[str]]:
    """Returns the other agents of the space, and the ids of those that the message wakes."""
    message = posted.message
    asked = posted.asked
    if asked is None:
        asked = tx.ask(_AGENTS, {"space": message["spaceId"], "sender": message["sender"]["id"]})
    agents = asked.all()
    heard = _who_hears(tx, posted, agents)
    if posted.session_id is not None:
        bind_offered(tx, posted, heard)
    if message["chainDepth"] >= max_chain_depth:
        if heard or any(agent.run_id for agent in agents):
            _post_depth_notice(tx, posted, max_chain_depth)
        return agents, ()
    waiting = [agent for agent in agents if agent.run_id is not None]
    answered = answer_waits(tx, message, waiting) if waiting else {}
    standby: set[str] = set()
    if _elects(posted, agents):
        # An answer to a wait goes to the runs that wait for it.
        heard = heard if not answered else set()
        standby = {agent.agent_id for agent in agents} - heard if heard else set()
    woken = {*heard, *answered}
    rows = [_delivery(tx, posted, agent, answered.get(agent)) for agent in sorted(woken)]
    if standby:
        rows = _with_standby(tx, posted, rows, standby)
    insert_deliveries(tx, rows, bool(answered))
    return agents, woken


def _who_hears(tx: Tx, posted: Posted, agents: Sequence[sa.Row[Any]]) -> set[str]:
    """The agents that the message triggers (T10). In an orchestrated space an unaddressed message goes to its
    orchestrator (R8), in an elected space to the agent that its sender last talked with, or to all (E12)."""
    everyone = {agent.agent_id for agent in agents}
    if posted.triggers == "everyone":
        return everyone
    if _elects(posted, agents):
        elected = elect(tx, posted.message, everyone)
        return everyone if elected is None else {elected}
    called = everyone & set(posted.message["mentions"])
    if posted.triggers == "orchestrated" and not called:
        run_id = posted.message["runId"]
        in_turn = run_id is not None and _speaks_in_turn(tx, run_id, posted.message["spaceId"])
        return set() if in_turn else everyone & {posted.orchestrator_id or ""}
    return called


def _elects(posted: Posted, agents: Sequence[sa.Row[Any]]) -> bool:
    """A message in an elected space that mentions no agent, unless an agent sent it: agents wake those they mention."""
    if posted.triggers != "elected" or posted.message["sender"]["type"] == "agent":
        return False
    return not {agent.agent_id for agent in agents} & set(posted.message["mentions"])


def _with_standby(
    tx: Tx, posted: Posted, elected: Sequence[dict[str, Any]], standby: Collection[str]
) -> list[dict[str, Any]]:
    """The elected agent's delivery, and those of the others, which are due later."""
    [first] = elected
    others = [_delivery(tx, posted, agent, None) for agent in sorted(standby)]
    later = {"elected_id": first["agent_id"], "not_before": tx.now + BEGIN_MILLIS}
    return [{**first, "elected_id": first["agent_id"]}, *({**row, **later} for row in others)]


def _delivery(tx: Tx, posted: Posted, agent_id: str, taken: Taken | None) -> dict[str, Any]:
    message = posted.message
    row = new_delivery(
        tx,
        agent_id,
        "space_message",
        message["id"],
        {"senderExpectsReply": posted.expects_reply},
        message["chainDepth"],
        cause=posted.cause,
        space_id=message["spaceId"],
        message_id=message["id"],
        seq=message["seq"],
        sender_id=message["sender"]["id"],
        run_id=taken.run_id if taken else None,
    )
    return {**row, "state": taken.state} if taken else {**row, **gather_columns(tx, posted, agent_id)}


def deliver_tool_result(
    tx: Tx, agent_id: str, run_id: str, call_id: str, tool_name: str, result: object, chain_depth: int = 0
) -> bool:
    """A tool's result that arrives after its cycle has gone on (J5). The event's id contains the run, since a model may
    reuse call ids. `chain_depth` is the run's: a tool result resets no chain (T6), and has the run's cause (O3)."""
    call_id = call_id[:_MAX_CALL_ID]
    payload = {"toolName": tool_name, "toolCallId": call_id, "result": result}
    event_id = f"tool:{run_id}:{call_id}"
    cause = cause_of_run(tx, run_id)
    return insert_delivery(tx, new_delivery(tx, agent_id, "tool_result", event_id, payload, chain_depth, cause=cause))


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
    cause = posted.caused_by
    for _ in range(max_chain_depth + 1):
        earlier = tx.execute(_CAUSED_BY, {"message": cause}).scalar_one_or_none()
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
    cause: Cause,
    space_id: str | None = None,
    message_id: str | None = None,
    seq: int | None = None,
    sender_id: str | None = None,
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
        "seq": seq,
        "sender_id": sender_id,
        "cause_id": cause.id,
        "person_id": cause.person_id,
        "payload": payload,
        "chain_depth": chain_depth,
        "state": "taken" if run_id else "pending",
        "run_id": run_id,
        "not_before": 0,
        "gather_until": None,
        "elected_id": None,
        "trace": tx.trace,
        "created_at": tx.now,
    }


def cause_of_run(tx: Tx, run_id: str) -> Cause:
    row = tx.one(_CAUSE_OF_RUN, {"run": run_id})
    return Cause(row.cause_id, row.person_id) if row is not None else UNKNOWN


def insert_deliveries(tx: Tx, rows: Sequence[dict[str, Any]], resumed: bool = False) -> None:
    if rows:
        tx.later(_INSERT[tx.dialect], rows)
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
