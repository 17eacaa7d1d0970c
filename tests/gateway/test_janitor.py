"""The janitor deletes expired rows and keeps those in use."""

from __future__ import annotations

import sqlalchemy as sa

from majlis import clock, janitor
from majlis.store.tables import events, messages, spaces, tokens
from majlis.store.transactions import Tx
from tests.world import World

HOUR = 3_600_000


def counts(tx: Tx) -> dict[str, int]:
    return {
        table.name: tx.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
        for table in (events, messages, tokens)
    }


async def test_sweeping_takes_old_events_ended_tokens_and_messages_of_deleted_spaces(world: World) -> None:
    gone, stays = await world.owner.create_space("Gone"), await world.owner.create_space("Stays")
    sara = await world.person("Sara")
    for n in range(3):
        await world.owner.say(gone, f"g{n}")
        await world.owner.say(stays, f"s{n}")
    await world.owner.ok("DELETE", f"/api/spaces/{gone}")
    await world.owner.ok("DELETE", f"/api/entities/{sara.id}")
    db, settings = world.gateway.db, world.gateway.settings
    assert await janitor.clean(db, settings) == 0

    long_ago = clock.now() - 1000 * HOUR

    def age(tx: Tx) -> None:
        tx.execute(events.update().where(events.c.topic == stays, events.c.seq <= 2).values(at=long_ago))
        tx.execute(spaces.update().where(spaces.c.id == gone).values(deleted_at=long_ago))
        tx.execute(tokens.update().where(tokens.c.entity_id == sara.id).values(ended_at=long_ago))

    before = await db.read(counts)
    await db.write(age)
    assert await janitor.clean(db, settings) == 2 + 3 + 1
    after = await db.read(counts)
    assert {name: before[name] - after[name] for name in before} == {"events": 2, "messages": 3, "tokens": 1}
    assert [message["text"] for message in (await world.owner.history(stays))["messages"]] == ["s0", "s1", "s2"]
    assert (await world.owner.ok("GET", "/api/search", q="g1"))["messages"] == []
