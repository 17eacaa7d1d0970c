"""Keyset pages contain every message once, whatever the page size; search covers what the caller may read."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa
import structlog

from majlis.errors import Invalid, NotFound
from majlis.spaces.history import get_message, read_page
from majlis.spaces.members import leave
from majlis.spaces.post import Draft
from majlis.spaces.queries import list_spaces, space_json
from majlis.spaces.search import search
from majlis.store.transactions import Database
from tests.spaces.actors import callers, post, space_of


@pytest.mark.parametrize("limit", [1, 3, 10, 23, 24, 50])
async def test_paging_in_either_direction_visits_every_message_once(db: Database, limit: int) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    ids = [(await post(db, husam, space, Draft(f"m{n}")))[0]["id"] for n in range(23)]

    backward: list[str] = []
    cursor = None
    while True:
        page = await db.read(read_page, husam, space, limit, cursor)
        backward = [message["id"] for message in page["messages"]] + backward
        if not page["hasMore"]:
            break
        cursor = page["messages"][0]["id"]
    assert backward == ids

    forward = [ids[0]]
    while True:
        page = await db.read(read_page, husam, space, limit, None, forward[-1])
        forward += [message["id"] for message in page["messages"]]
        assert page["total"] == 23
        if not page["hasMore"]:
            break
    assert forward == ids


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize("change", ["mentions = 'no json'", "text = CAST(x'ff00fe' AS TEXT)"])
async def test_r9_a_message_that_cannot_be_read_is_left_out_and_the_others_are_shown(
    db: Database, database_url: str, change: str
) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    ids = [(await post(db, husam, space, Draft(f"m{n}")))[0]["id"] for n in range(5)]
    edit(database_url, change, ids[2])
    with structlog.testing.capture_logs() as logs:
        page = await db.read(read_page, husam, space, 3)
    assert [(message["id"], message["seq"]) for message in page["messages"]] == [(ids[3], 4), (ids[4], 5)]
    assert (page["total"], page["hasMore"]) == (5, True)
    [line] = logs
    assert (line["message"], line["number"]) == (ids[2], 3)
    forward = await db.read(read_page, husam, space, 3, None, ids[0])
    assert [message["seq"] for message in forward["messages"]] == [2, 4]


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_r9_a_damaged_last_message_hides_neither_its_space_nor_others(db: Database, database_url: str) -> None:
    (husam,) = await callers(db, "Husam")
    here, other = await space_of(db, husam), await space_of(db, husam)
    last = {space: (await post(db, husam, space, Draft("hello")))[0]["id"] for space in (here, other)}
    edit(database_url, "mentions = 'no json'", last[here])
    listed = {space["id"]: space["lastMessage"] for space in await db.read(list_spaces, husam)}
    assert listed[here] is None
    shown = listed[other]
    assert shown is not None
    assert shown["id"] == last[other]
    assert (await db.read(space_json, husam, here))["lastMessage"] is None


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize("change", ["mentions = 'no json'", "origin = '{'"])
async def test_r9_search_leaves_it_out_and_by_itself_it_is_said_to_be_damaged(
    db: Database, database_url: str, change: str
) -> None:
    """Such a row used to make every search that found it a server error."""
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    ids = [(await post(db, husam, space, Draft(f"apple {n}")))[0]["id"] for n in range(5)]
    edit(database_url, change, ids[2])
    with structlog.testing.capture_logs() as logs:
        found = await db.read(search, husam, "apple", None, 3)
    assert [message["id"] for message in found["messages"]] == [ids[4], ids[3]]
    assert found["hasMore"]
    [line] = logs
    assert (line["space"], line["message"], line["number"]) == (space, ids[2], 3)
    older = await db.read(search, husam, "apple", space, 3, ids[3])
    assert ([message["id"] for message in older["messages"]], older["hasMore"]) == ([ids[1], ids[0]], False)
    with pytest.raises(NotFound, match="is damaged"):
        await db.read(get_message, husam, ids[2])


async def test_a_cursor_of_another_space_is_refused(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    here, elsewhere = await space_of(db, husam), await space_of(db, husam)
    message, _ = await post(db, husam, elsewhere, Draft("there"))
    for before, after in ((message["id"], None), (None, message["id"]), ("msg_0000000000000000", None)):
        with pytest.raises(Invalid, match="is not a message in this space"):
            await db.read(read_page, husam, here, 50, before, after)
    with pytest.raises(Invalid, match="not both"):
        await db.read(read_page, husam, here, 50, message["id"], message["id"])


async def test_a7_a_former_member_can_read_nothing(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    space = await space_of(db, husam, sara)
    message, _ = await post(db, husam, space, Draft("secret plan"))
    assert await db.read(get_message, sara, message["id"]) == message
    assert [m["id"] for m in (await db.read(search, sara, "secret"))["messages"]] == [message["id"]]
    await db.write(leave, space, sara.id)
    with pytest.raises(NotFound):
        await db.read(read_page, sara, space)
    with pytest.raises(NotFound):
        await db.read(get_message, sara, message["id"])
    with pytest.raises(NotFound):
        await db.read(search, sara, "secret", space)
    assert (await db.read(search, sara, "secret"))["messages"] == []


WORDS = [
    ("report", "The quarterly REPORT is ready"),
    ("repo", "The quarterly REPORT is ready"),
    ("ready quarterly", "The quarterly REPORT is ready"),
    ("example", "see https://example.com/path?q=1"),
    ("husam", "mail husam@example.com please"),
    ("well-known", "a well-known fact"),
    ("محمد", "كتب محمد الرسالة"),
    ("straße", "Die STRASSE und die Straße"),
    ("42", "the answer is 42, of course"),
    ("don", "don't panic"),
]


@pytest.mark.parametrize(("query", "text"), WORDS)
async def test_search_finds_whole_words_and_beginnings_of_the_last(db: Database, query: str, text: str) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    await post(db, husam, space, Draft("nothing to see here"))
    message, _ = await post(db, husam, space, Draft(text))
    assert [found["id"] for found in (await db.read(search, husam, query))["messages"]] == [message["id"]]
    assert (await db.read(search, husam, f"{query} absent"))["messages"] == []


@pytest.mark.parametrize("query", ["* OR", "a AND NOT b", "NEAR(a b)", "text:x", "a:*", "a' | 'b"])
async def test_a_query_is_words_and_never_an_expression(db: Database, query: str) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    await post(db, husam, space, Draft("something else"))
    assert (await db.read(search, husam, query))["messages"] == []


@pytest.mark.parametrize("query", ['"', "'", "\\", "(((", "!&|", "   "])
async def test_a_query_without_a_word_is_refused(db: Database, query: str) -> None:
    (husam,) = await callers(db, "Husam")
    with pytest.raises(Invalid, match="at least one word"):
        await db.read(search, husam, query)


async def test_search_pages_from_the_newest_to_the_oldest(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    ids = [(await post(db, husam, space, Draft(f"needle {n}")))[0]["id"] for n in range(7)]
    found: list[str] = []
    before = None
    while True:
        page = await db.read(search, husam, "needle", space, 3, before)
        found += [message["id"] for message in page["messages"]]
        if not page["hasMore"]:
            break
        before = found[-1]
    assert found == ids[::-1]


def edit(database_url: str, change: str, message_id: str) -> None:
    """Like a person with the file and an editor."""
    with closing(sqlite3.connect(sa.make_url(database_url).database or "", isolation_level=None)) as editor:
        editor.execute(f"UPDATE messages SET {change} WHERE id = ?", (message_id,))
