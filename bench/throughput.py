"""Two hundred messages of a person, each answered by three agents whose model answers at once: runs for each second.

Each message mentions all three, and only who is mentioned hears it, so there are exactly six hundred runs: a request to
the model, an answer stored and sent to the space, and a second request that ends the run. The agents have `guard` off:
with it they would hold their answers back because others speak at the same time (E8), which is other work. The peers do
the same work (`bench/peers/same_work.py`), each in its own way, and all take turns in one run.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

import sqlalchemy as sa

from bench.gateways import Office, new_runner, open_office
from bench.models import TalkingModel
from bench.peers.environment import Unavailable, peers_python
from bench.peers.process import Peer, open_peer
from bench.results import ENGINES, Engine, Result
from bench.rounds import Sampler
from bench.stage import Stage
from bench.words import sentences

AGENTS = 3
_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Kind:
    """A peer: its script, the ways of which the faster is taken, and how many times as fast we want to be."""

    name: str
    script: str
    engines: Sequence[Engine] = ENGINES
    ways: Sequence[tuple[str, ...]] = ((),)
    least: dict[Engine, float] = field(default_factory=dict)


LANGGRAPH = Kind(
    "LangGraph", "langgraph_agents", ways=(("sync",), ("async",)), least={"sqlite": 5.0, "postgresql": 3.0}
)
KINDS = (
    LANGGRAPH,
    Kind("openai-agents", "openai_agents"),
    Kind("Google ADK", "adk_agents"),
    Kind("DBOS", "dbos_workflows"),
    Kind("Procrastinate", "procrastinate_jobs", engines=("postgresql",)),
)


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
    return _against(stage, [LANGGRAPH])


def measure_peers(stage: Stage) -> list[Result]:
    return _against(stage, KINDS)


def _against(stage: Stage, kinds: Sequence[Kind]) -> list[Result]:
    messages, rounds = (50, 3) if stage.quick else (200, 7)
    with (
        ExitStack() as stack,
        new_runner() as runner,
        open_office(stage, runner, stage.fresh(), TalkingModel(), AGENTS, guard=False) as office,
    ):
        crowd = Crowd(runner, office)
        crowd.times(_WARM_UP)
        turns = _Turns(stage, stack, [kind for kind in kinds if stage.engine in kind.engines])
        for number in range(rounds):
            turns.take(crowd.times, messages, reverse=bool(number % 2))
        return turns.results(messages * AGENTS)


class _Turns:
    """Rounds in which Majlis and its peers do the work one after another, and what each took."""

    def __init__(self, stage: Stage, stack: ExitStack, kinds: Sequence[Kind]) -> None:
        self._engine = stage.engine
        self._kinds = kinds
        self._ours: list[float] = []
        self._theirs: dict[str, list[float]] = {kind.name: [] for kind in kinds}
        self._notes: dict[str, str] = {}
        self._peers = {kind.name: peer for kind in kinds if (peer := self._opened(stage, stack, kind))}

    def take(self, ours: Sampler, messages: int, reverse: bool) -> None:
        names: list[str | None] = [None, *self._peers]
        for name in reversed(names) if reverse else names:
            if name is None:
                self._ours += ours(messages)
                continue
            try:
                self._theirs[name] += self._peers[name].times(messages)
            except Unavailable as error:
                self._notes[name] = str(error)
                del self._peers[name]

    def results(self, runs: int) -> list[Result]:
        ours = runs / median(self._ours)
        return [self._result(kind, runs, ours) for kind in self._kinds]

    def _result(self, kind: Kind, runs: int, ours: float) -> Result:
        name, least = f"runs : {kind.name}", kind.least.get(self._engine)
        if kind.name in self._notes:
            return Result(name, self._engine, ours, "/s", least=least, note=self._notes[kind.name])
        theirs = self._theirs[kind.name]
        ratio = median(their / our for their, our in zip(theirs, self._ours, strict=True))
        return Result(name, self._engine, ours, "/s", peer=runs / median(theirs), ratio=ratio, least=least)

    def _opened(self, stage: Stage, stack: ExitStack, kind: Kind) -> Peer | None:
        try:
            peers_python()
            found = [_open(stage, stack, kind.script, way) for way in kind.ways]
            return min(found, key=lambda peer: peer.times(_WARM_UP)[0])
        except Unavailable as error:
            self._notes[kind.name] = str(error)
            return None


def _open(stage: Stage, stack: ExitStack, script: str, way: Sequence[str]) -> Peer:
    place = tempfile.mkdtemp(dir=stage.folder)
    if stage.engine == "postgresql":
        place = sa.make_url(stage.empty()).set(drivername="postgresql").render_as_string(hide_password=False)
    peer = stack.enter_context(open_peer(script, place, *way))
    peer.times(_WARM_UP)
    return peer
