"""From a message's commit until the request for the answer leaves for the model, held against one durable commit.

The time begins when the transaction that stored the message has committed and this process knows it (`after_commit`),
and ends when the model is asked. In between lie the claim with its own durable commit, the look at the space, and the
prompt. Every space has a full window of history.

Work after a pause takes longer than the same work repeated without one, because the processor's caches hold other data
by then. So like is compared with like: a message that finds an idle gateway against a commit on an idle machine, and
messages that follow each other at once against commits in a row.
"""

from __future__ import annotations

import time
from statistics import median

from bench.commits import durable_commits
from bench.gateways import new_runner, open_office
from bench.model_process import scripted_model
from bench.models import SilentModel
from bench.results import Result
from bench.rounds import Sampler, compare
from bench.stage import Stage
from bench.waking import REST_SECONDS, Waking

LIMIT = 10.0
_EACH = 10


def measure(stage: Stage) -> list[Result]:
    return [*_in_process(stage), _over_http(stage)]


def _in_process(stage: Stage) -> list[Result]:
    asked: list[float] = []
    model = SilentModel(lambda _: asked.append(time.perf_counter()))
    url = stage.fresh()
    with new_runner() as runner, open_office(stage, runner, url, model) as office:
        waking = Waking(runner, office, asked.pop)
        with durable_commits(stage.engine, url, runner) as floor:
            idle = compare(waking.times, rested(floor), stage.rounds, _EACH)
            whole = median(waking.from_the_call) * 1000
            waking.rest = 0.0
            busy = compare(waking.times, floor, stage.rounds, _EACH)
    return [
        Result("commit → model request, idle", stage.engine, idle.ours, "ms", idle.floor, idle.ratio, LIMIT),
        Result("commit → model request, in a row", stage.engine, busy.ours, "ms", busy.floor, busy.ratio, LIMIT),
        Result("call to post → model request, idle", stage.engine, whole, "ms", idle.floor, whole / idle.floor),
    ]


def rested(floor: Sampler) -> Sampler:
    """The same, each after the rest that a message has."""

    def one() -> float:
        time.sleep(REST_SECONDS)
        return floor(1)[0]

    return lambda count: [one() for _ in range(count)]


def _over_http(stage: Stage) -> Result:
    """The same until the request has been read by a server in another process: HTTP is in it, on both sides."""
    url = stage.fresh()
    with (
        scripted_model() as arrivals,
        new_runner() as runner,
        open_office(stage, runner, url, model=arrivals.choice) as office,
    ):
        waking = Waking(runner, office, arrivals.next)
        with durable_commits(stage.engine, url, runner) as floor:
            found = compare(waking.times, rested(floor), stage.rounds // 2, _EACH)
    return Result("commit → request at an HTTP model", stage.engine, found.ours, "ms", found.floor, found.ratio)
