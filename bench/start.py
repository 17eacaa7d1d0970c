"""From the start of `majlis serve` until it is healthy, and until an agent has answered a first message, against Python
that only imports the frameworks. Also `majlis --help`, against Python that does nothing."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.posting import Poster
from bench.raw_http import Connection
from bench.results import Result
from bench.scenes import Person, Scene, set_scene
from bench.servers import RUN, Served, serve
from bench.stage import Stage
from majlis.agents.agents import add_agent
from majlis.agents.config.config import dump_config, parse_config
from majlis.spaces.members import join
from majlis.store.open import open_database
from majlis.store.transactions import Tx

HEALTHY_SECONDS = 1.5
HELP_SECONDS = 0.2
# In processor time, which a busy machine changes less than time by the clock.
HEALTHY_RATIO = 2.5
HELP_RATIO = 8.0
_NOTHING = "pass"
_FRAMEWORKS = "import fastapi, uvicorn, sqlalchemy"
_MARK = b"event: space.message"
_SERVE, _NEW, _ANSWER, _HELP = "serve → healthy", "serve → healthy, new data", "serve → first answer", "majlis --help"


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds by the clock, without those in which the process was ready and another one had the core, and seconds of
    processor time. So a busy machine counts for little."""

    clock: float
    processor: float


def measure(stage: Stage) -> list[Result]:
    scene = _scene_with_agent(stage)
    found: dict[str, list[Taken]] = defaultdict(list)
    # The first round only fills the caches of files.
    for number in range(1 + max(3, stage.rounds // 4)):
        for name, taken in _round(stage, scene):
            found[name] += [taken] if number else []
    results = [
        *_results(stage, found, _SERVE, _FRAMEWORKS, HEALTHY_SECONDS, HEALTHY_RATIO),
        *_results(stage, found, _NEW, _FRAMEWORKS, HEALTHY_SECONDS),
        *_results(stage, found, _ANSWER, _FRAMEWORKS),
    ]
    if stage.engine == "sqlite":
        results += _results(stage, found, _HELP, _NOTHING, HELP_SECONDS, HELP_RATIO)
    return results


def _scene_with_agent(stage: Stage) -> Scene:
    scene = set_scene(stage, people=1)

    def add(tx: Tx) -> None:
        agent = add_agent(tx, "Nadim", dump_config(parse_config({})))
        join(tx, scene.spaces[0], agent["id"], "member")

    async def write() -> None:
        db = open_database(scene.url)
        await db.write(add)
        await db.close()

    asyncio.run(write())
    return scene


def _round(stage: Stage, scene: Scene) -> Iterator[tuple[str, Taken]]:
    for code in (_NOTHING, _FRAMEWORKS):
        yield code, _run("-c", code)
    yield _HELP, _run("-c", RUN, "--help")
    yield _NEW, _start(Scene(stage.empty(), Path(tempfile.mkdtemp(dir=stage.folder)), [Person("", "", "none")], []))[0]
    healthy, answered = _start(scene)
    yield _SERVE, healthy
    yield _ANSWER, answered


def _run(*arguments: str) -> Taken:
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    # Ended, but still listed.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    taken = _taken(process.pid, started)
    if process.wait():
        raise RuntimeError(f"{arguments} failed")
    return taken


def _start(scene: Scene) -> tuple[Taken, Taken]:
    """Until the server is healthy, and until an agent has answered, if there is a space."""
    started = time.perf_counter()
    with serve(scene) as served:
        connection = served.connect(scene.people[0])
        connection.ask(connection.get("/api/health"))
        healthy = _taken(served.pid, started)
        if scene.spaces:
            _hear_an_answer(served, connection, scene)
        return healthy, _taken(served.pid, started)


def _taken(process: int, started: float) -> Taken:
    seconds = time.perf_counter() - started
    threads = list(Path(f"/proc/{process}/task").iterdir())
    processor = sum(_nanoseconds(thread)[0] for thread in threads)
    return Taken(seconds - _nanoseconds(Path(f"/proc/{process}"))[1] / 1e9, processor / 1e9)


def _nanoseconds(thread: Path) -> tuple[int, int]:
    """On a core, and waiting for one. The process's own file is that of its main thread."""
    running, waiting, _ = (thread / "schedstat").read_text().split()
    return int(running), int(waiting)


def _hear_an_answer(served: Served, connection: Connection, scene: Scene) -> None:
    stream = served.connect(scene.people[0])
    stream.socket.sendall(stream.get(f"/api/spaces/{scene.spaces[0]}/events"))
    stream.until(b"event: connected")
    Poster(connection, scene.spaces[0]).post(1)
    for _ in ("the message", "its answer"):
        stream.until(_MARK)
    stream.close()


def _results(
    stage: Stage, found: dict[str, list[Taken]], name: str, floor: str, seconds: float | None = None,
    ratio: float | None = None,
) -> list[Result]:  # fmt: skip
    ours, least = found[name], found[floor]
    processor, by = (median(each.processor for each in times) for times in (ours, least))
    times = median(mine.processor / other.processor for mine, other in zip(ours, least, strict=True))
    clock = median(each.clock for each in ours)
    return [
        Result(name, stage.engine, clock, "s", limit=seconds),
        Result(f"{name}: processor time", stage.engine, processor, "s", by, times, ratio),
    ]
