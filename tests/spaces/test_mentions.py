"""Mentions: one rule for every client, found by the server (W6)."""

from __future__ import annotations

import time

import pytest

from majlis.entities.caller import EntityType
from majlis.spaces.mentions import find_mentions, find_named, plain_text, says_name
from majlis.spaces.post import Draft
from majlis.store.transactions import Database
from tests.spaces.actors import add_caller, callers, post, space_of


@pytest.mark.parametrize(
    ("text", "people", "agents"),
    [
        ("hello", [], []),
        ("@Ann hello", ["Ann"], ["Ann"]),
        ("@ann lee hello", ["Ann Lee"], ["Ann Lee"]),
        ("@Ann Leeward", ["Ann"], ["Ann"]),
        ("@Anna", [], []),
        ("  \n@Ann, @Bob and @Ann Lee: go @Zoë", ["Ann", "Bob", "Ann Lee", "Zoë"], ["Ann", "Bob", "Ann Lee"]),
        ("ask @Ann and @Ann Lee.", ["Ann", "Ann Lee"], []),
        ("(@Bob) @Bob!", ["Bob"], []),
        ("**@Bob**", ["Bob"], []),
        ("@Zoe\u0308 and @Zoe", ["Zoë"], ["Zoë"]),
        ("@Ａｎｎ", ["Ann"], ["Ann"]),
        ("@O'Neil & Co. fine", ["O'Neil & Co."], ["O'Neil & Co."]),
        ("@Ann\nLee", ["Ann"], ["Ann"]),
        ("bob@Bob ann.@Ann example.org/@Bob", [], []),
        ("`@Ann` @Bob", ["Bob"], []),
        ("``a ` @Ann`` @Bob", ["Bob"], []),
        ("a ` b @Ann", ["Ann"], []),
        ("a ` b\n\n@Ann ` c", ["Ann"], []),
        ("```\n@Ann\n```\n@Bob", ["Bob"], []),
        ("~~~py\n@Ann\n```\n@Ann\n~~~\n@Bob", ["Bob"], []),
        ("```\n@Ann", [], []),
        ("> @Ann said\n@Bob", ["Bob"], []),
        ("@Noor @nobody", [], []),
        ("@@Ann", [], []),
        ("@", [], []),
    ],
)
async def test_w6_people_mention_anywhere_outside_code_and_quotes_and_agents_at_the_beginning(
    db: Database, text: str, people: list[str], agents: list[str]
) -> None:
    husam, *others = await callers(db, "Husam", "Ann", "Ann Lee", "Bob", "Zoë", "O'Neil & Co.")
    await callers(db, "Noor")
    space = await space_of(db, husam, *others)
    names = {other.id: other.name for other in others}
    rules: dict[EntityType, list[str]] = {"human": people, "agent": agents, "service": agents}
    for kind, wanted in rules.items():
        assert [names[each] for each in await db.read(find_mentions, space, kind, text)] == wanted, kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ask @ann.", True),
        ("(@Ann)", True),
        ("@Anna", False),
        ("bob@ann", False),
        ("Ann", False),
        ("@Anna, @Ann", True),
    ],
)
def test_w6_a_name_is_said_only_as_a_whole_word(text: str, said: bool) -> None:
    assert says_name(text, "Ann") is said


async def test_w6_a_message_returns_the_mentions_that_were_listed_and_those_that_were_found(db: Database) -> None:
    husam, ann, bob = await callers(db, "Husam", "Ann", "Bob")
    space = await space_of(db, husam, ann, bob)
    message, _ = await post(db, husam, space, Draft("Well, @Bob and @Ann?", mentions=[ann.id]))
    assert message["mentions"] == [ann.id, bob.id]


async def test_w6_members_are_found_by_name_or_id_and_others_are_not(db: Database) -> None:
    husam, ann = await callers(db, "Husam", "Ann Lee")
    outsider = await db.write(add_caller, "Noor")
    space = await space_of(db, husam, ann)
    found = await db.read(find_named, space, ["ann LEE", "@Husam", ann.id, "Noor", outsider.id])
    assert {given: row.name for given, row in found.items()} == {
        "ann LEE": "Ann Lee",
        "@Husam": "Husam",
        ann.id: "Ann Lee",
    }


@pytest.mark.parametrize("piece", ["@", "`", "`` ` ", "@Ann ", "> @", "\n```\n", "@a b c d e f "])
async def test_w6_a_hostile_text_takes_linear_time(db: Database, piece: str) -> None:
    """A quadratic rule would take minutes."""
    husam, ann = await callers(db, "Husam", "Ann")
    space = await space_of(db, husam, ann)
    text = piece * (64_000 // len(piece))
    began = time.process_time()
    plain_text(text)
    await db.read(find_mentions, space, "human", text)
    assert time.process_time() - began < 5
