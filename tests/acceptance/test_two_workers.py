"""Two workers on one database (PostgreSQL with NATS, SQLite without): each delivery is handled once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from majlis import clock
from majlis.store import ids
from majlis.store.open import open_database
from majlis.store.tables import plans
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import NEVER_MILLIS, ForkServer, WorkerProcess, Workers
from tests.conditions import until
from tests.databases import PostgresDatabases
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.nats_servers import NatsServer
from tests.runs.cycles import inbox, step
from tests.world import Person

# Three hundred runs take a while on a small, busy machine.
CROWD_SECONDS = 120.0
MANY = 1500


@dataclass
class Pair:
    """Two workers, and the owner through each of them."""

    workers: Workers
    model: ModelServer
    ledger: Ledger
    processes: list[WorkerProcess] = field(default_factory=list)
    owners: list[Person] = field(default_factory=list)

    async def start(self, **more: Any) -> None:
        self.processes = [await self.workers.start(**more) for _ in range(2)]
        self.owners = [await process.owner() for process in self.processes]

    async def agent(self, name: str, **config: Any) -> Person:
        made = await self.owners[0].ok(
            "POST", "/api/agents", {"name": name, "config": {"model": self.model.model, **config}}
        )
        return Person(self.owners[0].base_url, "", made["id"], name)

    async def space(self, *members: Person, **more: Any) -> str:
        return await self.owners[0].create_space("Project Alpha", *members, **more)

    async def place_of(self, run: dict[str, Any]) -> int:
        """The index of the worker that has this run."""
        pid = int(run["lease_owner"].split(".")[1])
        return [process.pid for process in self.processes].index(pid)

    async def running(self) -> dict[str, Any]:
        await self.ledger.until_statuses("running")
        return (await self.ledger.runs())[0]


@pytest.fixture
async def ledger(database_url: str) -> AsyncIterator[Ledger]:
    db = open_database(database_url)
    yield Ledger(db)
    await db.close()


@pytest.fixture
async def pair(workers: Workers, model: ModelServer, ledger: Ledger, bus_url: str) -> Pair:
    workers.bus_url = bus_url
    found = Pair(workers, model, ledger)
    await found.start()
    return found


@pytest.fixture
async def woken_pair(workers: Workers, model: ModelServer, ledger: Ledger, bus_url: str) -> Pair:
    """With a bus, these workers do not poll: a wake-up arrives at once, or never."""
    workers.bus_url = bus_url
    found = Pair(workers, model, ledger)
    await found.start(poll_millis=NEVER_MILLIS if bus_url else 1000)
    return found


def answer_once(asked: Asked) -> Reply:
    return say(f"{asked.agent} has read: {asked.trigger_text}") if asked.step == 0 else silent()


async def test_t7_a_hundred_messages_to_three_agents_make_three_hundred_runs_and_answers(pair: Pair) -> None:
    pair.model.script = answer_once
    agents = [await pair.agent(name) for name in ("Ada", "Bo", "Cy")]
    # The messages mention the agents, so that agents do not also respond to each other.
    spaces = [await pair.space(*agents, triggers="mentioned") for _ in range(5)]
    mentions = [agent.id for agent in agents]
    texts = [f"message {n}" for n in range(100)]
    await asyncio.gather(
        *(pair.owners[n % 2].say(spaces[n % 5], text, mentions=mentions) for n, text in enumerate(texts))
    )

    async def all_done() -> bool:
        return Counter(await pair.ledger.statuses()) == {"completed": 300}

    await until(all_done, CROWD_SECONDS)
    found = Counter((run["agent_id"], run["trigger"]["text"]) for run in await pair.ledger.runs())
    assert found == Counter({(agent.id, text): 1 for agent in agents for text in texts})
    said = Counter([text for space in spaces for text in await pair.ledger.texts(space)])
    assert said == Counter([*texts, *(f"{agent.name} has read: {text}" for agent in agents for text in texts)])
    assert Counter(each["state"] for each in await pair.ledger.deliveries()) == {"done": 300}


async def test_t8_an_agents_limit_holds_in_both_together_and_what_is_over_it_waits(pair: Pair) -> None:
    limit, messages = 3, 24
    at_once = peak = 0
    full = asyncio.Event()

    async def script(asked: Asked) -> Reply:
        """Counts from the first request of a run to its last. The first ones wait until as many are there as may be."""
        nonlocal at_once, peak
        if asked.step:
            at_once -= 1
            return silent()
        at_once += 1
        peak = max(peak, at_once)
        if at_once >= limit:
            full.set()
        await full.wait()
        return say("done")

    pair.model.script = script
    agent = await pair.agent("Ada", guard=False, limits={"concurrentRuns": limit})
    space = await pair.space(agent)
    await asyncio.gather(*(pair.owners[n % 2].say(space, f"message {n}") for n in range(messages)))

    async def all_done() -> bool:
        return Counter(await pair.ledger.statuses()) == {"completed": messages}

    await until(all_done)
    assert peak == limit


async def test_m10_a_question_asked_in_one_process_is_resumed_in_the_other_after_the_first_has_stopped(
    pair: Pair,
) -> None:
    def script(asked: Asked) -> Reply:
        if "RESUME: Owner replied" in asked.text:
            return silent() if asked.step else say("Blue it is.")
        return say("Which colour?", wait=True)

    pair.model.script = script
    agent = await pair.agent("Ada")
    space = await pair.space(agent)
    await pair.owners[0].say(space, "Paint it.")
    await pair.ledger.until_statuses("waiting_reply")
    # No worker holds a waiting run, whichever of them started it.
    pair.processes[0].terminate()
    await pair.processes[0].until_gone()
    await pair.owners[1].say(space, "Blue.")
    await pair.ledger.until_statuses("completed")
    assert await pair.ledger.texts(space) == ["Paint it.", "Which colour?", "Blue.", "Blue it is."]


async def test_j2_a_run_in_the_middle_of_a_model_request_is_handed_back_by_a_worker_that_stops(
    woken_pair: Pair,
) -> None:
    """The other worker finishes it before the lease ends: after a wake-up if there is a bus, else at its next look."""
    pair, never = woken_pair, asyncio.Event()

    def script(asked: Asked) -> Reply:
        if asked.n == 0:
            return say("I am on it.")
        if asked.n == 1:
            reply = say("This is never heard.")
            reply.gate = never
            return reply
        assert 'You: called send_message("I am on it.")' in asked.text
        return silent() if asked.step else say("Done.")

    pair.model.script = script
    agent = await pair.agent("Ada")
    space = await pair.space(agent)
    await pair.owners[0].say(space, "Please.")
    await pair.model.until_asked(2)
    running = await pair.running()
    first = await pair.place_of(running)
    pair.processes[first].terminate()
    await pair.processes[first].until_gone()
    await pair.ledger.until_statuses("completed")
    [run] = await pair.ledger.runs()
    assert run["ended_at"] < running["lease_until"]
    assert (run["attempts"], len(pair.model.asked)) == (1, 4)
    assert await pair.ledger.texts(space) == ["Please.", "I am on it.", "Done."]
    assert [each["state"] for each in await pair.ledger.deliveries()] == ["done"]
    assert [step["n"] for step in await pair.ledger.steps(run["id"])] == [0, 1, 2, 3, 4]


async def test_j2_a_run_handed_back_right_after_a_commit_goes_on_from_what_was_committed(
    workers: Workers, model: ModelServer, ledger: Ledger, tmp_path: Path
) -> None:
    """The worker is stopped when a call is committed and the run has not seen the result yet: first `enter_space`, then
    `send_message`."""

    def script(asked: Asked) -> Reply:
        if "Hello, Beta." in asked.text:
            return silent()
        return say("Hello, Beta.") if "called enter_space(" in asked.text else call("enter_space", spaceId=beta)

    model.script = script
    pair = Pair(workers, model, ledger)
    places = tmp_path / "places"
    await pair.start(slots=0)
    agent = await pair.agent("Ada")
    alpha, beta = await pair.space(agent), await pair.space(agent)
    await pair.owners[0].say(alpha, "Greet them.")
    for commits in (1, 2):
        worker = await workers.start(stay_after="commit_call")
        await until(lambda: places.exists() and places.read_text().count("commit_call: after") == commits)  # noqa: B023
        worker.terminate()
        await worker.until_gone()
    await workers.start()
    await ledger.until_statuses("completed")
    assert await ledger.texts(beta) == ["Hello, Beta."]
    assert await ledger.texts(alpha) == ["Greet them."]
    [delivery, *_] = await ledger.deliveries(alpha)
    assert delivery["state"] == "done"


async def test_t12_a_delivery_that_waits_for_a_full_agent_is_claimed_when_there_is_room_without_a_wake_up(
    pair: Pair,
) -> None:
    """One process holds the agent's only run and is paused. The other one has seen that the agent is full."""
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        reply = answer_once(asked)
        reply.gate = gate if asked.n == 0 else None
        return reply

    pair.model.script = script
    agent = await pair.agent("Ada", limits={"concurrentRuns": 1})
    space = await pair.space(agent)
    await pair.owners[0].say(space, "one")
    await pair.model.until_asked(1)
    run = await pair.running()
    first = await pair.place_of(run)
    await pair.ledger.stop_between_writes(pair.processes[first])
    other = pair.owners[1 - first]
    await other.say(space, "two")
    await other.ok("POST", f"/api/runs/{run['id']}/cancel")
    await pair.ledger.until_statuses("canceled", "completed")
    assert (await pair.ledger.runs())[1]["ended_at"] < run["lease_until"]
    assert await pair.ledger.texts(space) == ["one", "two", "Ada has read: two"]


