"""One schedule: a world, its people, a storm of faults, then calm until everything has ended; then the promises."""

from __future__ import annotations

import asyncio
import gc
import random
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from majlis import clock
from majlis.prove import service as outside_world
from majlis.prove.bus import Network
from majlis.prove.changes import Change, History
from majlis.prove.database import Fault
from majlis.prove.disk import gateway_disk
from majlis.prove.event_loop import Machine, SimulatedLoop
from majlis.prove.faults import Faults
from majlis.prove.model import CarefulModel, ModelTraits
from majlis.prove.node import Node
from majlis.prove.people import Edge, Follower, People
from majlis.prove.promises import Evidence, check
from majlis.prove.world import EPOCH_MILLIS, SHAPES, World, world_of
from majlis.runs.claim.lease import HEARTBEAT_SECONDS, RUN_LEASE_MILLIS
from majlis.store import ids

_TASKS = ("answer", "answer", "charge", "stamp", "plan", "approve", "chat")
_STORM_SECONDS = 8.0
_NOTICE_SECONDS = 0.6
_PATIENCE_SECONDS = 300.0
# The rest of a lease shortly before it is renewed.
_LEASE_LEFT = RUN_LEASE_MILLIS / 1000 - HEARTBEAT_SECONDS


@dataclass
class Outcome:
    seed: int
    broken: list[str]
    # What happened, for the table.
    counts: dict[str, int]
    trace: list[str] = field(default_factory=list)


def run_schedule(seed: int, folder: Path, traced: bool = False) -> Outcome:
    """Runs a schedule. The same seed has the same outcome."""
    schedule = Schedule(seed, folder, traced)
    gc.disable()
    try:
        return schedule.run()
    finally:
        gc.enable()


