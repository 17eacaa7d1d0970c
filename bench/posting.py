"""Posting over HTTP against the same rows written with the driver: one client, and sixteen at once. Sixteen in one
space, whose row numbers the messages, against sixteen in a space each."""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from statistics import median

from bench.floors import Floor, open_floor
from bench.raw_http import Connection
from bench.results import Result
from bench.rounds import compare
from bench.scenes import set_scene
from bench.servers import serve
from bench.stage import Stage
from bench.words import sentences

LIMIT = 4.0
CLIENTS = 16
_EACH = 25


class Poster:
    """A person who posts in one space, each message with a client id of its own, as an SDK does."""

    _texts = sentences()

    def __init__(self, connection: Connection, space: str) -> None:
        self.connection = connection
        self._path = f"/api/spaces/{space}/messages"
        self._requests = self._make()

    def post(self, count: int) -> list[float]:
        return [self.connection.timed(next(self._requests)) for _ in range(count)]

    def send(self) -> None:
        self.connection.socket.sendall(next(self._requests))

    def _make(self) -> Iterator[bytes]:
        for number, text in enumerate(self._texts):
            body = {"text": text, "clientId": f"{id(self)}-{number}"}
            yield self.connection.post(self._path, body)


def measure(stage: Stage) -> list[Result]:
    scene = set_scene(stage, people=2, spaces=CLIENTS)
    floor_url = stage.copy(scene.url)
    with open_floor(stage.engine, scene, floor_url) as floor, serve(scene) as served:
        posters = [Poster(served.connect(scene.people[0]), space) for space in scene.spaces]
        alone = compare(posters[0].post, floor.write, stage.rounds, _EACH)
        crowd = _crowd(posters, floor, stage.rounds // 2)
        together = [Poster(served.connect(scene.people[0]), scene.spaces[0]) for _ in scene.spaces]
        busy = _busy(together, posters, stage.rounds // 2)
    return [
        Result("post", stage.engine, alone.ours, "ms", alone.floor, alone.ratio, LIMIT),
        Result(f"post, {CLIENTS} clients, each", stage.engine, crowd[0], "ms", crowd[1], crowd[2]),
        Result(f"post, {CLIENTS} clients in one space, each", stage.engine, busy[0], "ms", busy[1], busy[2]),
    ]


def _crowd(posters: list[Poster], floor: Floor, rounds: int) -> tuple[float, float, float]:
    count = len(posters) * 12
    post_at_once(posters, count), floor.write_at_once(count, len(posters))
    pairs = [(post_at_once(posters, count), floor.write_at_once(count, len(posters))) for _ in range(rounds)]
    ours, theirs = zip(*pairs, strict=True)
    return median(ours) * 1000, median(theirs) * 1000, median(mine / other for mine, other in pairs)


def _busy(together: list[Poster], apart: list[Poster], rounds: int) -> tuple[float, float, float]:
    """The floor does the same work without a row that all clients wait for."""
    count = len(together) * 12
    post_at_once(together, count), post_at_once(apart, count)
    pairs = [(post_at_once(together, count), post_at_once(apart, count)) for _ in range(rounds)]
    ours, theirs = zip(*pairs, strict=True)
    return median(ours) * 1000, median(theirs) * 1000, median(mine / other for mine, other in pairs)


def post_at_once(posters: list[Poster], count: int) -> float:
    """Seconds for each message when every poster always has one under way."""
    waiting = select.epoll()
    by_socket = {poster.connection.socket.fileno(): poster for poster in posters}
    for number in by_socket:
        waiting.register(number, select.EPOLLIN)
    started = time.perf_counter()
    for poster in posters:
        poster.send()
    sent, answered = len(posters), 0
    while answered < count:
        for number, _ in waiting.poll():
            by_socket[number].connection.answer()
            answered += 1
            if sent < count:
                by_socket[number].send()
                sent += 1
    waiting.close()
    return (time.perf_counter() - started) / count
