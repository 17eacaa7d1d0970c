"""D5: asks on several nodes: two answers at once complete an ask once, and a deadline ends it once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from majlis import clock
from majlis.asks.answer import answer_ask
from majlis.asks.ask import Asking, ask
from majlis.asks.close import expire_asks
from majlis.asks.queries import read_ask
from majlis.entities.caller import Caller
from majlis.entities.entities import add_entity
from majlis.errors import Conflict
from majlis.live.log import read_events
from majlis.spaces.members import add_member
from majlis.spaces.spaces import create_space
from majlis.store.open import open_database
from majlis.store.transactions import Database, Tx


@pytest.fixture
async def nodes(database_url: str) -> AsyncIterator[list[Database]]:
    opened = [open_database(database_url) for _ in range(2)]
    yield opened
    for node in opened:
        await node.close()


def scene(tx: Tx, people: int, round_: int) -> tuple[str, list[Caller]]:
    made = [add_entity(tx, "human", f"Person {round_} {n}") for n in range(people + 1)]
    callers = [Caller(each["id"], each["name"], "human", "member", "") for each in made]
    space = create_space(tx, callers[0], "Releases")["id"]
    for each in callers[1:]:
        add_member(tx, callers[0], space, each.id)
    return space, callers


async def updates(db: Database, space: str) -> list[Any]:
    events = await db.read(read_events, space, 0, 10_000)
    return [each for each in events if each.type == "wait.updated"]


@pytest.mark.parametrize("need", [1, 2])
async def test_d5_answers_at_once_on_two_nodes_complete_it_once(nodes: list[Database], need: int) -> None:
    for n in range(3):
        space, [asker, *people] = await nodes[0].write(scene, 4, n)
        made = await nodes[0].write(ask, asker, Asking(space, "text", "Why?", need=need))
        # Two clicks of each member, on both nodes.
        answers = await asyncio.gather(
            *(
                node.write(answer_ask, each, made["id"], f"{each.name} {click}")
                for each in people
                for click, node in enumerate(nodes)
            ),
            return_exceptions=True,
        )
        assert sum(isinstance(each, Conflict) for each in answers) == 4
        assert sum(isinstance(each, dict) for each in answers) == 4
        found = await nodes[1].read(read_ask, asker, made["id"])
        assert found["status"] == "answered"
        assert [each["late"] for each in found["answers"]] == [False] * need + [True] * (4 - need)
        # Opened, each answer that counted; the last one ended it.
        assert len(await updates(nodes[0], space)) == 1 + need


async def test_d5_the_deadline_and_an_answer_at_once(nodes: list[Database]) -> None:
    for n in range(3):
        space, [asker, sara] = await nodes[0].write(scene, 1, n)
        made = await nodes[0].write(ask, asker, Asking(space, "text", "Why?", within="1 minute"))
        clock.advance(60_000)
        await asyncio.gather(
            nodes[0].write(expire_asks),
            nodes[1].write(answer_ask, sara, made["id"], "So."),
            nodes[1].write(expire_asks),
        )
        found = await nodes[0].read(read_ask, asker, made["id"])
        assert (found["status"], [each["late"] for each in found["answers"]]) == ("expired", [True])
        assert len(await updates(nodes[0], space)) == 2
