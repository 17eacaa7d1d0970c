"""Spaces in a real database: an agent, other members, and many messages."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.minds.timeline.load import load_scene
from majlis.minds.timeline.scene import Look, Resume, Scene, Who
from majlis.spaces.members import join
from majlis.spaces.post import Draft, store_message
from majlis.spaces.shapes import MessageJson
from majlis.spaces.spaces import create_space
from majlis.store import ids
from majlis.store.tables import agents, messages, runs, spaces
from majlis.store.transactions import Database, Tx
from tests.minds.scenes import config
from tests.spaces.actors import add_caller


class Place:
    """Husam, Sarah and the agent DataAnalyst in one space."""

    def __init__(self, db: Database, husam: Caller, sarah: Caller, agent: Caller, space: str) -> None:
        self.db = db
        self.husam = husam
        self.sarah = sarah
        self.agent = agent
        self.space = space

    async def say(self, text: str, sender: Caller | None = None, space: str | None = None, **more: Any) -> MessageJson:
        draft = Draft(text, **more)
        return (await self.db.write(store_message, sender or self.husam, space or self.space, draft)).message

    async def another_space(self, name: str, *members: Caller) -> str:
        return await self.db.write(space_of, name, *members)

    async def look(self, trigger: MessageJson, **more: Any) -> Scene:
        return await self.db.snapshot(self.load, trigger, **more)

    def load(
        self, tx: Tx, /, trigger: MessageJson, active: str | None = None, resume: Resume | None = None, **settings: Any
    ) -> Scene:
        return load_scene(tx, look_of(self.agent, trigger, active or self.space, resume, **settings))


def look_of(agent: Caller, trigger: MessageJson, space: str, resume: Resume | None = None, **settings: Any) -> Look:
    who = Who(agent.id, agent.name, "agent")
    return Look(who, config(**settings), "run_this", trigger_of(trigger), space, resume=resume)


async def make_place(db: Database) -> Place:
    def make(tx: Tx) -> Place:
        husam, sarah = add_caller(tx, "Husam"), add_caller(tx, "Sarah")
        agent = add_agent(tx, "DataAnalyst")
        return Place(db, husam, sarah, agent, space_of(tx, "Project Alpha", husam, sarah, agent))

    return await db.write(make)


def add_agent(tx: Tx, name: str) -> Caller:
    agent = add_caller(tx, name, "agent")
    tx.execute(agents.insert(), {"id": agent.id, "config": {}, "updated_at": tx.now})
    return agent


def space_of(tx: Tx, name: str, *members: Caller) -> str:
    space = create_space(tx, members[0], name)["id"]
    for member in members[1:]:
        join(tx, space, member.id, "member")
    return space


def say_much(tx: Tx, sender: Caller, space: str, count: int) -> None:
    """Inserts many messages at once, faster than `store_message`."""
    head = tx.execute(sa.select(spaces.c.head_seq).where(spaces.c.id == space)).scalar_one()
    numbers = range(head + 1, head + count + 1)
    said = {"space_id": space, "sender_id": sender.id, "created_at": tx.now}
    tx.execute(messages.insert(), [{**said, "id": ids.new("msg"), "seq": n, "text": f"m{n}"} for n in numbers])
    tx.execute(spaces.update().where(spaces.c.id == space).values(head_seq=head + count))


def add_run(tx: Tx, /, agent: Caller, trigger: MessageJson, status: str, **more: Any) -> str:
    run_id = ids.new("run")
    ended_at = tx.now if status in ("completed", "failed", "canceled") else None
    values = {"agent_id": agent.id, "trigger": trigger_of(trigger), "created_at": tx.now, "ended_at": ended_at, **more}
    tx.execute(runs.insert(), {"id": run_id, "status": status, **values})
    return run_id


def trigger_of(message: MessageJson) -> dict[str, Any]:
    return {
        "type": "space_message",
        "chainDepth": message["chainDepth"],
        "spaceId": message["spaceId"],
        "spaceName": "Project Alpha",
        "messageId": message["id"],
        "senderId": message["sender"]["id"],
        "senderName": message["sender"]["name"],
        "senderType": message["sender"]["type"],
        "text": message["text"],
        "timestamp": message["createdAt"],
        "senderExpectsReply": False,
    }
