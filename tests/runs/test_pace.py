"""When many runs begin at once, other requests are not held up."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest

from majlis import clock
from majlis.runs.claim.claim import claim
from majlis.runs.engine import Pace
from tests.model_server import Reply, silent
from tests.runs.house import House


@pytest.fixture
def elapsed() -> Iterator[list[int]]:
    """Milliseconds that pass only while a view is made."""
    passed = [0]
    clock.simulate(lambda: passed[0])
    yield passed
    clock.simulate(None)


async def test_requests_pass_between_the_views_of_many_runs(elapsed: list[int]) -> None:
    pace, order = Pace(), list[str]()

    async def view() -> None:
        await pace.keep()
        elapsed[0] += 2
        order.append("view")

    async def request() -> None:
        for _ in range(10):
            order.append("request")
            await asyncio.sleep(0)

    await asyncio.gather(*(view() for _ in range(30)), request())
    assert order.count("view") == 30
    while_requests = order[: len(order) - order[::-1].index("request")]
    assert max(len(list(found)) for kind, found in groupby(while_requests) if kind == "view") <= 2


async def test_a_canceled_run_holds_up_no_other(elapsed: list[int]) -> None:
    pace, made = Pace(), list[int]()

    async def view(n: int) -> None:
        await pace.keep()
        elapsed[0] += 10
        made.append(n)

    views = [asyncio.create_task(view(n)) for n in range(20)]
    await asyncio.sleep(0)
    for each in views[1::2]:
        each.cancel()
    await asyncio.gather(*views, return_exceptions=True)
    assert sorted(made) == list(range(0, 20, 2))


async def test_a_claim_takes_a_part_of_many_runs(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def counted(*given: Any) -> Any:
        claimed = claim(*given)
        sizes.append(len(claimed.runs))
        return claimed

    monkeypatch.setattr("majlis.runs.worker.claim", counted)

    def pass_by(_: object) -> Reply:
        return silent()

    house.model.script = pass_by
    space = await house.space("Project Alpha", *[await house.agent(f"Agent {n}") for n in range(20)])
    await house.owner.say(space, "Good morning.")
    await house.until_idle()
    assert sum(sizes) == 20
    assert max(sizes) <= 16
