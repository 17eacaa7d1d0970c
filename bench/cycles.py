"""The next request of a consciousness with 10,000 past cycles, against one with 100."""

from __future__ import annotations

import asyncio
import time

import sqlalchemy as sa

from bench.gateways import Office, new_runner, open_office
from bench.models import SilentModel
from bench.results import Result
from bench.rounds import compare
from bench.stage import Stage
from bench.waking import Waking
from majlis.store.tables import cycles
from majlis.store.transactions import Tx

LIMIT = 1.2
FEW, MANY = 100, 10_000
_EACH = 5
_PART = 500


def measure(stage: Stage) -> list[Result]:
    many = MANY // 10 if stage.quick else MANY
    asked: list[float] = []
    model = SilentModel(lambda _: asked.append(time.perf_counter()))
    few_url, many_url = stage.fresh(), stage.fresh()
    with (
        new_runner() as runner,
        open_office(stage, runner, few_url, model, mind="consciousness") as young,
        open_office(stage, runner, many_url, model, mind="consciousness") as old,
    ):
        ours, floor = (_lived(runner, office, asked, count) for office, count in ((old, many), (young, FEW)))
        found = compare(ours.times, floor.times, stage.rounds // 2, _EACH)
    name = f"commit → model request, {many:,} : {FEW} past cycles"
    return [Result(name, stage.engine, found.ours, "ms", found.floor, found.ratio, LIMIT)]


def _lived(runner: asyncio.Runner, office: Office, asked: list[float], count: int) -> Waking:
    """Some cycles are real, the others copies of the newest one."""
    waking = Waking(runner, office, asked.pop)
    for first in range(0, count, _PART):
        runner.run(office.gateway.db.write(_fill, office.agents[0], min(_PART, count - first)))
    return waking


def _fill(tx: Tx, agent: str, count: int) -> None:
    statement = sa.select(cycles).where(cycles.c.agent_id == agent).order_by(cycles.c.n.desc()).limit(1)
    newest = tx.execute(statement).one()._mapping
    tx.execute(cycles.insert(), [{**newest, "n": newest["n"] + number} for number in range(1, count + 1)])
