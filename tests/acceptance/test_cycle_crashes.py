"""K8: a worker crashes at every crash point of a cycle and another takes over: one stored cycle, no repeated effect.

The model is a pure function of what its prompt shows of this cycle. So every effect that happens exactly once was shown
to it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import agents
from tests.acceptance.effect_tools import effects_in, python_tool
from tests.acceptance.ledger import Ledger
from tests.acceptance.workers import EAGER_MILLIS, Workers
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.runs.cycles import calls_of, done_before, this_cycle
from tests.world import Person, World, serve_world

REQUEST, MORE, LAST = "Please handle o-1.", "And hurry.", "Charged."
CLOSING = "Charged o-1 and told them."
ACTS = ["enter_space", "charge", "peek_inbox", "send_message"]
WRITES = ("claim", "commit_call", "start_call", "finish_call", "complete")
PLACES = {f"{write}: {when} its commit" for write in WRITES for when in ("before", "after")}
PLACES |= {f"charge: {when} its effect" for when in ("before", "after")}


@dataclass
class Life:
    """One cycle of its own agent, with crashes in it."""

    workers: Workers
    world: World
    model: ModelServer
    folder: Path
    agent: Person
    space: str
    asked: list[Asked] = field(default_factory=list)
    hurried: bool = False
    # The last crash point of a cycle.
    end: str = "complete: after its commit"

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.world.gateway.db)

    async def clerk(self, asked: Asked) -> Reply:
        """A sensible model: reads what was done, and does the rest."""
        self.asked.append(asked)
        done = _done(asked)
        if "enter_space" not in done:
            return call("enter_space", spaceId=self.space)
        if "charge" not in done:
            return call("charge", order="o-1")
        if "peek_inbox" not in done:
            await self._hurry()
            return call("peek_inbox")
        return say(LAST) if f"send_message {LAST}" not in done else silent(CLOSING)

    async def work(self, die_at: int = 0) -> bool:
        """Runs one worker that is to crash. Returns whether it did; otherwise the cycle has ended."""
        worker = await self.workers.start(self.folder, poll_millis=EAGER_MILLIS, die_at=die_at)

        async def over() -> bool:
            return worker.gone or await self.ledger.statuses(self.space) in (["completed"], ["failed"])

        await until(over)
        if die_at:
            await until(lambda: worker.gone or self.places()[-1] == self.end)
        died = worker.gone
        worker.kill()
        await worker.until_gone()
        return died

    def places(self) -> list[str]:
        return (self.folder / "places").read_text().splitlines()

    async def _hurry(self) -> None:
        if not self.hurried:
            self.hurried = True
            await self.world.owner.say(self.space, MORE)

    async def check(self) -> None:
        [run] = await self.ledger.runs(self.space)
        assert (run["status"], run["reason"], run["lease_owner"], run["cycle"]) == ("completed", None, None, True)
        assert await self.ledger.texts(self.space) == [REQUEST, MORE, LAST]
        assert [each["state"] for each in await self.ledger.deliveries(self.space)] == ["done", "done"]
        assert [event["text"] for event in run["trigger"]["events"]] == [REQUEST, MORE]
        steps = await self.ledger.steps(run["id"])
        assert [step["n"] for step in steps] == list(range(len(steps)))
        acts = [step["name"] for step in steps if step["kind"] == "tool"]
        assert acts == ACTS
        assert len(effects_in(self.folder / "effects")) <= 1
        [charge] = [step for step in steps if step["name"] == "charge"]
        if charge["state"] == "done":
            assert len(effects_in(self.folder / "effects")) == 1
        await self._check_consciousness(run["id"])

    async def _check_consciousness(self, run_id: str) -> None:
        """One row that contains each action once; the agent is in the space it entered."""
        [kept] = await self.ledger.cycles(self.agent.id)
        assert (kept["n"], kept["run_id"], kept["summary"]) == (1, run_id, CLOSING)
        made = calls_of(kept)
        assert made == [part for name in made[::2] for part in (name, f"= {name}")], "paired"
        before = re.findall(r"You: called (\w+)\(", kept["messages"][0]["content"])
        assert [*before, *made[::2]] == ACTS
        assert await self.stands_in() == self.space

    async def stands_in(self) -> str | None:
        mine = sa.select(agents.c.active_space_id).where(agents.c.id == self.agent.id)
        found: str | None = await self.world.gateway.db.read(lambda tx: tx.execute(mine).scalar_one())
        return found


def _done(asked: Asked) -> set[str]:
    """Calls of this cycle that the prompt shows: those of an earlier worker, and the turns of this invocation."""
    lines = [found for line in done_before(asked) for found in re.findall(r'You: called (\w+)\((?:"([^"]*)")?', line)]
    turns = [each["function"] for message in this_cycle(asked) for each in message.get("tool_calls") or ()]
    sent = [(each["name"], re.search(r'"text": *"([^"]*)"', each["arguments"])) for each in turns]
    return {f"{name} {text}".strip() for name, text in lines} | {
        f"{name} {found[1] if found else ''}".strip() for name, found in sent
    }


Stage = Callable[[str], Awaitable[Life]]


@pytest.fixture
async def stage(workers: Workers, model: ModelServer) -> AsyncIterator[Stage]:
    """Cycles one after the other. People speak through a gateway without workers."""
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as world:

        async def begin(name: str) -> Life:
            tools = [python_tool("charge")]
            agent = await world.agent(name, mind="consciousness", model=model.model, tools=tools)
            folder = workers.folder / name
            folder.mkdir()
            life = Life(workers, world, model, folder, agent, await world.owner.create_space(name, agent))
            model.script = life.clerk
            await world.owner.say(life.space, REQUEST)
            return life

        yield begin


async def test_k8_a_cycle_survives_a_crash_of_its_worker_at_every_crash_point(stage: Stage) -> None:
    for die_at in count(1):
        life = await stage(f"Clerk {die_at}")
        died = await life.work(die_at)
        if died:
            assert not await life.work()
        await life.check()
        if not died:
            break
    assert set(life.places()) >= PLACES
    print(f"{len(life.places())} places to die at")  # noqa: T201 - shown with pytest -s


async def test_k6_a_cycle_that_skips_ends_as_a_whole_or_not_at_all(stage: Stage) -> None:
    for die_at in count(1):
        life = await stage(f"Clerk {die_at}")
        life.end = "commit_call: after its commit"
        life.model.script = lambda asked: call("skip", reason="Not for me.")
        died = await life.work(die_at)
        if died:
            assert not await life.work()
        [run] = await life.ledger.runs(life.space)
        assert (run["status"], run["reason"]) == ("completed", "Not for me.")
        assert [each["state"] for each in await life.ledger.deliveries(life.space)] == ["passed"]
        assert (await life.ledger.cycles(life.agent.id), await life.stands_in()) == ([], None)
        if not died:
            break
    assert len(life.places()) >= 4