async def test_p4_many_plans_due_at_once_fire_once_each_when_their_time_comes(
    workers: Workers, model: ModelServer, ledger: Ledger
) -> None:
    """All in one look: these workers do not poll."""
    gate = asyncio.Event()

    def script(_: Asked) -> Reply:
        return Reply(gate=gate)

    model.script = script
    pair = Pair(workers, model, ledger)
    await pair.start(slots=0)
    agent = await pair.agent("Ada", limits={"concurrentRuns": 1})
    due = clock.now() + 500
    plan: dict[str, Any] = {"agent_id": agent.id, "name": "Stand-up", "instruction": "Ask how it goes."}
    plan |= {"scheduled_at": due, "next_at": due, "created_at": clock.now()}
    await ledger.execute(plans.insert(), [{**plan, "id": ids.new("pln")} for _ in range(MANY)])
    for _ in range(2):
        await workers.start(poll_millis=NEVER_MILLIS)

    async def all_owed() -> bool:
        return len(await ledger.deliveries()) >= MANY

    await until(all_owed)
    owed = await ledger.deliveries()
    assert len(owed) == len({each["event_id"] for each in owed}) == MANY
    assert {each["type"] for each in owed} == {"plan"}
    assert min(each["created_at"] for each in owed) >= due


async def test_j3_a_run_canceled_through_the_other_process_loses_its_model(woken_pair: Pair) -> None:
    """What had reached its worker until then is kept (L7)."""
    pair, gate, words = woken_pair, asyncio.Event(), "This is never heard to its end, since it is half said only."

    def script(_: Asked) -> Reply:
        reply = say(words)
        reply.gate_mid = gate
        return reply

    pair.model.script = script
    agent = await pair.agent("Ada")
    space = await pair.space(agent)
    await pair.owners[0].say(space, "Talk to me.")
    await pair.model.until_asked(1)
    run = await pair.running()
    other = pair.owners[1 - await pair.place_of(run)]
    await other.ok("POST", f"/api/runs/{run['id']}/cancel")
    await pair.model.until_open(0)
    gate.set()
    [asked, *said] = await pair.ledger.texts(space)
    assert asked == "Talk to me."
    assert len(said) <= 1
    assert all(words.startswith(each) and each != words for each in said)
    assert await pair.ledger.statuses() == ["canceled"]


