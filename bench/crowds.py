"""Many agents, and many runs that wait: rows as the gateway itself would have written them, in bulk."""

from __future__ import annotations

from typing import Any

from majlis.agents.config.config import AgentConfig, dump_config
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.inbox.deliver import post_message
from majlis.spaces.members import join
from majlis.spaces.post import Draft
from majlis.spaces.spaces import create_space
from majlis.store import ids
from majlis.store.tables import agents, runs
from majlis.store.transactions import Tx

TOGETHER = 10
_DAY = 24 * 3600 * 1000


def add_idle_agents(tx: Tx, count: int) -> list[tuple[str, str]]:
    """Makes agents, ten in a space with one person. Returns their ids and those of their spaces."""
    config = dump_config(AgentConfig(instructions="You answer what you are asked about the figures, and briefly."))
    made: list[tuple[str, str]] = []
    rows: list[dict[str, Any]] = []
    for first in range(0, count, TOGETHER):
        person = add_entity(tx, "human", f"Person {first}")
        caller = Caller(person["id"], person["name"], "human", "member", "bench")
        space = create_space(tx, caller, f"Space {first}", triggers="mentioned")["id"]
        post_message(tx, caller, space, Draft("Good morning."))
        for number in range(first, min(first + TOGETHER, count)):
            agent = add_entity(tx, "agent", f"Agent {number}")["id"]
            rows.append({"id": agent, "config": config, "updated_at": tx.now})
            made.append((agent, space))
    tx.execute(agents.insert(), rows)
    for agent, space in made:
        join(tx, space, agent, "member")
    return made


def add_waiting_runs(tx: Tx, agents: int, count: int) -> None:
    """Makes this many open questions of this many agents. The earliest times out in a day."""
    asking = add_idle_agents(tx, agents)
    tx.execute(runs.insert(), [_waiting(tx, *asking[number % agents], number) for number in range(count)])


def _waiting(tx: Tx, agent: str, space: str, number: int) -> dict[str, Any]:
    question = ids.new("msg")
    wait = {"spaceId": space, "messageId": question, "startedAt": "2026-02-18T15:07:00.000Z", "timeoutSeconds": 86400}
    trigger = {"type": "space_message", "chainDepth": 0, "spaceId": space, "text": "What do the figures say?"}
    return {
        "id": ids.new("run"),
        "agent_id": agent,
        "status": "waiting_reply",
        "trigger": trigger,
        "trigger_space_id": space,
        "active_space_id": space,
        "wait": wait,
        "wait_space_id": space,
        "wait_message_id": question,
        "deadline": tx.now + _DAY + number,
        "fence": 1,
        "attempts": 1,
        "requests": 1,
        "waits": 1,
        "shown": {"shown": {space: 1}, "wrote": {space: [2]}},
        "created_at": tx.now,
        "started_at": tx.now,
    }
