"""Runs for each second, against the same rows written with the bare driver: in one space, and in fifty with one worker
process and, on PostgreSQL, with two."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench.gateways import Office, new_runner, open_office
from bench.models import TalkingModel
from bench.results import Result
from bench.rounds import compare
from bench.run_floor import RunFloor, open_run_floor
from bench.stage import Stage
from bench.words import sentences
from bench.worker_process import other_worker

AGENTS = 3
SPACES = 50
LEAST_ONE = {"sqlite": 0.5, "postgresql": 0.35}
LEAST_MANY = 0.5
_CLIENTS = 8


class Talk:
    """Our side: people who post in all spaces at once, and the runs that answer them."""

    def __init__(self, runner: asyncio.Runner, office: Office) -> None:
        self._runner = runner
        self._office = office
        self._texts = sentences()
        self._spaces = itertools.cycle(office.spaces)
        self._runs = 0

    def times(self, messages: int) -> list[float]:
        """A `Sampler` that has one sample for all of them."""
        return [self._runner.run(self._talk(messages))]

    async def _talk(self, messages: int) -> float:
        self._runs += messages * AGENTS
        started = time.perf_counter()
        clients = min(_CLIENTS, len(self._office.spaces))
        await asyncio.gather(*(self._post(messages // clients) for _ in range(clients)))
        await self._office.until_ended(self._runs)
        return time.perf_counter() - started

    async def _post(self, messages: int) -> None:
        for _ in range(messages):
            await self._office.say(next(self._texts), next(self._spaces))


def measure(stage: Stage) -> list[Result]:
    found = [_compared(stage, 1, 1, LEAST_ONE[stage.engine]), _compared(stage, SPACES, 1, LEAST_MANY)]
    if stage.engine == "postgresql":
        found.append(_compared(stage, SPACES, 2, LEAST_MANY))
    return found


def _compared(stage: Stage, spaces: int, workers: int, least: float) -> Result:
    messages, rounds = (48, 3) if stage.quick else (200, 10)
    url = stage.fresh()
    with ExitStack() as stack:
        floor = stack.enter_context(_floor(stage, spaces))
        runner = stack.enter_context(new_runner())
        office = stack.enter_context(
            open_office(stage, runner, url, TalkingModel(), AGENTS, spaces=spaces, guard=False)
        )
        for _ in range(workers - 1):
            stack.enter_context(other_worker(url, office.gateway.settings.data_dir))
        # A floor that takes half as long as we do has a ratio of 0.5.
        both = compare(floor.times, Talk(runner, office).times, rounds, messages)
    ours, theirs = (messages * AGENTS * 1000 / millis for millis in (both.floor, both.ours))
    where = "one space" if spaces == 1 else f"{spaces} spaces, {workers} worker{'s' if workers > 1 else ''}"
    return Result(f"runs : bare driver, {where}", stage.engine, ours, "/s", peer=theirs, ratio=both.ratio, least=least)


@contextmanager
def _floor(stage: Stage, spaces: int) -> Iterator[RunFloor]:
    """In a database of its own, with the same agents and spaces, whose gateway is closed."""
    url = stage.fresh()
    with new_runner() as runner, open_office(stage, runner, url, TalkingModel(), AGENTS, spaces=spaces) as office:
        pass
    with open_run_floor(stage.engine, url, office.person.id, office.spaces, office.agents) as floor:
        yield floor
