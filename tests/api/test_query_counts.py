"""How many statements each request costs, including the lookup of its token."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from majlis.store.tables import members, spaces
from majlis.store.transactions import Tx
from tests.world import World

T = TypeVar("T")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers, whose polling would be counted too."""
    return settings.model_copy(update={"workers": 0})


# The gateway's own rounds, which belong to no request.
_ROUNDS = {"janitor", "clock", "erasure", "audit", "webhooks", "pushes"}


@pytest.fixture(autouse=True)
async def no_rounds(world: World) -> None:
    for task in asyncio.all_tasks():
        if task.get_name() in _ROUNDS:
            task.cancel()


@contextmanager
def counted(world: World) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        # The looks for deleted messages and webhooks, and the hub's poll of the log, once a second, belong to no
        # request.
        if statement.startswith("SELECT") and any(name in statement for name in ("FROM erasures", "outgoing_webhooks")):
            return
        if "event_seq" not in statement or "members" in statement or not statement.startswith("SELECT"):
            statements.append(statement)

    engine = world.gateway.db.engine
    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


async def fewest(world: World, request: Callable[[], Awaitable[T]]) -> tuple[T, list[str]]:
    """The result of a request that changes nothing, and its statements. The gateway's own rounds are counted too when
    they fall between them, so it is made three times."""
    counts: list[list[str]] = []
    for _ in range(3):
        with counted(world) as statements:
            result = await request()
        counts.append(statements)
    return result, min(counts, key=len)


async def test_hot_paths_cost_few_statements_whatever_the_size(world: World) -> None:
    sara = await world.person("Sara")
    spaces = [await world.owner.create_space(f"Space {n}", sara) for n in range(25)]
    for n in range(12):
        message = await world.owner.say(spaces[0], f"m{n}")
    path = f"/api/spaces/{spaces[0]}"
    expected = [
        (3, "GET", f"{path}/messages?limit=5", None),
        (3, "GET", f"{path}/messages?before={message['id']}", None),
        (3, "GET", "/api/spaces", None),
        (3, "GET", path, None),
        (2, "GET", f"/api/messages/{message['id']}", None),
        (2, "GET", "/api/search?q=m1", None),
        (6, "POST", f"{path}/messages", {"text": "hello", "clientId": "c1"}),
        (5, "POST", f"{path}/read", {"lastMessageId": message["id"]}),
    ]
    await sara.say(spaces[1], "so that her token is known")
    for count, method, url, body in expected:
        with counted(world) as statements:
            assert (await sara.http.request(method, url, json=body)).is_success
        assert len(statements) <= count, (method, url, statements)


async def test_a_page_of_ten_thousand_spaces_takes_three_statements_and_all_pages_have_each_space_once(
    world: World,
) -> None:
    def fill(tx: Tx) -> None:
        """Ten spaces at a time share their last activity."""
        made = [f"spc_{n:016d}" for n in range(10_000)]
        rows = [{"id": id, "name": id, "event_at": n // 10, "created_at": 0} for n, id in enumerate(made)]
        tx.execute(spaces.insert(), rows)
        mine = {"entity_id": world.owner.id, "role": "admin", "joined_at": 0}
        tx.execute(members.insert(), [{"space_id": id, **mine} for id in made])

    await world.gateway.db.write(fill)
    await world.owner.ok("GET", "/api/me")
    first, statements = await fewest(world, lambda: world.owner.ok("GET", "/api/spaces", limit=50))
    assert len(statements) <= 3, statements
    assert [space["id"] for space in first[:11]] == [f"spc_{n:016d}" for n in (*range(9990, 10_000), 9980)]
    assert [[member["id"] for member in space["members"]] for space in first] == [[world.owner.id]] * 50
    page, found = first[-1:], [space["id"] for space in first]
    while page:
        page = await world.owner.ok("GET", "/api/spaces", limit=1000, after=page[-1]["id"])
        found += [space["id"] for space in page]
    assert len(found) == len(set(found)) == 10_000
