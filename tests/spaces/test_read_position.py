"""C4: read positions and unread counts."""

from __future__ import annotations

import asyncio
import random

import pytest

from majlis.entities.caller import Caller
from majlis.errors import Invalid, NotFound
from majlis.spaces.history import read_page
from majlis.spaces.members import join, leave
from majlis.spaces.post import Draft
from majlis.spaces.queries import list_spaces
from majlis.spaces.read_position import mark_read
from majlis.store.transactions import Database
from tests.spaces.actors import callers, post, space_of

STEPS = 2_000


async def test_c4_unread_counts_equal_a_count_by_hand_after_every_random_step(db: Database) -> None:
    """Brute force: counts the messages of others after the position."""
    chance = random.Random(11)
    people = await callers(db, "Husam", "Sara", "Ahmad", "Mona")
    spaces = [await space_of(db, people[0], *people[1:]) for _ in range(3)]
    said: dict[str, list[tuple[str, str]]] = {space: [] for space in spaces}
    position = {(space, person.id): 0 for space in spaces for person in people}

    for step in range(STEPS):
        space, person = chance.choice(spaces), chance.choice(people)
        inside = (space, person.id) in position
        what = chance.random()
        if what < 0.55 and inside:
            message, _ = await post(db, person, space, Draft(f"step {step}"))
            said[space].append((message["id"], person.id))
            position[space, person.id] = len(said[space])
        elif what < 0.85 and inside and said[space]:
            index = chance.randrange(len(said[space]))
            await db.write(mark_read, person, space, said[space][index][0])
            position[space, person.id] = max(position[space, person.id], index + 1)
        elif what < 0.95 and person is not people[0]:
            if inside:
                await db.write(leave, space, person.id)
                del position[space, person.id]
            else:
                await db.write(join, space, person.id, "member")
                position[space, person.id] = len(said[space])
        if step % 10 == 0 or step > STEPS - 20:
            for one in people:
                await _compare(db, one, said, position)


async def _compare(
    db: Database, person: Caller, said: dict[str, list[tuple[str, str]]], position: dict[tuple[str, str], int]
) -> None:
    listed = {space["id"]: space for space in await db.read(list_spaces, person)}
    assert listed.keys() == {space for space, member in position if member == person.id}
    for space_id, space in listed.items():
        after = said[space_id][position[space_id, person.id] :]
        assert space["unreadCount"] == sum(sender != person.id for _, sender in after)
        at = position[space_id, person.id]
        assert space["lastSeenMessageId"] == (said[space_id][at - 1][0] if at else None)
        last = space["lastMessage"]
        assert (last["id"] if last else None) == (said[space_id][-1][0] if said[space_id] else None)


async def test_c4_moves_from_several_tabs_at_once_end_at_the_maximum(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    ids = [(await post(db, husam, space, Draft(f"m{n}")))[0]["id"] for n in range(40)]
    for _ in range(3):
        shuffled = ids[5:37]
        random.Random(3).shuffle(shuffled)
        await asyncio.gather(*(db.write(mark_read, sara, space, id) for id in shuffled))
    (listed,) = await db.read(list_spaces, sara)
    assert listed["lastSeenMessageId"] == ids[36]
    assert listed["unreadCount"] == 3


async def test_c4_reading_an_older_message_moves_nothing_back_and_tells_where_one_is(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    ids = [(await post(db, husam, space, Draft(f"m{n}")))[0]["id"] for n in range(3)]
    assert await db.write(mark_read, sara, space, ids[1]) == {"lastSeenMessageId": ids[1], "unreadCount": 1}
    assert await db.write(mark_read, sara, space, ids[0]) == {"lastSeenMessageId": ids[1], "unreadCount": 1}


async def test_unread_messages_that_mention_a_person_are_numbered_until_they_are_read(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space, other = await space_of(db, husam, sara), await space_of(db, husam, sara)
    for text in ("plain", "@Sara look", "@Husam myself", "@Sara and @Husam"):
        message, _ = await post(db, husam, space, Draft(text))

    async def numbered(person: Caller) -> dict[str, list[int]]:
        return {each["id"]: each["unreadMentions"] for each in await db.read(list_spaces, person)}

    assert await numbered(sara) == {space: [2, 4], other: []}
    # His own messages are not unread.
    assert await numbered(husam) == {space: [], other: []}
    await db.write(mark_read, sara, space, message["id"])
    assert await numbered(sara) == {space: [], other: []}


async def test_a_position_can_only_be_a_message_of_the_space(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    here, elsewhere = await space_of(db, husam, sara), await space_of(db, husam)
    foreign, _ = await post(db, husam, elsewhere, Draft("not for Sara"))
    with pytest.raises(Invalid):
        await db.write(mark_read, sara, here, foreign["id"])
    with pytest.raises(NotFound):
        await db.write(mark_read, sara, elsewhere, foreign["id"])


async def test_a_newcomer_has_the_history_but_nothing_unread(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam)
    for n in range(3):
        await post(db, husam, space, Draft(f"m{n}"))
    await db.write(join, space, sara.id, "member")
    (listed,) = await db.read(list_spaces, sara)
    assert listed["unreadCount"] == 0
    assert len((await db.read(read_page, sara, space))["messages"]) == 3
