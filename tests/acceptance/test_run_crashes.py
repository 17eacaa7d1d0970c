"""J2, M10, T12: a worker dies at every place where it can, and another goes on: nothing lost, nothing done twice.

The model is one function of what its prompt shows. So whatever is done exactly once was shown to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from majlis.settings import Settings
from tests.acceptance.ledger import Ledger
from tests.acceptance.tools_of_tests import effects_in, python_tool
from tests.acceptance.workers import EAGER_MILLIS, Workers, WorkerProcess
from tests.model_server import Asked, ModelServer, Reply, call, say, silent
from tests.world import Person, World, serve_world

# The places are shared out among so many tests, to be run side by side.
PARTS = 2
FIRST, QUESTION, LAST = "I am on it.", "May I ship it?", "Shipped."
ANSWER = "Yes, ship it."
UNKNOWN = "outcome unknown"
# Around the commits of the engine's writes and around both effects; fewer would mean that some are not counted.
PLACES_AT_LEAST = 30


def clerk(asked: Asked) -> Reply:
    """A sensible model: looks at what it has done, and does what is left."""
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
    """Calls that this prompt shows: on the timeline, and as the turns of this invocation."""
    lines = re.findall(r'You: called (\w+)\((?:"([^"]*)")?', asked.text)
    turns = [each["function"] for message in asked.messages for each in message.get("tool_calls") or ()]
    sent = [(each["name"], re.search(r'"text": *"([^"]*)"', each["arguments"])) for each in turns]
    return {f"{name} {text}".strip() for name, text in lines} | {
        f"{name} {found[1] if found else ''}".strip() for name, found in sent
    }


@dataclass
class Scene:
    """One life of the run, with one death in it."""

    workers: Workers
    world: World
    ledger: Ledger
    model: ModelServer
    agent: Person
    die_at: int
    folder: Path
    space: str = ""
    prompts_before: int = 0
    answered: bool = False

    async def play(self) -> bool:
        """Whether the first worker died."""
        self.folder.mkdir()
        self.prompts_before = len(self.model.asked)
        self.space = await self.world.owner.create_space(f"Room {self.die_at}", self.agent)
        await self.world.owner.say(self.space, "Please handle order o-1.")
        doomed = await self.workers.start(self.folder, poll_millis=EAGER_MILLIS, die_at=self.die_at)
        await self._watch(doomed)
        died = doomed.gone
        if died:
            heir = await self.workers.start(self.folder, poll_millis=EAGER_MILLIS)
            await self._watch(heir)
            heir.kill()
        doomed.kill()
        return died

    async def _watch(self, worker: WorkerProcess) -> None:
        """Until it is gone or has nothing left to do. The person answers as soon as the question stands there; after
        a death that is while nobody is there to hear."""

        async def over() -> bool:
            gone = worker.gone
            statuses = await self.ledger.statuses(self.space)
            if statuses == ["waiting_reply"] and not self.answered:
                self.answered = True
                await self.world.owner.say(self.space, ANSWER)
            return gone or statuses == ["completed"] or "failed" in statuses

        await self.ledger.until(over)

    async def check(self) -> None:
        [run] = await self.ledger.runs(self.space)
        assert (run["status"], run["reason"], run["lease_owner"]) == ("completed", None, None)
        expected = ["Please handle order o-1.", FIRST, QUESTION, ANSWER, LAST]
        assert await self.ledger.texts(self.space) == expected
        assert [each["state"] for each in await self.ledger.deliveries(self.space)] == ["done", "done"]
        steps = await self.ledger.steps(run["id"])
        assert [step["n"] for step in steps] == list(range(len(steps)))
        calls = [step for step in steps if step["kind"] == "tool"]
        assert [call["name"] for call in calls] == ["send_message", "charge", "stamp", "send_message", "send_message"]
        self._check_effects(calls)
        self._check_prompts()

    def _check_effects(self, calls: list[dict[str, Any]]) -> None:
        effects = effects_in(self.folder / "effects")
        charges = [key for name, key in effects if name == "charge"]
        stamps = [key for name, key in effects if name == "stamp"]
        charge, stamp = calls[1], calls[2]
        if charge["state"] == "done":
            assert len(charges) == 1
        else:
            # Nobody knows: it is not done again, and the model was told.
            assert charge["state"] == "started"
            assert len(charges) <= 1
            assert f'You: called charge({{"order":"o-1"}}) → {UNKNOWN}' in self._prompts()[-1].text
        assert stamp["state"] == "done"
        assert 1 <= len(stamps) <= 2
        assert set(stamps) == {f"{stamp['run_id']}:{stamp['n']}"}

    def _check_prompts(self) -> None:
        prompts = self._prompts()
        # An idempotent call is made again by the engine: its outcome is known before the model is asked.
        assert not any(re.search(rf"called stamp\(.*{UNKNOWN}", prompt.text) for prompt in prompts)
        resumed = prompts[-1].text
        for shown in (f'"{FIRST}"', "charge(", 'stamp({"order":"o-1"}) → {', f'"{QUESTION}", wait: true'):
            assert "You: called " in resumed
            assert shown in resumed
        assert "← RESUME: Owner replied. Continue from here." in resumed
        assert sum("TRIGGER" in prompt.text for prompt in prompts) == len(prompts)

    def _prompts(self) -> list[Asked]:
        return self.model.asked[self.prompts_before :]


@pytest.mark.parametrize("part", range(PARTS))
async def test_j2_a_run_survives_the_death_of_its_worker_at_every_place(
    workers: Workers, model: ModelServer, part: int, tmp_path: Path, record_property: Any
) -> None:
    model.script = clerk
    async with serve_world(Settings.model_validate(workers.settings(workers=0))) as world:
        tools = [python_tool("charge"), python_tool("stamp", idempotent=True)]
        agent = await world.agent("Clerk", model=model.model, tools=tools)
        ledger = Ledger(world.gateway.db)
        for die_at in count(part + 1, PARTS):
            scene = Scene(workers, world, ledger, model, agent, die_at, tmp_path / str(die_at))
            died = await scene.play()
            await scene.check()
            if not died:
                break
    places = (scene.folder / "places").read_text().splitlines()
    record_property("crash places", len(places))
    print(f"{len(places)} places to die at")  # noqa: T201
    assert len(places) >= PLACES_AT_LEAST
