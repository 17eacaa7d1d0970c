"""Posting: numbers without gaps in commit order, repeats that return the first message, and all or nothing."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest
import sqlalchemy as sa

from majlis.entities.caller import Caller
from majlis.errors import Forbidden, Invalid, NotFound
from majlis.inbox.deliver import post_message
from majlis.spaces.history import read_page
from majlis.spaces.members import add_member, leave, remove_member
from majlis.spaces.post import Draft, store_message
from majlis.store.tables import events, members, messages, spaces
from majlis.store.transactions import Database, Tx
from tests.minds.forgeries import LINE_ENDS
from tests.minds.places import add_agent
from tests.spaces.actors import add_caller, callers, post, space_of


async def test_messages_are_numbered_from_one_without_holes(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    posted = await asyncio.gather(*(post(db, (husam, sara)[n % 2], space, Draft(f"m{n}")) for n in range(60)))
    assert sorted(message["seq"] for message, _ in posted) == list(range(1, 61))
    page = await db.read(read_page, husam, space, 100)
    assert [message["seq"] for message in page["messages"]] == list(range(1, 61))
    assert page["total"] == 60


async def test_m16_a_repeated_client_id_finds_the_first_message_at_any_concurrency(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    results = await asyncio.gather(*(post(db, husam, space, Draft(f"try {n}", client_id="c1")) for n in range(50)))
    assert len({message["id"] for message, _ in results}) == 1
    assert [new for _, new in results].count(True) == 1
    other, new = await post(db, sara, space, Draft("mine", client_id="c1"))
    assert new
    assert other["seq"] == 2
    again, new = await post(db, husam, space, Draft("much later", client_id="c1"))
    assert not new
    assert again["id"] == results[0][0]["id"]


async def test_m16_a_repeated_client_id_finds_the_first_message_whatever_has_changed_since(db: Database) -> None:
    """A repeat after the mentioned member had left, or after the sender became a viewer, used to be refused."""
    husam, sara, noor = await callers(db, "Husam", "Sara", "Noor")
    space = await space_of(db, husam, sara, noor)
    draft = Draft("Sara?", client_id="c1", mentions=[sara.id])
    first, _ = await post(db, noor, space, draft)
    await db.write(remove_member, husam, space, sara.id)
    assert await post(db, noor, space, draft) == (first, False)
    await db.write(add_member, husam, space, noor.id, "viewer")
    assert await post(db, noor, space, draft) == (first, False)
    with pytest.raises(Forbidden):
        await post(db, noor, space, Draft("new", client_id="c2"))
    with pytest.raises(Invalid):
        await post(db, husam, space, draft)


async def test_a_repeated_or_refused_post_uses_no_number_and_moves_no_cursor(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    outsider = await db.write(add_caller, "Eve")
    space = await space_of(db, husam, sara)
    await post(db, husam, space, Draft("one", client_id="c1"))
    before = await db.read(_state, space)
    await post(db, husam, space, Draft("one", client_id="c1"))
    refused: list[tuple[Draft, type[Exception]]] = [
        (Draft("x", reply_to="msg_0000000000000000"), Invalid),
        (Draft("x", mentions=["ent_0000000000000000"]), Invalid),
        (Draft(" \n"), Invalid),
        (Draft("a\x00b"), Invalid),
        (Draft("x" * 65_537), Invalid),
        (Draft("ü" * 32_769), Invalid),
    ]
    for draft, error in refused:
        with pytest.raises(error):
            await post(db, sara, space, draft)
    with pytest.raises(NotFound):
        await post(db, outsider, space, Draft("let me in"))
    with pytest.raises(NotFound):
        await post(db, husam, "spc_0000000000000000", Draft("hello?"))
    assert await db.read(_state, space) == before


async def test_a_viewer_may_not_post(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam)
    await db.write(add_member, husam, space, sara.id, "viewer")
    with pytest.raises(Forbidden):
        await post(db, sara, space, Draft("hello"))


async def test_readers_that_follow_seq_skip_nothing_while_writers_pause_before_their_commit(db: Database) -> None:
    """Numbers of a sequence commit out of order, so `seq > cursor` skips rows. Ours are assigned under the lock."""
    chance = random.Random(7)

    def post_slowly(tx: Tx, sender: Caller, draft: Draft) -> None:
        store_message(tx, sender, space, draft)
        seconds = chance.choice((0.0, 0.0, 0.002, 0.01))
        if tx.dialect == "postgresql":
            tx.execute(sa.text("SELECT pg_sleep(:seconds)"), {"seconds": seconds})
        else:
            threading.Event().wait(seconds)

    people = await callers(db, *(f"Writer {n}" for n in range(6)))
    space = await space_of(db, people[0], *people[1:])
    total = 180
    finished = asyncio.Event()

    async def follow() -> list[int]:
        seen: list[int] = []
        cursor: str | None = None
        while len(seen) < total:
            ended = finished.is_set()
            page = await db.read(read_page, people[0], space, 7 if cursor else 200, None, cursor)
            seen += [message["seq"] for message in page["messages"]]
            cursor = page["messages"][-1]["id"] if page["messages"] else cursor
            if ended and not page["messages"]:
                break
        return seen

    async def write(writer: int) -> None:
        for n in range(total // len(people)):
            await db.write_brief(post_slowly, people[writer], Draft(f"{writer}.{n}"))

    followers = [asyncio.create_task(follow()) for _ in range(3)]
    await asyncio.gather(*(write(n) for n in range(len(people))))
    finished.set()
    for seen in await asyncio.gather(*followers):
        assert seen == list(range(1, total + 1))


async def test_deliveries_are_written_in_the_transaction_of_the_post(db: Database) -> None:
    """A failed delivery rolls back the message, its number and its event."""
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam, await db.write(add_agent, "Scout"))
    before = await db.read(_state, space)

    def fail(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.upper().startswith("INSERT INTO DELIVERIES"):
            raise RuntimeError("the disk is full")

    sa.event.listen(db.engine, "before_cursor_execute", fail)
    with pytest.raises(RuntimeError, match="the disk is full"):
        await db.write_brief(post_message, husam, space, Draft("hello"))
    assert await db.read(_state, space) == before


async def test_a7_a_member_removed_while_posting_waits_for_the_lock_cannot_post(db: Database) -> None:
    """With concurrent removal and posts, every stored message is from a member, so none follows the leaving."""
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    results = await asyncio.gather(
        *(post(db, sara, space, Draft(f"m{n}")) for n in range(10)),
        db.write(leave, space, sara.id),
        *(post(db, sara, space, Draft(f"late {n}")) for n in range(10)),
        return_exceptions=True,
    )
    statement = sa.select(events.c.type).where(events.c.topic == space).order_by(events.c.seq)
    log = await db.read(lambda tx: [row.type for row in tx.all(statement)])
    assert log[-1] == "space.member.left"
    stored = [result for result in results if isinstance(result, tuple)]
    assert log.count("space.message") == len(stored)
    assert all(isinstance(result, (tuple, NotFound)) or result is None for result in results)


async def test_t6_an_agent_never_posts_at_depth_zero(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    bot = await db.write(add_caller, "Bot", "agent")
    space = await space_of(db, husam, bot)
    assert (await post(db, husam, space, Draft("hi")))[0]["chainDepth"] == 0
    assert (await post(db, bot, space, Draft("hi")))[0]["chainDepth"] == 1
    assert (await post(db, bot, space, Draft("hi", chain_depth=4)))[0]["chainDepth"] == 4


async def test_t6_a_message_with_an_agents_token_continues_its_chain(db: Database) -> None:
    """Its depth used to be 1 always: two programs, or a program and an agent, never reached the limit."""
    (husam,) = await callers(db, "Husam")
    one, two = await db.write(add_caller, "One", "agent"), await db.write(add_caller, "Two", "agent")
    space = await space_of(db, husam, one, two)

    async def depth(sender: Caller, reply_to: str | None = None) -> int:
        message, _ = await post(db, sender, space, Draft("hi", reply_to=reply_to))
        return message["chainDepth"]

    asked, _ = await post(db, husam, space, Draft("begin"))
    assert [await depth(who) for who in (one, one, two, one, two, two, one)] == [1, 1, 2, 3, 4, 4, 5]
    deep, _ = await post(db, two, space, Draft("hi", chain_depth=3))
    assert [await depth(one, deep["id"]), await depth(one, asked["id"])] == [4, 1]
    assert [await depth(husam), await depth(two)] == [0, 1]


async def test_t6_a_service_brings_news_and_its_reply_is_part_of_the_chain(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    bot, shop = await db.write(add_caller, "Bot", "agent"), await db.write(add_caller, "Shop", "service")
    space = await space_of(db, husam, bot, shop)
    said, _ = await post(db, bot, space, Draft("status?", chain_depth=3))
    news, _ = await post(db, shop, space, Draft("sold out"))
    reply, _ = await post(db, shop, space, Draft("closed", reply_to=said["id"]))
    assert (news["chainDepth"], reply["chainDepth"]) == (0, 4)


async def test_x9_every_text_that_can_be_stored_can_be_posted(db: Database) -> None:
    """Control characters used to be refused, although all our readers escape them."""
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    text = "".join(map(chr, range(1, 0xA0))) + "".join(LINE_ENDS) + "\u202e\u2066\u200b\ufeff"
    said, _ = await post(db, husam, space, Draft(text))
    assert [message["text"] for message in (await db.read(read_page, husam, space, 1))["messages"]] == [said["text"]]
    assert said["text"] == text


async def test_posting_takes_few_statements(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    statements: list[str] = []

    @sa.event.listens_for(db.engine, "before_cursor_execute")
    def count(_c: object, _cur: object, statement: str, *_: object) -> None:
        statements.append(statement.split()[0].upper())

    await post(db, husam, space, Draft("hello", client_id="c1"))
    number = ["WITH"] if db.dialect == "postgresql" else ["UPDATE", "UPDATE"]
    assert statements == [*number, "INSERT", "INSERT", "INSERT"]


def _state(tx: Tx, space_id: str) -> list[object]:
    return [
        [tuple(row) for row in tx.all(sa.select(spaces).where(spaces.c.id == space_id))],
        [tuple(row) for row in tx.all(sa.select(members).order_by(members.c.space_id, members.c.entity_id))],
        [tuple(row) for row in tx.all(sa.select(messages.c.id).order_by(messages.c.id))],
        [tuple(row) for row in tx.all(sa.select(events.c.topic, events.c.seq).order_by(events.c.topic, events.c.seq))],
    ]
