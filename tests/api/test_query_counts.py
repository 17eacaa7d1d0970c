"""How many statements each request costs, including the lookup of its token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from majlis.settings import Settings
from tests.world import World


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers, whose polling would be counted too."""
    return settings.model_copy(update={"workers": 0})


@contextmanager
def counted(world: World) -> Iterator[list[str]]:
    statements: list[str] = []

    def note(_c: object, _cur: object, statement: str, *_: object) -> None:
        # The hub's poll of the log, once a second, belongs to no request.
        if "event_seq" not in statement or "members" in statement or not statement.startswith("SELECT"):
            statements.append(statement)

    engine = world.gateway.db.engine
    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


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
        (5, "POST", f"{path}/messages", {"text": "hello", "clientId": "c1"}),
        (5, "POST", f"{path}/read", {"lastMessageId": message["id"]}),
    ]
    await sara.say(spaces[1], "so that her token is known")
    for count, method, url, body in expected:
        with counted(world) as statements:
            assert (await sara.http.request(method, url, json=body)).is_success
        assert len(statements) <= count, (method, url, statements)
