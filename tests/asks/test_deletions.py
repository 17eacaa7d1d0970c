"""D5, L2, W9: deleted questions and answers of asks, and their copies."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from majlis.erase import erase_next
from majlis.store.tables import ask_answers, asks, events, messages, metadata
from majlis.store.transactions import Tx
from tests.api.test_bad_input import assert_error
from tests.asks.asking import asked, give, message_of, read
from tests.conditions import until
from tests.world import World

SECRET = "the launch code is 8731-swordfish"


async def copies(world: World, text: str) -> list[str]:
    """The tables with this text, apart from the erasure's own queue."""

    def look(tx: Tx) -> list[str]:
        return [
            table.name
            for table in metadata.sorted_tables
            if table.name != "erasures" and any(text in str(tuple(row)) for row in tx.all(sa.select(table)))
        ]

    return await world.gateway.db.read(look)


async def erased(world: World, text: str) -> None:
    async def gone() -> bool:
        await erase_next(world.gateway.db)
        return await copies(world, text) == []

    await until(gone)


async def test_d5_l2_a_deleted_answer_no_longer_counts_and_is_gone_everywhere(world: World) -> None:
    ci, sara, bob = await world.person("CI", "service"), await world.person("Sara"), await world.person("Bob")
    space = await world.owner.create_space("Releases", ci, sara, bob)
    ask = await asked(ci, space, kind="text", question="Why?", options=None, need=2)
    answer = await sara.say(space, SECRET, replyTo=ask["messageId"])
    assert len((await read(ci, ask))["answers"]) == 1
    assert set(await copies(world, SECRET)) >= {"messages", "ask_answers", "events"}
    await sara.ok("DELETE", f"/api/messages/{answer['id']}")
    assert (await read(ci, ask))["answers"] == []
    assert (await message_of(bob, ask))["tool"]["ask"]["answers"] == []
    await erased(world, SECRET)
    # She may answer again.
    assert (await give(sara, ask, "So.")).status_code == 200
    assert (await give(bob, ask, "Because.")).status_code == 200
    assert (await read(ci, ask))["status"] == "answered"


async def test_d5_l2_the_text_of_an_answer_that_has_counted_is_gone(world: World) -> None:
    ci, sara = await world.person("CI", "service"), await world.person("Sara")
    space = await world.owner.create_space("Releases", ci, sara)
    ask = await asked(ci, space, kind="text", question="Why?", options=None)
    answer = await sara.say(space, SECRET, replyTo=ask["messageId"])
    await sara.ok("DELETE", f"/api/messages/{answer['id']}")
    found = await read(ci, ask)
    assert (found["status"], [each["result"] for each in found["answers"]]) == ("answered", [None])
    assert (await message_of(sara, ask))["tool"]["output"] is None
    await erased(world, SECRET)


async def test_d5_l2_a_deleted_question_ends_the_ask(world: World) -> None:
    """By its asker or an admin of the space. Its answers go with it."""
    ci, sara = await world.person("CI", "service"), await world.person("Sara")
    space = await world.owner.create_space("Releases", ci, sara)
    ask = await asked(ci, space, question=SECRET, options=[f"{SECRET} a", f"{SECRET} b"], need=2)
    await give(sara, ask, f"{SECRET} a")
    assert_error(await sara.delete(f"/api/messages/{ask['messageId']}"), 403, "not_the_author")
    async with sara.follow(space) as stream:
        gone = await ci.ok("DELETE", f"/api/messages/{ask['messageId']}")
        assert (await stream.until("wait.updated")).data["open"] is False
    assert (gone["kind"], gone["text"], "tool" in gone, bool(gone["deletedAt"])) == ("text", "", False, True)
    found = await read(ci, ask)
    assert (found["status"], found["reason"], found["question"], found["answers"]) == ("expired", "deleted", "", [])
    assert_error(await give(sara, ask, "x"), 409, "withdrawn")
    assert (await sara.ok("GET", "/api/waits"))["waits"] == []
    await erased(world, SECRET)
    over = await asked(ci, space, question=SECRET)
    await give(sara, over, "yes")
    await world.owner.ok("DELETE", f"/api/messages/{over['messageId']}")
    assert ((await read(ci, over))["status"], (await read(ci, over))["answers"]) == ("answered", [])
    await erased(world, SECRET)


async def test_d5_old_rows_of_deleted_spaces_are_removed(world: World) -> None:
    from majlis.janitor import delete_messages_of_deleted_spaces

    ci = await world.person("CI", "service")
    space = await world.owner.create_space("Releases", ci)
    await give(world.owner, await asked(ci, space), "yes")
    await world.owner.ok("DELETE", f"/api/spaces/{space}")
    await world.gateway.db.write(delete_messages_of_deleted_spaces, -1)

    def left(tx: Tx) -> list[Any]:
        return [row for table in (asks, ask_answers, messages) for row in tx.all(sa.select(table))]

    assert [row for row in await world.gateway.db.read(left) if getattr(row, "space_id", None) == space] == []
    assert events is not None
