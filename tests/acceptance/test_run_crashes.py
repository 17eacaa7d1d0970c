"""J2, M10, T12: a worker crashes at every crash point and another takes over: nothing is lost or done twice.

The model is a pure function of its prompt. So every effect that happens exactly once was shown to it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from majlis.runs.claim.deaths import MAX_DEATHS
from majlis.settings import Settings
from tests.acceptance.effect_tools import effects_in, python_tool
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, WorkerProcess, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.world import Person, World, serve_world

# The crash points are divided among this many tests, which can run in parallel.
PARTS = 2
REQUEST, FIRST, QUESTION, ANSWER, LAST = "Please handle o-1.", "I am on it.", "May I ship it?", "Ship it.", "Shipped."
UNKNOWN = "outcome unknown"
WRITES = ("claim", "commit_call", "start_call", "finish_call", "complete")
PLACES = {f"{write}: {when} its commit" for write in WRITES for when in ("before", "after")}
PLACES |= {f"{tool}: {when} its effect" for tool in ("charge", "stamp") for when in ("before", "after")}


def clerk(asked: Asked) -> Reply:
    """A sensible model: reads what was done, and does the rest."""
    done = _done(asked)
    if f"send_message {FIRST}" not in done:
        return say(FIRST)
    if "charge" not in done:
        return call("charge", order="o-1")
    if "stamp" not in done:
        return call("stamp", order="o-1")
    if f"send_message {QUESTION}" not in done:
        return say(QUESTION, wait=True)
    if f"send_message {LAST}" not in done:
        assert ANSWER in asked.text
        return say(LAST)
    return silent()


def _done(asked: Asked) -> set[str]:
    """Calls that this prompt shows: on the timeline, and as turns of this invocation."""
    lines = re.findall(r'You: called (\w+)\((?:"([^"]*)")?', asked.text)
    turns = [each["function"] for message in asked.messages for each in message.get("tool_calls") or ()]
    sent = [(each["name"], re.search(r'"text": *"([^"]*)"', each["arguments"])) for each in turns]
    return {f"{name} {text}".strip() for name, text in lines} | {
        f"{name} {found[1] if found else ''}".strip() for name, found in sent
    }


@dataclass
class Life:
    """One run from request to end in its own space, with crashes in it."""

    workers: Workers
    world: World
    model: ModelServer
    agent: Person
    folder: Path
    space: str = ""
    prompts_before: int = 0
    answered: bool = False

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.world.gateway.db)

    async def begin(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.prompts_before = len(self.model.asked)
        self.space = await self.world.owner.create_space(self.folder.name, self.agent)
        await self.world.owner.say(self.space, REQUEST)

    async def work(self, die_at: int = 0) -> bool:
        """Runs one worker that is to crash. Returns whether it did; otherwise the run has ended."""
        worker = await self.workers.start(self.folder, poll_millis=EAGER_MILLIS, die_at=die_at)
        await self.watch(worker)
        if die_at:
            await until(lambda: worker.gone or self.places()[-1] == "complete: after its commit")
        died = worker.gone
        worker.kill()
        await worker.until_gone()
        return died

    def places(self) -> list[str]:
        return (self.folder / "places").read_text().splitlines()

    async def watch(self, worker: WorkerProcess) -> None:
        """Waits until the worker is gone or has nothing left to do. The person answers as soon as the question is
        asked; after a crash, no worker is running at that time."""

        async def over() -> bool:
            gone = worker.gone
            statuses = await self.ledger.statuses(self.space)
            if statuses == ["waiting_reply"] and not self.answered:
                self.answered = True
                await self.world.owner.say(self.space, ANSWER)
            return gone or statuses == ["completed"] or "failed" in statuses

        await until(over)

    async def check(self, stamps: int | None = None) -> None:
        """`stamps`: how often the idempotent tool had its effect, where that is known."""
        [run] = await self.ledger.runs(self.space)
        assert (run["status"], run["reason"], run["lease_owner"]) == ("completed", None, None)
        assert await self.ledger.texts(self.space) == [REQUEST, FIRST, QUESTION, ANSWER, LAST]
        assert [each["state"] for each in await self.ledger.deliveries(self.space)] == ["done", "done"]
        steps = await self.ledger.steps(run["id"])
        assert [step["n"] for step in steps] == list(range(len(steps)))
        calls = [step for step in steps if step["kind"] == "tool"]
        assert [each["name"] for each in calls] == ["send_message", "charge", "stamp", "send_message", "send_message"]
        self._check_effects(calls, stamps)
        self._check_prompts()

    def _check_effects(self, calls: list[dict[str, Any]], stamps: int | None) -> None:
        charge, stamp = calls[1], calls[2]
        effects = [(name, key) for name, key in effects_in(self.folder / "effects") if stamp["run_id"] in key]
        charged = [key for name, key in effects if name == "charge"]
        stamped = [key for name, key in effects if name == "stamp"]
        if charge["state"] == "done":
            assert len(charged) == 1
        else:
            # The outcome is unknown: the call is not repeated, and the model was told.
            assert charge["state"] == "started"
            assert len(charged) <= 1
            assert f'You: called charge({{"order":"o-1"}}) → {UNKNOWN}' in self._prompts()[-1].text
        assert stamp["state"] == "done"
        assert len(stamped) == stamps if stamps else len(stamped) in (1, 2)
        assert set(stamped) == {f"{stamp['run_id']}:{stamp['n']}"}

    def _check_prompts(self) -> None:
        prompts = self._prompts()
        # The engine repeats an idempotent call, so its outcome is known before the next request.
        assert not any(re.search(rf"called stamp\(.*{UNKNOWN}", prompt.text) for prompt in prompts)
        resumed = prompts[-1].text
        sent = f'send_message("{FIRST}")', f'send_message("{QUESTION}", wait: true)'
        for made in (*sent, 'charge({"order":"o-1"}) → ', 'stamp({"order":"o-1"}) → {"receipt":'):
            assert resumed.count(f"You: called {made}") == 1
        assert "← RESUME: Owner replied. Continue from here." in resumed

    def _prompts(self) -> list[Asked]:
        return self.model.asked[self.prompts_before :]


@pytest.fixture
async def stage(workers: Workers, model: ModelServer) -> AsyncIterator[Callable[[str], Life]]:
    """Runs of one agent, one after the other. People speak through a gateway without workers."""
    model.script = clerk
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as world:
        tools = [python_tool("charge"), python_tool("stamp", idempotent=True)]
        agent = await world.agent("Clerk", model=model.model, tools=tools)
        yield lambda name: Life(workers, world, model, agent, workers.folder / name)


@pytest.mark.parametrize("part", range(PARTS))
async def test_j2_a_run_survives_a_crash_of_its_worker_at_every_crash_point(
    stage: Callable[[str], Life], part: int
) -> None:
    for die_at in count(part + 1, PARTS):
        life = stage(f"life {die_at}")
        await life.begin()
        died = await life.work(die_at)
        if died:
            assert not await life.work()
        await life.check()
        if not died:
            break
    assert set(life.places()) >= PLACES
    print(f"{len(life.places())} places to die at")  # noqa: T201 - shown with pytest -s


async def test_j2_a_run_survives_one_crash_after_the_other(stage: Callable[[str], Life]) -> None:
    """Later workers crash too, while they repeat what the worker before them had left."""
    life = stage("chain of deaths")
    await life.begin()
    for die_at, place in (
        (15, "stamp: before its effect"),
        (9, "stamp: after its effect"),
        (10, "finish_call: before its commit"),
        (12, "commit_call: before its commit"),
    ):
        assert await life.work(die_at)
        assert life.places()[-1] == place
    assert not await life.work()
    await life.check(stamps=3)


async def test_j2_a_repeated_call_is_shown_as_done_by_a_worker_that_has_known_the_agent_before(
    stage: Callable[[str], Life],
) -> None:
    """Such a worker may load the scene in the transaction that claims the run."""
    before, life = stage("life before"), stage("life")
    life.folder.mkdir()
    await before.begin()
    heir = await life.workers.start(life.folder, poll_millis=EAGER_MILLIS)
    await before.watch(heir)
    await life.ledger.stop_between_writes(heir)
    await life.begin()
    assert await life.work(die_at=15)
    heir.go_on()
    await life.watch(heir)
    await life.check(stamps=1)


async def test_g1_a_run_that_crashes_every_worker_ends_with_a_notice(stage: Callable[[str], Life]) -> None:
    life = stage("deadly")
    await life.begin()
    for _ in range(MAX_DEATHS):
        assert await life.work(die_at=4)
    assert not await life.work()
    [run] = await life.ledger.runs(life.space)
    assert (run["status"], run["error"]["code"]) == ("failed", "workers_died")
    assert [each["state"] for each in await life.ledger.deliveries(life.space)] == ["failed"]
    request, notice = await life.ledger.texts(life.space)
    assert request == REQUEST
    assert run["error"]["message"].startswith("The server crashed 3 times")
    assert notice == "Clerk couldn't answer. An admin has been notified."
