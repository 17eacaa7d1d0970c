"""A gateway with agents whose model is scripted: people use HTTP, agents run in the real engine."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import sqlalchemy as sa

from majlis import clock
from majlis.settings import Settings
from majlis.store.tables import deliveries, runs
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, Script, say, silent
from tests.world import Person, World, serve_world

UNFINISHED = ("queued", "running")
_TIMELINE_LINE = re.compile(r"^  (?:(?:\[msg:\S+\] )?\[\d{4}-[0-9T:.-]+Z\] (.*)|(← RESUME: .*))$", re.MULTILINE)
_WHO = re.compile(r"^([^:(]+) \((?:human|agent|service), (?:you|id:\S+?)\): ")


class House:
    def __init__(self, world: World, model: ModelServer) -> None:
        self.world = world
        self.model = model
        self.owner = world.owner

    async def agent(self, name: str, **config: Any) -> Person:
        return await self.world.agent(name, model=self.model.model, **config)

    async def person(self, name: str) -> Person:
        return await self.world.person(name)

    async def space(self, name: str, *members: Person, **more: Any) -> str:
        return await self.owner.create_space(name, *members, **more)

    async def until_idle(self) -> None:
        """Waits until no delivery is due or gathers, and no run is active."""
        await until(partial(self._holds, _is_quiet))
        # After its last commit a run still records metrics and its span.
        worker = self.world.gateway.worker
        await until(lambda: worker is None or not worker.active)

    async def runs(self, agent: Person | None = None, **params: Any) -> list[Any]:
        """Oldest first."""
        if agent is not None:
            params["agentId"] = agent.id
        page = await self.owner.ok("GET", "/api/runs", limit=200, **params)
        return list(reversed(page["runs"]))

    async def run(self, run_id: str) -> Any:
        return await self.owner.ok("GET", f"/api/runs/{run_id}")

    async def deliveries(self, message: Any) -> list[tuple[str, str]]:
        """Name and state for each agent that this message was delivered to."""
        listed = await self.owner.ok("GET", f"/api/messages/{message['id']}/deliveries")
        return sorted((each["agentName"], each["state"]) for each in listed)

    async def tell(self, agent: Person, payload: Any = None, **more: Any) -> Any:
        """An event from outside: the run has no space."""
        body = {"serviceName": "Shop", "payload": payload, **more}
        return await self.owner.ok("POST", f"/api/agents/{agent.id}/trigger", body)

    async def remove(self, space: str, member: Person) -> None:
        await self.owner.ok("DELETE", f"/api/spaces/{space}/members/{member.id}")

    async def leave_to(self, space: str, admin: Person) -> None:
        """The owner leaves, so that only the others are there."""
        await self.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": admin.id, "role": "admin"})
        await self.remove(space, self.owner)

    def asked(self, agent: str) -> list[Asked]:
        return [asked for asked in self.model.asked if asked.agent == agent]

    def invocations(self, agent: str) -> list[Asked]:
        """The first request of each invocation: what the agent was shown."""
        return [asked for asked in self.asked(agent) if asked.step == 0]

    def try_models_once(self) -> None:
        """A failing model fails the run at once, without retries within the run."""
        self.world.gateway.engine.retry_seconds = ()

    async def texts(self, space: str) -> list[tuple[str, str]]:
        page = await self.owner.history(space, limit=200)
        return [(message["sender"]["name"], message["text"]) for message in page["messages"]]

    async def until_waiting(self, count: int = 1) -> None:
        await until(partial(self._holds, _are_waiting, count))

    async def _holds(self, condition: Callable[..., bool], *given: Any) -> bool:
        """Where the clock stands still, it moves on to the time at which gathered messages are due."""
        db = self.world.gateway.db
        due = await db.read(_gathered_until) if clock.stands_still() else None
        if due is not None and due > clock.now():
            self.advance((due - clock.now()) / 1000)
        return await db.read(condition, *given)

    def advance(self, seconds: float) -> None:
        """Moves the clock, and wakes the worker."""
        clock.advance(int(seconds * 1000))
        worker = self.world.gateway.worker
        assert worker is not None
        worker.poll_soon()


def timeline(asked: Asked) -> list[str]:
    """The history as the model read it: `Sara: "hello"  [NEW] ← TRIGGER`, without ids and times."""
    found = _TIMELINE_LINE.findall(asked.text)
    return [_WHO.sub(r"\1: ", line) or resume for line, resume in found]


def block(asked: Asked, heading: str) -> list[str]:
    """The lines under a heading such as `ACTIVE RUNS`."""
    found = re.search(rf"^{heading}:.*\n((?:  .*\n?)*)", asked.text, re.MULTILINE)
    return [line.removeprefix("  ") for line in found[1].splitlines()] if found else []


def once(*replies: Reply) -> Script:
    """In every invocation: these replies in order, then silence."""
    return lambda asked: replies[asked.step] if asked.step < len(replies) else silent()


def says(text: str, **more: Any) -> Script:
    return once(say(text, **more))


def _is_quiet(tx: Tx) -> bool:
    due = sa.or_(deliveries.c.not_before <= clock.now(), deliveries.c.gather_until.is_not(None))
    owed = sa.exists().where(deliveries.c.state == "pending", due)
    # A run whose budget is spent is queued, but no worker takes it.
    working = sa.exists().where(runs.c.status.in_(UNFINISHED), runs.c.reason.is_distinct_from("budget"))
    return not tx.execute(sa.select(sa.or_(owed, working))).scalar_one()


def _gathered_until(tx: Tx) -> int | None:
    released = deliveries.c.gather_until == deliveries.c.not_before
    found: int | None = tx.execute(
        sa.select(sa.func.min(deliveries.c.not_before)).where(deliveries.c.state == "pending", released)
    ).scalar_one()
    return found


def _are_waiting(tx: Tx, count: int) -> bool:
    statement = sa.select(sa.func.count()).where(runs.c.status.in_(("waiting_reply", "waiting_tool")))
    return bool(tx.execute(statement).scalar_one() >= count)


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[House]:
    async with ModelServer() as model, serve_world(settings) as world:
        yield House(world, model)