async def test_k2_one_consciousness_lives_one_cycle_at_a_time_and_every_event_in_exactly_one(pair: Pair) -> None:
    chance = random.Random(4)
    at_once = peak = 0

    async def script(asked: Asked) -> Reply:
        """Counts from the first request of a cycle to its last."""
        nonlocal at_once, peak
        if step(asked):
            at_once -= 1
            return silent(f"Read {len(inbox(asked))} events.")
        at_once += 1
        peak = max(peak, at_once)
        return call("get_memories")

    pair.model.script = script
    agent = await pair.agent("Ada", mind="consciousness")
    spaces = [await pair.space(agent) for _ in range(3)]

    async def happen(n: int) -> None:
        owner = chance.choice(pair.owners)
        if n % 4:
            await owner.say(chance.choice(spaces), f"event {n}")
        else:
            event = {"serviceName": "Shop", "payload": n, "eventId": f"event {n}"}
            await owner.ok("POST", f"/api/agents/{agent.id}/trigger", event)

    left = list(range(200))
    while left:
        burst = [left.pop() for _ in range(min(len(left), chance.randint(1, 12)))]
        asked = len(pair.model.asked)
        await asyncio.gather(*map(happen, burst))
        if chance.random() < 0.7:
            await pair.model.until_asked(asked + 1)

    async def all_read() -> bool:
        return Counter(each["state"] for each in await pair.ledger.deliveries()) == {"passed": 200}

    await until(all_read, CROWD_SECONDS)
    assert peak == 1
    runs = await pair.ledger.runs()
    assert {run["status"] for run in runs} == {"completed"}
    events = [event for run in runs for event in run["trigger"]["events"]]
    told = Counter(event.get("text") or event["eventId"] for event in events)
    assert told == Counter({f"event {n}": 1 for n in range(200)})
    kept = await pair.ledger.cycles(agent.id)
    assert [cycle["n"] for cycle in kept] == list(range(1, len(runs) + 1))
    assert [cycle["run_id"] for cycle in kept] == [run["id"] for run in runs]
    assert 3 < len(runs) < 200, "some events came together, some did not"


