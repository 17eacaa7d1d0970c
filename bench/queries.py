"""How many SQL statements one request takes, from its token to its answer."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from bench.results import Result
from bench.stage import Stage
from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.settings import Settings
from majlis.spaces.members import add_member
from majlis.spaces.post import Draft
from majlis.spaces.spaces import create_space
from majlis.store.transactions import Tx
from tests.api.test_query_counts import fewest
from tests.world import Person, serve_world

LIMIT = 3
SPACES = 1000
_MESSAGES = 60


def measure(stage: Stage) -> list[Result]:
    counts = asyncio.run(_count(stage.fresh(), Path(tempfile.mkdtemp(dir=stage.folder))))
    return [
        Result(f"statements: {name}", stage.engine, count, "statements", limit=limit) for name, count, limit in counts
    ]


async def _count(url: str, folder: Path) -> list[tuple[str, int, int | None]]:
    async with serve_world(Settings(database_url=url, data_dir=folder, port=0, workers=0)) as world:
        reader = await world.person("Reader")
        space, middle = await world.gateway.db.write(_fill, _caller(world.owner), _caller(reader))
        asked: list[tuple[str, Callable[[], Awaitable[object]], int | None]] = [
            ("history page", lambda: _history(reader, space), LIMIT),
            ("history page, before=", lambda: _history(reader, space, before=middle), LIMIT),
            (f"list of {SPACES} spaces, unread", lambda: _list(reader), LIMIT),
            ("post", lambda: reader.say(space, "hello"), None),
        ]
        return [(name, len((await fewest(world, request))[1]), limit) for name, request, limit in asked]


async def _history(reader: Person, space: str, **params: str) -> None:
    page = await reader.history(space, **params)
    assert page["total"] == _MESSAGES
    assert len(page["messages"]) >= _MESSAGES // 2 - 1


async def _list(reader: Person) -> None:
    spaces = await reader.ok("GET", "/api/spaces")
    assert len(spaces) == SPACES
    assert all(space["unreadCount"] for space in spaces)


def _fill(tx: Tx, owner: Caller, reader: Caller) -> tuple[str, str]:
    """A thousand spaces with something unread in each; one space with a few pages, and a message in its middle."""
    # An admin may have more spaces than a member, and add people to more.
    admin = replace(owner, role="admin")
    made = [create_space(tx, admin, f"Space {number}")["id"] for number in range(SPACES)]
    for space in made:
        add_member(tx, admin, space, reader.id)
        post_message(tx, owner, space, Draft("hello"))
    more = [post_message(tx, owner, made[0], Draft(f"message {number}")) for number in range(_MESSAGES - 1)]
    return made[0], more[_MESSAGES // 2]["id"]


def _caller(person: Person) -> Caller:
    return Caller(person.id, person.name, "human", "member", "bench")


@contextmanager
def statements(engine: sa.Engine) -> Iterator[list[str]]:
    seen: list[str] = []

    def note(conn: Any, cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    sa.event.listen(engine, "before_cursor_execute", note)
    yield seen
    sa.event.remove(engine, "before_cursor_execute", note)
