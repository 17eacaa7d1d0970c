"""R7: an external session belongs to one agent in one space, enforced by a database constraint."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Conflict, Invalid
from majlis.inbox.deliver import post_message
from majlis.inbox.external_sessions import keep_session
from majlis.spaces.members import leave
from majlis.spaces.post import Draft
from majlis.store.open import open_database
from majlis.store.tables import agents, members
from majlis.store.transactions import Database, Tx
from tests.minds.places import add_agent, space_of
from tests.spaces.actors import add_caller


class Rooms:
    """Husam with the roles agents Coder and Tester and the timeline agent Scout. Coder is also in the other space."""

    def __init__(self, tx: Tx) -> None:
        self.husam = add_caller(tx, "Husam")
        self.coder, self.tester, self.scout = (add_agent(tx, name) for name in ("Coder", "Tester", "Scout"))
        roles = agents.c.id.in_((self.coder.id, self.tester.id))
        tx.execute(agents.update().where(roles).values(config={"mind": "roles"}))
        self.one = space_of(tx, "One", self.husam, self.coder, self.scout)
        self.other = space_of(tx, "Other", self.husam, self.coder)
        self.both = space_of(tx, "Both", self.husam, self.coder, self.tester)


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Database]:
    opened = open_database(database_url)
    yield opened
    await opened.close()


@pytest.fixture
async def rooms(db: Database) -> Rooms:
    return await db.write(Rooms)


def _bound(tx: Tx) -> dict[tuple[str, str], str]:
    rows = tx.all(sa.select(members).where(members.c.session_id.is_not(None)))
    return {(row.entity_id, row.space_id): row.session_id for row in rows}


async def offer(db: Database, sender: Caller, space: str, session: str, **more: object) -> None:
    draft = Draft("go on", session_id=session, **more)  # type: ignore[arg-type]
    await db.write(post_message, sender, space, draft)


async def test_r7_the_session_of_a_message_is_that_of_the_roles_agent_that_hears_it(db: Database, rooms: Rooms) -> None:
    await offer(db, rooms.husam, rooms.one, "s1")
    assert await db.read(_bound) == {(rooms.coder.id, rooms.one): "s1"}
    await offer(db, rooms.husam, rooms.one, "s1")
    await offer(db, rooms.husam, rooms.one, "s2")
    assert await db.read(_bound) == {(rooms.coder.id, rooms.one): "s2"}, "replaced by a newer one"
    await offer(db, rooms.husam, rooms.other, "s1")
    assert await db.read(_bound) == {(rooms.coder.id, rooms.one): "s2", (rooms.coder.id, rooms.other): "s1"}


async def test_r7_a_session_offered_in_a_second_space_is_refused_and_nothing_is_sent(
    db: Database, rooms: Rooms
) -> None:
    await offer(db, rooms.husam, rooms.one, "s1")
    for sender, space in ((rooms.husam, rooms.other), (rooms.coder, rooms.other), (rooms.tester, rooms.both)):
        with pytest.raises(Conflict) as refused:
            await offer(db, sender, space, "s1")
        assert refused.value.code == "session_bound"
    assert await db.read(_bound) == {(rooms.coder.id, rooms.one): "s1"}
    heads = await db.read(lambda tx: tx.all(sa.text("SELECT head_seq FROM spaces ORDER BY name")))
    assert sorted(row.head_seq for row in heads) == [0, 0, 1]


async def test_r7_an_agents_own_session_is_its_own(db: Database, rooms: Rooms) -> None:
    await offer(db, rooms.tester, rooms.both, "t1")
    assert await db.read(_bound) == {(rooms.tester.id, rooms.both): "t1"}
    # Only its agent can continue it.
    await offer(db, rooms.husam, rooms.both, "t1", mentions=[rooms.tester.id])
    assert await db.read(_bound) == {(rooms.tester.id, rooms.both): "t1"}


async def test_r7_a_session_for_several_agents_needs_a_mention(db: Database, rooms: Rooms) -> None:
    with pytest.raises(Invalid) as refused:
        await offer(db, rooms.husam, rooms.both, "s1")
    assert refused.value.code == "session_ambiguous"
    await offer(db, rooms.husam, rooms.both, "s1", mentions=[rooms.tester.id])
    assert await db.read(_bound) == {(rooms.tester.id, rooms.both): "s1"}
    with pytest.raises(Conflict, match="mention Tester"):
        await offer(db, rooms.husam, rooms.both, "s1", mentions=[rooms.coder.id])


async def test_r7_if_two_spaces_offer_one_session_at_once_one_is_refused(db: Database, rooms: Rooms) -> None:
    offers = (offer(db, rooms.husam, space, "s1") for space in (rooms.one, rooms.other))
    outcomes = await asyncio.gather(*offers, return_exceptions=True)
    assert sorted(type(each).__name__ for each in outcomes) == ["Conflict", "NoneType"]
    assert len(await db.read(_bound)) == 1


async def test_r7_the_session_of_a_response_is_kept_only_if_no_other_agent_has_it(db: Database, rooms: Rooms) -> None:
    assert await db.write(keep_session, rooms.one, rooms.coder.id, "s1")
    assert await db.write(keep_session, rooms.one, rooms.coder.id, "s1")
    assert not await db.write(keep_session, rooms.other, rooms.coder.id, "s1")
    assert not await db.write(keep_session, rooms.both, rooms.tester.id, "s1")
    assert await db.read(_bound) == {(rooms.coder.id, rooms.one): "s1"}


async def test_r7_an_agent_that_leaves_loses_its_session(db: Database, rooms: Rooms) -> None:
    await offer(db, rooms.husam, rooms.one, "s1")
    await db.write(leave, rooms.one, rooms.coder.id)
    await offer(db, rooms.husam, rooms.other, "s1")
    assert await db.read(_bound) == {(rooms.coder.id, rooms.other): "s1"}
