"""Phrases, word forms, filters and snippets of the search, on both databases."""

from __future__ import annotations

import pytest

from majlis.entities.caller import Caller
from majlis.errors import Invalid
from majlis.spaces.post import Draft
from majlis.spaces.search import search
from majlis.spaces.search_query import parse
from majlis.spaces.snippet import snippet
from majlis.store.transactions import Database
from tests.spaces.actors import callers, post, space_of


async def texts(db: Database, caller: Caller, query: str) -> list[str]:
    return [message["text"] for message in (await db.read(search, caller, query))["messages"]]


async def test_a_word_finds_its_other_forms_and_a_phrase_only_itself(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    said = [
        "we deploy today",
        "it was deployed",
        "stopping the launches",
        "a deployment is not a form",
        "today we deploy",
    ]
    for text in said:
        await post(db, husam, space, Draft(text))
    assert await texts(db, husam, "deploying today") == [said[4], said[0]]
    assert await texts(db, husam, "deploys ") == [said[4], said[1], said[0]]
    assert await texts(db, husam, "launch stopped") == [said[2]]
    assert await texts(db, husam, "stop launching") == [said[2]]
    assert await texts(db, husam, '"we deploy"') == [said[4], said[0]]
    assert await texts(db, husam, '"deploy today"') == [said[0]]


async def test_filters_name_the_sender_the_space_and_the_days(db: Database) -> None:
    husam, sara = await callers(db, "Husam", "Sara")
    here, there = await space_of(db, husam, sara), await space_of(db, husam, sara)
    for who, where, text in [(husam, here, "tea here"), (sara, here, "tea from Sara"), (sara, there, "tea elsewhere")]:
        await post(db, who, where, Draft(text))
    assert await texts(db, husam, "tea from:sara") == ["tea elsewhere", "tea from Sara"]
    assert await texts(db, husam, "from:me") == ["tea here"]
    assert await texts(db, husam, "from:nobody tea") == []
    assert await texts(db, husam, "tea before:2000-01-01") == []
    assert len(await texts(db, husam, "tea after:2000-01 before:2999")) == 3
    with pytest.raises(Invalid, match=r"before: needs a date such as 2026-11-18, not soon\."):
        await texts(db, husam, "tea before:soon")


async def test_the_snippet_shows_the_match_of_a_long_message(db: Database) -> None:
    (husam,) = await callers(db, "Husam")
    space = await space_of(db, husam)
    message, _ = await post(db, husam, space, Draft(f"{'words ' * 500}the samovar is here {'and more ' * 500}"))
    found = await db.read(search, husam, "samovar")
    parts = found["snippets"][message["id"]]
    assert [part["text"] for part in parts if part["match"]] == ["samovar"]
    whole = "".join(part["text"] for part in parts)
    assert whole.startswith("…")
    assert "the samovar is here" in whole
    assert len(whole) < 300


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
        ("deploys", "We deployed it. Deploy again!", ["deployed", "Deploy"]),
        ("rep", "The report", ["rep"]),
        ('"red door"', "a red, door and a red wall", ["red, door"]),
        ("from:me", "no words at all", []),
        ("don", "don't panic", ["don"]),
    ],
)
def test_a_snippet_marks_every_match(query: str, text: str, matches: list[str]) -> None:
    parts = snippet(text, parse(query).terms)
    assert [part["text"] for part in parts if part["match"]] == matches
    assert "".join(part["text"] for part in parts) == text
