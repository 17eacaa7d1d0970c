"""The cost of an open stream while nothing happens: half follow one space, half all of their spaces."""

from __future__ import annotations

import resource
import time
from itertools import cycle, islice

from bench.posting import Poster
from bench.raw_http import Connection
from bench.results import Result
from bench.scenes import Scene, set_scene
from bench.servers import Served, serve
from bench.stage import Stage

LIMIT_KB = 60.0
STREAMS = 2000
_PEOPLE = 100
_SPACES = 5
_AT_ONCE = 50
_STILL_SECONDS = 0.5


def measure(stage: Stage) -> list[Result]:
    _allow_files(2 * STREAMS)
    scene = set_scene(stage, people=_PEOPLE, spaces=_SPACES)
    with serve(scene) as served:
        _close(_open(served, scene, 2 * _AT_ONCE))  # what the first streams load is not a cost of the next
        before = _settled(served)
        streams = _open(served, scene, STREAMS)
        each = (_settled(served) - before) / STREAMS
        _all_alive(served, scene, streams)
        _close(streams)
    return [Result(f"{STREAMS} idle streams, each", stage.engine, each, "KB", limit=LIMIT_KB)]


def _open(served: Served, scene: Scene, count: int) -> list[Connection]:
    paths = cycle((f"/api/spaces/{scene.spaces[0]}/events", "/api/events"))
    opened: list[Connection] = []
    wanted = zip(islice(cycle(scene.people), count), paths, strict=False)
    while batch := [(served.connect(person), path) for person, path in islice(wanted, _AT_ONCE)]:
        for connection, path in batch:
            connection.socket.sendall(connection.get(path))
        for connection, _ in batch:
            connection.until(b"event: connected")
            opened.append(connection)
    return opened


def _settled(served: Served) -> int:
    """Resident memory once it is stable."""
    last = -1
    while (now := served.resident_kb) != last:
        last = now
        time.sleep(_STILL_SECONDS)
    return now


def _all_alive(served: Served, scene: Scene, streams: list[Connection]) -> None:
    """Checks that the streams still deliver: a cheap stream that does not is worthless."""
    Poster(served.connect(scene.people[0]), scene.spaces[0]).post(1)
    for stream in streams:
        stream.until(b"event: space.message")


def _close(streams: list[Connection]) -> None:
    for stream in streams:
        stream.close()


def _allow_files(count: int) -> None:
    """For this process and the servers it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(count, hard), hard))
