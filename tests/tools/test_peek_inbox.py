"""Behaviour K5 at its limits: `peek_inbox` takes events for good, so its result must show all of them."""

from __future__ import annotations

import json

from tests.model_server import Asked, Reply, call, silent
from tests.runs.cycles import conscious, each_cycle
from tests.runs.house import House


async def test_k5_t12_peek_inbox_takes_only_what_fits_into_its_result(house: House) -> None:
    """Regression: three long messages were taken at once, and the result was truncated after the first."""
    husam, scout = await house.person("Husam"), await conscious(house)
    family = await house.space("Family", husam, scout)

    async def meanwhile(asked: Asked) -> Reply:
        for name in ("one", "two", "three"):
            await husam.say(family, f"{name} {'x' * 40_000}")
        return call("get_memories")

    house.model.script = each_cycle(meanwhile, *[call("peek_inbox", count=50)] * 4, silent("Read all."))
    await husam.say(family, "Hi")
    await house.until_idle()
    peeked = [json.loads(request.last["content"]) for request in house.asked("Scout")[2:]]
    taken = [([event["text"].split()[0] for event in each["events"]], each["remaining"]) for each in peeked]
    assert taken == [(["one"], 2), (["two"], 1), (["three"], 0), ([], 0)]
