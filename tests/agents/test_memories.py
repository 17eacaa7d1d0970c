"""P1: memories are set, read and deleted by key; a call is applied completely or not at all."""

from __future__ import annotations

import asyncio

import pytest

from majlis.agents.memories import (
    MAX_CHARACTERS,
    MAX_MEMORIES,
    MAX_VALUE_BYTES,
    NewMemory,
    delete_memories,
    list_memories,
    set_memories,
)
from majlis.agents.own_rows import MAX_ITEMS
from majlis.errors import Invalid, NotFound
from majlis.store.open import open_database
from majlis.store.transactions import Database
from tests.agents.actors import new_agent


async def held(db: Database, agent: str) -> dict[str, str]:
    return {memory["key"]: memory["value"] for memory in await db.read(list_memories, agent)}


async def test_p1_a_memory_is_set_and_set_again_by_its_key(db: Database, agent: str) -> None:
    first = await db.write(set_memories, agent, [NewMemory("q4", "waiting"), NewMemory("tone", "dry\nand short")])
    assert first == {"saved": ["q4", "tone"], "cleared": []}
    await db.write(set_memories, agent, [NewMemory(" q4 ", "budget is $500K")])
    assert await held(db, agent) == {"q4": "budget is $500K", "tone": "dry\nand short"}


async def test_p1_an_empty_value_clears_the_key(db: Database, agent: str) -> None:
    await db.write(set_memories, agent, [NewMemory("q4", "waiting"), NewMemory("tone", "dry")])
    assert await db.write(set_memories, agent, [NewMemory("q4", " "), NewMemory("no", "")]) == {
        "saved": [],
        "cleared": ["q4", "no"],
    }
    assert await held(db, agent) == {"tone": "dry"}


async def test_p1_memories_are_listed_by_key_on_both_databases_alike(db: Database, agent: str) -> None:
    keys = ["b", "A", "a", "ä", "B", "_x", "10", "9", "أ"]
    await db.write(set_memories, agent, [NewMemory(key, "x") for key in keys])
    assert list(await held(db, agent)) == sorted(keys)
    some = await db.read(list_memories, agent, ["ä", " a ", "missing"])
    assert [memory["key"] for memory in some] == ["a", "ä"]


async def test_p1_deleting_says_what_was_not_there(db: Database, agent: str) -> None:
    await db.write(set_memories, agent, [NewMemory("q4", "x"), NewMemory("tone", "dry")])
    answer = await db.write(delete_memories, agent, ["nope", "q4", "q4"])
    assert answer == {"deleted": ["q4"], "notFound": ["nope"]}
    assert await held(db, agent) == {"tone": "dry"}


async def test_p1_an_agent_sees_and_changes_only_its_own_memories(db: Database, agent: str) -> None:
    other = await new_agent(db, "Designer")
    await db.write(set_memories, agent, [NewMemory("q4", "mine")])
    await db.write(set_memories, other, [NewMemory("q4", "yours")])
    await db.write(delete_memories, other, ["q4"])
    assert await held(db, agent) == {"q4": "mine"}
    assert await held(db, other) == {}


@pytest.mark.parametrize(
    "bad",
    [
        NewMemory("", "x"),
        NewMemory("  ", "x"),
        NewMemory("k" * 129, "x"),
        NewMemory("two\nlines", "x"),
        NewMemory("two\u2028lines", "x"),
        NewMemory("bell\x07", "x"),
        NewMemory("half \ud83d", "x"),
        NewMemory("k", "nul\x00"),
        NewMemory("k", "x" * (MAX_VALUE_BYTES + 1)),
        NewMemory("k", "ä" * (MAX_VALUE_BYTES // 2 + 1)),
        NewMemory("good", "the same key again"),
    ],
    ids=repr,
)
async def test_p1_one_bad_memory_refuses_the_whole_call(db: Database, agent: str, bad: NewMemory) -> None:
    await db.write(set_memories, agent, [NewMemory("old", "stays")])
    with pytest.raises(Invalid):
        await db.write(set_memories, agent, [NewMemory("good", "x"), NewMemory("old", ""), bad])
    assert await held(db, agent) == {"old": "stays"}


async def test_p1_a_call_has_one_to_fifty_memories(db: Database, agent: str) -> None:
    for count in (0, MAX_ITEMS + 1):
        with pytest.raises(Invalid, match="1 to 50"):
            await db.write(set_memories, agent, [NewMemory(f"k{n}", "x") for n in range(count)])
    with pytest.raises(Invalid, match="1 to 50"):
        await db.write(delete_memories, agent, [])


async def test_p1_an_agent_has_at_most_500_memories(db: Database, agent: str) -> None:
    for start in range(0, MAX_MEMORIES, MAX_ITEMS):
        await db.write(set_memories, agent, [NewMemory(f"k{start + n}", "x") for n in range(MAX_ITEMS)])
    with pytest.raises(Invalid, match="501 memories; at most 500"):
        await db.write(set_memories, agent, [NewMemory("one more", "x")])
    await db.write(set_memories, agent, [NewMemory("k0", "an old one may change"), NewMemory("k1", "")])
    await db.write(set_memories, agent, [NewMemory("one more", "x")])
    assert len(await held(db, agent)) == MAX_MEMORIES


async def test_p1_all_memories_together_stay_small_enough_to_be_shown_in_every_run(db: Database, agent: str) -> None:
    large = "x" * MAX_VALUE_BYTES
    await db.write(set_memories, agent, [NewMemory(f"k{n}", large) for n in range(MAX_CHARACTERS // MAX_VALUE_BYTES)])
    with pytest.raises(Invalid, match="characters of memories"):
        await db.write(set_memories, agent, [NewMemory("one more", "x")])
    await db.write(set_memories, agent, [NewMemory("k0", "shorter"), NewMemory("one more", "x")])


async def test_p1_two_runs_at_once_both_get_their_memories_in_and_no_more_than_allowed(
    db: Database, agent: str, database_url: str
) -> None:
    """The same keys in both orders, in two processes: no deadlock, and each call is atomic."""
    other = open_database(database_url)
    keys = [f"k{n}" for n in range(MAX_ITEMS)]
    calls = [
        (db if n % 2 else other).write(
            set_memories, agent, [NewMemory(key, f"call {n}") for key in (keys if n % 2 else keys[::-1])]
        )
        for n in range(20)
    ]
    await asyncio.gather(*calls)
    values = set((await held(db, agent)).values())
    assert len(values) == 1
    await other.close()


async def test_p1_memories_survive_the_process(db: Database, agent: str, database_url: str) -> None:
    await db.write(set_memories, agent, [NewMemory("q4", "waiting")])
    await db.close()
    again = open_database(database_url)
    assert await held(again, agent) == {"q4": "waiting"}
    await again.close()


async def test_an_unknown_agent_keeps_nothing(db: Database) -> None:
    with pytest.raises(NotFound):
        await db.write(set_memories, "ent_0000000000000000", [NewMemory("k", "x")])
