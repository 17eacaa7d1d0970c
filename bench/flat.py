"""A space with a million messages against one with a hundred: posting, reading and listing must cost the same."""

from __future__ import annotations

from functools import partial

from bench.filling import fill
from bench.posting import Poster
from bench.raw_http import Connection
from bench.results import Result
from bench.rounds import Sampler, compare
from bench.scenes import Scene, set_scene
from bench.servers import Served, serve
from bench.stage import Stage

LIMIT = 1.2
SMALL = 100
_EACH = 20


def measure(stage: Stage) -> list[Result]:
    big = 100_000 if stage.quick else 1_000_000
    scene = set_scene(stage, people=1, spaces=2)
    fill(stage.engine, scene, scene.spaces[1], SMALL)
    alone = Scene(stage.copy(scene.url), scene.folder, scene.people, scene.spaces)
    fill(stage.engine, scene, scene.spaces[0], big)
    with serve(scene) as served, serve(alone) as small_server:
        return _compare(stage, scene, served, small_server)


def _compare(stage: Stage, scene: Scene, served: Served, small_server: Served) -> list[Result]:
    """Every measure compares the big space with a small one, in the same database or alone in another."""
    person, (big, small) = scene.people[0], scene.spaces
    here, there = served.connect(person), small_server.connect(person)
    post, small_post = Poster(here, big).post, Poster(here, small).post
    pairs: list[tuple[str, Sampler, Sampler, float | None]] = [
        ("post, large space : small", post, small_post, LIMIT),
        ("post, large database : small", post, Poster(there, small).post, None),
        ("history page, large space : small", _page(here, big), _page(here, small), LIMIT),
        ("list with unread, large : small", _get(here, "/api/spaces"), _get(there, "/api/spaces"), LIMIT),
    ]
    return [_result(stage, *pair) for pair in pairs]


def _result(stage: Stage, name: str, ours: Sampler, floor: Sampler, limit: float | None) -> Result:
    found = compare(ours, floor, stage.rounds, _EACH)
    return Result(name, stage.engine, found.ours, "ms", found.floor, found.ratio, limit)


def _page(connection: Connection, space: str) -> Sampler:
    return _get(connection, f"/api/spaces/{space}/messages?limit=50")


def _get(connection: Connection, path: str) -> Sampler:
    return partial(_timed, connection, connection.get(path))


def _timed(connection: Connection, request: bytes, count: int) -> list[float]:
    return [connection.timed(request) for _ in range(count)]