class Schedule:
    def __init__(self, seed: int, folder: Path, traced: bool) -> None:
        self._seed = seed
        self._traced = traced
        self._trace: list[str] = []
        self._random = self._source("people")
        self._fault_random = self._source("faults")
        self.world: World = world_of(self._random.choice(SHAPES), folder)
        self._disk = gateway_disk(folder, self.world.content)
        self._outside = Machine("people")
        self._loop = SimulatedLoop(f"{seed}:loop", EPOCH_MILLIS, self._outside)
        self._faults = Faults.drawn(self._fault_random)
        if self._faults.most_deaths:
            self._loop.before_step = self._before_step
        self._network = Network(
            self._loop, self._source("network"),
            self._faults.bus_loss, self._faults.bus_double, self._faults.bus_delay,
        )  # fmt: skip
        self._history = History()
        self._traits = ModelTraits(self._random.choice((0.05, 0.5, 3.0)), self._faults.model_failing)
        self._model = CarefulModel(self._traits, self._source("model"))
        self._service = outside_world.Service(self._source("service"))
        self._nodes: list[Node] = []
        self._lives = 0
        self._deaths = 0
        self._storm = True
        self._edge = Edge(self._loop, self._outside, self._source("edge"), lambda: self._nodes, self._faults.edge_loss)
        self._people = People(self._edge, self._source("clients"))
        self._replies: list[asyncio.Task[Any]] = []
        if traced:
            self._history.tell = self._note_change
            self._model.tell = self.note

    def _note_change(self, change: Change) -> None:
        if change.kind != "lease":
            self.note(_change_in_words(change))

    def _source(self, name: str) -> random.Random:
        return random.Random(f"{self._seed}:{name}")  # noqa: S311

    def run(self) -> Outcome:
        clock.simulate(self._loop.now_millis)
        outside_world.use(self._service)
        observer = self._disk.observer
        try:
            main = self._loop.create_task(self._main(observer), context=self._outside.context)
            self._loop.run_until_complete(main)
            broken = check(self._evidence(observer)) + [f"no crash: {error!r}" for error in self._loop.errors]
        except Stuck as stuck:
            broken = [f"nothing stuck: {stuck}"]
        finally:
            for node in self._nodes:
                node.db.drop()
            clock.simulate(None)
            ids.use(None)
            outside_world.use(None)
            self._loop.dispose()
        return Outcome(self._seed, broken, self._counts(), self._trace)

    async def _main(self, observer: sqlite3.Connection) -> None:
        self._followers = [Follower(self._edge, self.world.people[0], space) for space in self.world.spaces]
        for n in range(self._random.choice((1, 2, 2, 3))):
            self._boot(f"node {n + 1}")
        following = [asyncio.create_task(each.follow()) for each in self._followers]
        answering = asyncio.create_task(self._answer(observer))
        talking = asyncio.create_task(self._talk())
        await self._make_storm()
        await talking
        await self._until_quiet(observer)
        # Polling brings a stream up to date within a second.
        await self._until(lambda: all(each.is_complete(observer) for each in self._followers), "a stream lags behind")
        for task in (answering, *following):
            task.cancel()

    def _boot(self, name: str) -> None:
        self._lives += 1
        node = Node(
            f"{name} life {self._lives}", self._loop, self._network, self._disk, f"{self._seed}:{self._lives}",
            self._history, self._model, self.world.owner_id, self._strike, self._died,
        )  # fmt: skip
        reach = self._faults.skew_seconds * 1000
        node.skew_millis = int(self._fault_random.uniform(-reach, reach))
        self._nodes.append(node)
        self.note(f"starts, its clock is {node.skew_millis} ms off", node)
        node.boot()

    def _died(self, node: Node) -> None:
        self._deaths += 1
        self._nodes.remove(node)
        self.note("dies", node)
        delay = self._fault_random.choice((0.1, 3.0, 20.0))
        name = node.name.partition(" life")[0]
        self._loop.call_later(delay, self._boot, name, context=self._outside.context)

    def _may_die(self) -> bool:
        return self._storm and self._deaths < self._faults.most_deaths

    def _before_step(self, machine: Machine) -> None:
        if isinstance(machine, Node) and self._may_die() and self._fault_random.random() < self._faults.death_at_step:
            machine.die()

    def _strike(self, node: Node) -> Fault:
        if not self._storm:
            return "none"
        fault = self._faults.at_commit(self._fault_random, self._may_die())
        if fault != "none":
            self.note(f"commit: {fault}", node)
        return fault

    async def _make_storm(self) -> None:
        faults, draw = self._faults, self._fault_random
        while self._loop.time() < _STORM_SECONDS:
            await asyncio.sleep(0.5)
            for node in self._nodes:
                # A node that works is frozen more often, because that tests leases and fences.
                if draw.random() < faults.freeze * (3 if node.works else 0.5):
                    # About as long as a lease: another node takes over at about the time it goes on.
                    seconds = draw.choice(
                        (0.5, 5.0, _LEASE_LEFT + draw.random() * 14, _LEASE_LEFT + draw.random() * 14)
                    )
                    node.frozen_until = self._loop.time() + seconds
                    self.note(f"freezes for {seconds:.1f} s", node)
                if draw.random() < faults.clock_jump:
                    reach = int(faults.skew_seconds * 1000)
                    node.skew_millis = draw.randint(-reach, reach)
                    self.note(f"its clock jumps to {node.skew_millis} ms off", node)
            self._network.cut = {node for node in self._nodes if draw.random() < faults.bus_cut}
        self._storm = False
        self._loop.before_step = None
        self._network.loss = self._edge.loss = self._traits.failing = 0.0
        self._network.cut = set()
        self.note("the storm is over")

    async def _talk(self) -> None:
        draw = self._random
        talks = []
        for n in range(draw.randint(1, 3)):
            text = f"{draw.choice(_TASKS)} #a{n}"
            talks.append(self._say_later(draw.random() * 5, self.world.spaces[1], text))
        if draw.random() < 0.5:
            talks.append(self._say_later(draw.random() * 4, self.world.spaces[0], "ask #b0"))
        if draw.random() < 0.3:
            talks.append(self._say_later(draw.random() * 5, self.world.spaces[0], "note"))
        await asyncio.gather(*talks)

    async def _say_later(self, delay: float, space_id: str, text: str) -> None:
        sender = self._random.choice(self.world.people)
        await asyncio.sleep(delay)
        self.note(f"{sender.name} posts: {text}")
        await self._people.say(sender, space_id, text)

    async def _answer(self, observer: sqlite3.Connection) -> None:
        """Answers questions and cards, early, late, twice or never; cancels a run now and then."""
        draw, seen, tasks = self._source("answers"), set[str](), self._replies
        cancels = 1 if draw.random() < 0.2 else 0
        while True:
            await asyncio.sleep(_NOTICE_SECONDS)
            for row in observer.execute("SELECT id, space_id FROM messages WHERE text LIKE '% asks #%' ORDER BY n"):
                if row["id"] not in seen and draw.random() < 0.7:
                    reply_to = row["id"] if draw.random() < 0.6 else None
                    tasks.append(asyncio.create_task(self._reply(draw.random() * 5, row["space_id"], reply_to)))
                seen.add(row["id"])
            for row in observer.execute("SELECT id, run_id, call_id FROM cards WHERE state = 'open' ORDER BY id"):
                if row["id"] not in seen:
                    for caller in self.world.people:
                        if draw.random() < 0.6:
                            work = self._decide(draw.random() * 5, caller, row["run_id"], row["call_id"])
                            tasks.append(asyncio.create_task(work))
                seen.add(row["id"])
            if cancels and self._storm:
                for row in observer.execute("SELECT id FROM runs WHERE ended_at IS NULL ORDER BY id LIMIT 1"):
                    cancels -= 1
                    self.note(f"{self.world.people[0].name} cancels {row['id']}")
                    tasks.append(asyncio.create_task(self._people.cancel(self.world.people[0], row["id"])))

    async def _reply(self, delay: float, space_id: str, reply_to: str | None) -> None:
        await asyncio.sleep(delay)
        self.note(f"{self.world.people[1].name} replies to {reply_to}")
        await self._people.say(self.world.people[1], space_id, "note", reply_to)

    async def _decide(self, delay: float, caller: Any, run_id: str, call_id: str) -> None:
        await asyncio.sleep(delay)
        done = await self._people.answer_card(caller, run_id, call_id, True)
        self.note(f"{caller.name} answered the card of {run_id}: {'accepted' if done else 'refused or lost'}")

    async def _until_quiet(self, observer: sqlite3.Connection) -> None:
        """Returns when everything has ended, for longer than people take to notice a question."""
        while not self._is_quiet(observer):
            await self._until(lambda: self._is_quiet(observer), lambda: ", ".join(_unfinished(observer)))
            await asyncio.sleep(2 * _NOTICE_SECONDS)

    def _is_quiet(self, observer: sqlite3.Connection) -> bool:
        return not self._people.busy and all(task.done() for task in self._replies) and not _unfinished(observer)

    async def _until(self, holds: Callable[[], bool], otherwise: str | Callable[[], str]) -> None:
        give_up = self._loop.time() + _PATIENCE_SECONDS
        while not holds():
            if self._loop.time() > give_up:
                raise Stuck(otherwise if isinstance(otherwise, str) else otherwise())
            await asyncio.sleep(1)

    def _evidence(self, observer: sqlite3.Connection) -> Evidence:
        effects = self._service.effects
        return Evidence(self.world, observer, self._history, self._people.sent, self._followers, effects)

    def _counts(self) -> dict[str, int]:
        return {
            "steps": self._loop.steps,
            "transactions": self._history.transactions,
            "deaths": self._deaths,
            "messages": len(self._people.sent),
            "runs": sum(change.kind == "run" and change.before is None for change in self._history.changes),
        }

    def note(self, what: str, machine: Machine | None = None) -> None:
        if self._traced:
            who = (machine or self._loop.here).name
            self._trace.append(f"{self._loop.time():9.4f}  {self._loop.steps:6}  {who:<16}  {what}")


def _change_in_words(change: Change) -> str:
    what = f"{change.kind} {change.id}: {change.before} → {change.after}"
    more = {"run": f", fence {change.more}", "delivery": f", run {change.more}"}.get(change.kind, "")
    return f"commit {change.transaction}: {what}{more}"


class Stuck(Exception):
    """Something has not ended, long after the faults are over."""


_UNFINISHED = {
    "deliveries": "SELECT count(*) FROM deliveries WHERE state IN ('pending', 'taken')",
    "runs": "SELECT count(*) FROM runs WHERE ended_at IS NULL",
    "cards": "SELECT count(*) FROM cards WHERE state = 'open'",
    "plans": "SELECT count(*) FROM plans WHERE next_at IS NOT NULL",
}


def _unfinished(observer: sqlite3.Connection) -> list[str]:
    found = {what: observer.execute(query).fetchone()[0] for what, query in _UNFINISHED.items()}
    return [f"{count} {what}" for what, count in found.items() if count]
