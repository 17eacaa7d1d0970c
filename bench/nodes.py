"""Posts into one space through two nodes on one PostgreSQL database, against one node."""

from __future__ import annotations

import asyncio
from statistics import median

import asyncpg

from bench.posting import CLIENTS, Poster, post_at_once
from bench.results import Result
from bench.scenes import Scene, set_scene
from bench.servers import Served, serve
from bench.stage import Stage

LEAST = 1.3
_EACH = CLIENTS * 12


def measure(stage: Stage) -> list[Result]:
    if stage.engine == "sqlite":
        return []
    scene = set_scene(stage)
    with serve(scene) as one, serve(scene) as other:
        alone, both = _posters(scene, one, one), _posters(scene, one, other)
        post_at_once(alone, _EACH), post_at_once(both, _EACH)
        pairs = [(post_at_once(alone, _EACH), post_at_once(both, _EACH)) for _ in range(stage.rounds // 2)]
    asyncio.run(_check_numbers(scene))
    one_node, two_nodes = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(mine / other for mine, other in pairs)
    name = f"posts into one space, {CLIENTS} clients, two nodes : one"
    return [Result(name, stage.engine, 1 / two_nodes, "/s", peer=1 / one_node, ratio=ratio, least=LEAST)]


def _posters(scene: Scene, one: Served, other: Served) -> list[Poster]:
    nodes = [one, other] * (CLIENTS // 2)
    return [Poster(node.connect(scene.people[0]), scene.spaces[0]) for node in nodes]


async def _check_numbers(scene: Scene) -> None:
    db = await asyncpg.connect(scene.url)
    count, last = await db.fetchrow("SELECT count(*), max(seq) FROM messages WHERE space_id = $1", scene.spaces[0])
    await db.close()
    assert count == last, f"{count} messages have numbers up to {last}"
