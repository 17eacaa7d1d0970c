"""The cost of durability on SQLite (synchronous FULL against NORMAL), and how much of it group commit saves."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from bench.floors import open_floor
from bench.posting import CLIENTS, Poster, post_at_once
from bench.results import Result
from bench.rounds import compare
from bench.scenes import Scene, set_scene
from bench.servers import serve
from bench.stage import Stage

_EACH = 25
_ONE_BY_ONE = "import majlis.store.sqlite; majlis.store.sqlite._BATCH = 1"


def measure(stage: Stage) -> list[Result]:
    if stage.engine != "sqlite":
        return []
    return [_full_against_normal(stage), _together_against_one_by_one(stage)]


def _full_against_normal(stage: Stage) -> Result:
    scene = set_scene(stage)
    other = stage.copy(scene.url)
    with open_floor("sqlite", scene, scene.url) as full, open_floor("sqlite", scene, other, "NORMAL") as normal:
        found = compare(full.write, normal.write, stage.rounds, _EACH)
    return Result("driver's transaction, FULL : NORMAL", "sqlite", found.ours, "ms", found.floor, found.ratio)


def _together_against_one_by_one(stage: Stage) -> Result:
    scene = set_scene(stage, spaces=CLIENTS)
    other = Scene(stage.copy(scene.url), scene.folder, scene.people, scene.spaces)
    with ExitStack() as stack:
        together, one_by_one = (
            [Poster(served.connect(scene.people[0]), space) for space in scene.spaces]
            for served in (stack.enter_context(serve(scene)), stack.enter_context(serve(other, altered=_ONE_BY_ONE)))
        )
        count = CLIENTS * 12
        pairs = [(post_at_once(together, count), post_at_once(one_by_one, count)) for _ in range(stage.rounds)]
    ours, floor = (median(times) * 1000 for times in zip(*pairs, strict=True))
    ratio = median(mine / other for mine, other in pairs)
    return Result(f"{CLIENTS} clients, together : one by one", "sqlite", ours, "ms", floor, ratio)
