"""How many round trips to PostgreSQL one message and its answer take (docs/store.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from majlis.settings import Settings
from tests.model_server import say, sequence, silent
from tests.runs.house import House, open_house
from tests.wire import Transaction, Wire

# A claim after a poll also looks for runs to continue: one more than after a wake-up.
MOST = {"post": 2, "claim": 5, "send": 2, "settle": 2}

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)


@pytest.fixture
async def wire(database_url: str) -> AsyncIterator[Wire]:
    async with Wire(database_url) as wire:
        yield wire


@pytest.fixture
async def house(settings: Settings, wire: Wire) -> AsyncIterator[House]:
    async with open_house(settings.model_copy(update={"database_url": wire.url})) as house:
        yield house


async def test_one_message_and_its_answer_take_few_round_trips(house: House, wire: Wire) -> None:
    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(say("Yes."), silent(), say("Here I am."), silent())
    # The first run of an agent loads its config.
    await house.owner.say(space, "Is anyone here?")
    await house.until_idle()
    wire.transactions.clear()
    await house.owner.say(space, "Scout, are you there?")
    await house.until_idle()
    assert (await house.texts(space))[-1] == ("Scout", "Here I am.")
    found = {kind: only(wire, *words) for kind, words in _KINDS.items()}
    counts = {kind: len(transaction.trips) for kind, transaction in found.items()}
    listed = "\n\n".join(
        "\n".join(f"{n} {each[:100]}" for n, trip in enumerate(one.trips) for each in trip) for one in found.values()
    )
    assert all(counts[kind] <= most for kind, most in MOST.items()), f"{counts}\n{listed}"


_KINDS = {
    "post": ("INSERT INTO messages", "INSERT INTO deliveries"),
    "claim": ("INSERT INTO runs",),
    "send": ("INSERT INTO messages", "INSERT INTO steps"),
    "settle": ("INSERT INTO steps", "UPDATE deliveries"),
}


def only(wire: Wire, *words: str) -> Transaction:
    [found] = [each for each in wire.transactions if each.does(*words)]
    return found
