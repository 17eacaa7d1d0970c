"""One message that wakes 500 agents: how long until all runs have ended, and how much it delays a person who posts in
another space."""

from __future__ import annotations

import asyncio
import time
from statistics import median

from bench.gateways import Office, new_runner, open_office
from bench.models import SilentModel
from bench.results import Result
from bench.stage import Stage
from bench.words import sentences
from majlis.spaces.spaces import create_space

AGENTS = 500
LIMIT_MILLIS, POST_LIMIT_MILLIS = 2_000, 50


def measure(stage: Stage) -> list[Result]:
    count = AGENTS // 5 if stage.quick else AGENTS
    rounds = 2 if stage.quick else 5
    model = SilentModel(lambda _: None)
    with new_runner() as runner, open_office(stage, runner, stage.fresh(), model, count, triggers="everyone") as office:
        elsewhere = runner.run(office.gateway.db.write(create_space, office.person, "Elsewhere"))["id"]
        times = [runner.run(_wake(office, number * count, elsewhere)) for number in range(1, rounds + 1)]
    whole, posts = zip(*times, strict=True)
    slowest = median(max(each) for each in posts)
    name = f"{count} agents woken by one message"
    return [
        Result(f"{name}: all runs ended", stage.engine, median(whole) * 1000, "ms", limit=LIMIT_MILLIS),
        Result(f"{name}: the slowest other post", stage.engine, slowest * 1000, "ms", limit=POST_LIMIT_MILLIS),
    ]


async def _wake(office: Office, runs: int, elsewhere: str) -> tuple[float, list[float]]:
    started = time.perf_counter()
    await office.say_to_all("Good morning.")
    ended = asyncio.create_task(office.until_ended(runs))
    posts: list[float] = []
    texts = sentences()
    while not ended.done():
        posting = time.perf_counter()
        await office.say_to_all(next(texts), elsewhere)
        posts.append(time.perf_counter() - posting)
        await asyncio.sleep(0.01)
    await ended
    return time.perf_counter() - started, posts
