"""From sending a message to its event on another person's stream, against the answer to the post itself."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

from bench.posting import Poster
from bench.raw_http import Connection
from bench.results import Result
from bench.scenes import Scene, set_scene
from bench.servers import serve
from bench.stage import Stage
from tests.nats_servers import NatsServer

LIMIT = 3.0
_MARK = b"event: space.message"
_EACH = 10


def measure(stage: Stage) -> list[Result]:
    scene = set_scene(stage)
    found = [_one_server(stage, scene)]
    if stage.engine == "postgresql":
        found.append(_two_servers(stage, scene))
    return found


def _one_server(stage: Stage, scene: Scene) -> Result:
    with serve(scene) as served:
        poster = Poster(served.connect(scene.people[0]), scene.spaces[0])
        return _result(stage, "post → other's event", poster, _follow(served.connect(scene.people[1]), scene))


def _two_servers(stage: Stage, scene: Scene) -> Result:
    with ExitStack() as stack:
        bus_url = stack.enter_context(_nats())
        here, there = (stack.enter_context(serve(scene, bus_url)) for _ in range(2))
        poster = Poster(here.connect(scene.people[0]), scene.spaces[0])
        follower = _follow(there.connect(scene.people[1]), scene)
        return _result(stage, "post → other's event, over NATS", poster, follower)


def _result(stage: Stage, name: str, poster: Poster, follower: Connection) -> Result:
    for _ in range(_EACH):
        _one(poster, follower)
    pairs = [_one(poster, follower) for _ in range(stage.rounds * _EACH)]
    event, answer = (median(times) * 1000 for times in zip(*pairs, strict=True))
    return Result(name, stage.engine, event, "ms", answer, event / answer, LIMIT)


def _one(poster: Poster, follower: Connection) -> tuple[float, float]:
    """Seconds from sending until the event, and until the answer, is here: whichever comes first is read first."""
    answer, event = poster.connection, follower
    waiting: dict[int, Callable[[], object]] = {
        answer.socket.fileno(): answer.answer,
        event.socket.fileno(): lambda: event.until(_MARK),
    }
    arrived: dict[int, float] = {}
    started = time.perf_counter()
    poster.send()
    while waiting:
        for number in select.select(list(waiting), [], [])[0]:
            waiting.pop(number)()
            arrived[number] = time.perf_counter() - started
    return arrived[event.socket.fileno()], arrived[answer.socket.fileno()]


def _follow(follower: Connection, scene: Scene) -> Connection:
    follower.socket.sendall(follower.get(f"/api/spaces/{scene.spaces[0]}/events"))
    follower.until(b"event: connected")
    return follower


@contextmanager
def _nats() -> Iterator[str]:
    server = NatsServer()
    server.start()
    try:
        yield server.url
    finally:
        server.stop()
