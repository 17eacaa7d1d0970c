"""Two hundred messages of a person, each answered by three agents whose model answers at once: runs for each second.

Each message mentions all three, and only who is mentioned hears it, so there are exactly six hundred runs: a request to
the model, an answer stored and sent to the space, and a second request that ends the run. The agents have `guard` off:
with it they would hold their answers back because others speak at the same time (E8), which is other work. LangGraph
does the same work on SQLite (`bench/peers/langgraph_agents.py`), in the way of its two that is faster here.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import ExitStack
from statistics import median

from bench.gateways import Office, new_runner, open_office
from bench.models import TalkingModel
from bench.peers.environment import Unavailable
from bench.peers.process import Peer, open_peer
from bench.results import Result
from bench.rounds import compare
from bench.stage import Stage
from bench.words import sentences

LEAST = 1.5
AGENTS = 3
_WARM_UP = 20


class Crowd:
    """Our side: a gateway, and a person who does not wait for the answers."""

    def __init__(self, runner: asyncio.Runner, office: Office) -> None:
        self._runner = runner
        self._office = office
        self._texts = sentences()
        self._runs = 0

    def times(self, messages: int) -> list[float]:
        """A `Sampler` that has one sample for all of them, as the peer has."""
        return [self._runner.run(self._talk(messages))]

    async def _talk(self, messages: int) -> float:
        self._runs += messages * AGENTS
        started = time.perf_counter()
        for _ in range(messages):
            await self._office.say(next(self._texts))
        await self._office.until_ended(self._runs)
        return time.perf_counter() - started


def measure(stage: Stage) -> list[Result]:
    messages, rounds = (50, 3) if stage.quick else (200, 7)
    name, runs = f"runs, {messages} × {AGENTS} agents", messages * AGENTS
    with (
        new_runner() as runner,
        open_office(stage, runner, stage.fresh(), TalkingModel(), AGENTS, guard=False) as office,
    ):
        crowd = Crowd(runner, office)
        if stage.engine != "sqlite":
            return [Result(name, stage.engine, _alone(crowd, messages, rounds), "/s")]
        try:
            with ExitStack() as stack:
                found = compare(_faster_peer(stage, stack).times, crowd.times, rounds, messages)
        except Unavailable as error:
            ours = _alone(crowd, messages, rounds)
            return [Result(f"{name} : LangGraph", stage.engine, ours, "/s", least=LEAST, note=str(error))]
    ours, theirs = runs * 1000 / found.floor, runs * 1000 / found.ours
    return [Result(f"{name} : LangGraph", stage.engine, ours, "/s", peer=theirs, ratio=found.ratio, least=LEAST)]


def _alone(crowd: Crowd, messages: int, rounds: int) -> float:
    crowd.times(_WARM_UP)
    return messages * AGENTS / median(crowd.times(messages)[0] for _ in range(rounds))


def _faster_peer(stage: Stage, stack: ExitStack) -> Peer:
    folder = tempfile.mkdtemp(dir=stage.folder)
    peers = [stack.enter_context(open_peer("langgraph_agents.py", folder, way)) for way in ("sync", "async")]
    for peer in peers:
        peer.times(_WARM_UP)
    return min(peers, key=lambda peer: peer.times(_WARM_UP)[0])