async def test_work_goes_on_while_nats_is_down(
    fork_server: ForkServer,
    postgres_databases: PostgresDatabases,
    nats_server: NatsServer,
    model: ModelServer,
    tmp_path: Path,
) -> None:
    """The process that receives the message has no free slot; the other one finds it by polling."""
    gate = asyncio.Event()

    def script(asked: Asked) -> Reply:
        reply = answer_once(asked)
        reply.gate = gate if asked.trigger_text == "hold" else None
        return reply

    model.script = script
    url = await asyncio.to_thread(postgres_databases.fresh)
    workers = Workers(fork_server, url, tmp_path)
    workers.bus_url = nats_server.url
    db = open_database(url)
    pair = Pair(workers, model, Ledger(db))
    pair.processes = [await workers.start(slots=1), await workers.start(slots=1)]
    pair.owners = [await process.owner() for process in pair.processes]
    agent = await pair.agent("Ada")
    space = await pair.space(agent)
    nats_server.stop()
    await pair.owners[0].say(space, "hold")
    await pair.model.until_asked(1)
    first = await pair.place_of(await pair.running())
    await pair.owners[first].say(space, "go on")
    await pair.ledger.until_statuses("running", "completed")
    # The other process also finds the cancel by polling.
    [held, _] = await pair.ledger.runs()
    await pair.owners[1 - first].ok("POST", f"/api/runs/{held['id']}/cancel")
    await model.until_open(0)
    assert await pair.ledger.texts(space) == ["hold", "go on", "Ada has read: go on"]
    await workers.close()
    await db.close()
