"""One message of a person to 500 agents, of which every 25th run says something: how many deliveries and runs follow
until the space is quiet again (E3, E4)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

import sqlalchemy as sa

from bench.gateways import Office, new_runner, open_office
from bench.models import SilentModel, TalkingModel
from bench.results import Result
from bench.stage import Stage
from majlis.models.port import ModelEvent, Prompt
from majlis.models.port import Result as CallResult
from majlis.store.tables import deliveries, runs
from majlis.store.tables.runs import NOT_OVER
from majlis.store.transactions import Tx

AGENTS = 500
_EVERY = 25
_PATIENCE_SECONDS = 600


class SomeTalk:
    """Every 25th run says one sentence, the others nothing."""

    def __init__(self) -> None:
        self._silent, self._talking = SilentModel(lambda _: None), TalkingModel()
        self._asked = 0

    async def stream(self, prompt: Prompt) -> AsyncGenerator[ModelEvent, None]:
        if not isinstance(prompt.turns[-1], CallResult):
            self._asked += 1
        talks = isinstance(prompt.turns[-1], CallResult) or self._asked % _EVERY == 0
        async for event in (self._talking if talks else self._silent).stream(prompt):
            yield event


def measure(stage: Stage) -> list[Result]:
    count = AGENTS // 5 if stage.quick else AGENTS
    with (
        new_runner() as runner,
        open_office(stage, runner, stage.fresh(), SomeTalk(), count, triggers="everyone") as office,
    ):
        seconds, offered, worked = runner.run(_ask(office))
    name = f"one message to {count} agents"
    return [
        Result(f"{name}: deliveries", stage.engine, offered, "rows"),
        Result(f"{name}: runs", stage.engine, worked, "rows"),
        Result(f"{name}: until quiet", stage.engine, seconds * 1000, "ms"),
    ]


async def _ask(office: Office) -> tuple[float, int, int]:
    started = time.perf_counter()
    await office.say_to_all("Good morning. Does anyone know where the figures are?")
    async with asyncio.timeout(_PATIENCE_SECONDS):
        quiet = False
        while not quiet:
            await asyncio.sleep(0.05)
            quiet = await office.gateway.db.read(_is_quiet)
    return time.perf_counter() - started, *await office.gateway.db.read(_counts)


def _is_quiet(tx: Tx) -> bool:
    working = sa.or_(sa.exists().where(deliveries.c.state == "pending"), sa.exists().where(NOT_OVER))
    return not tx.execute(sa.select(working)).scalar_one()


def _counts(tx: Tx) -> tuple[int, int]:
    offered, worked = (
        tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() for table in (deliveries, runs)
    )
    return offered, worked
