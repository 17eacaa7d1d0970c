"""L1, L3, L9: editing messages, earlier versions, reactions, revisions. L2: who may delete."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

from majlis.client import ClientState, MajlisClient
from tests.api.test_bad_input import assert_error
from tests.world import Person, World

THUMB = "👍"


async def _put(person: Person, message: Any, emoji: str) -> Any:
    return await person.ok("PUT", f"/api/messages/{message['id']}/reactions/{emoji}")


async def test_l1_the_author_edits_and_search_follows(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    space = await world.owner.create_space("Plans", sara, omar)
    message = await sara.say(space, "The meeting is on Monday.")
    assert (message["revision"], message["editedAt"], message["deletedAt"], message["reactions"]) == (0, None, None, [])
    path = f"/api/messages/{message['id']}"
    edited = await sara.ok("PATCH", path, {"text": "The meeting is on Friday."})
    assert (edited["text"], edited["revision"]) == ("The meeting is on Friday.", 1)
    assert edited["editedAt"] is not None
    assert await omar.ok("GET", path) == edited
    assert await sara.ok("PATCH", path, {"text": "The meeting is on Friday."}) == edited
    assert (await omar.ok("GET", "/api/search", q="Monday"))["messages"] == []
    assert [each["id"] for each in (await omar.ok("GET", "/api/search", q="Friday"))["messages"]] == [message["id"]]
    kept = await sara.ok("GET", f"{path}/versions")
    assert kept == {"versions": [{"text": "The meeting is on Monday.", "createdAt": message["createdAt"]}]}
    assert await world.owner.ok("GET", f"{path}/versions") == kept
    assert_error(await omar.get(f"{path}/versions"), 403, "not_the_author")
    for other in (omar, world.owner):
        assert_error(await other.patch(path, {"text": "Never."}), 403, "not_the_author")
    stranger = await world.person("Eve")
    assert (await stranger.patch(path, {"text": "Never."})).status_code == 404
    assert_error(await sara.patch(path, {"text": " "}), 422, "empty_text")
    assert (await sara.space(space))["unreadCount"] == 0


async def test_l2_authors_and_space_admins_delete(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    space = await world.owner.create_space("Plans", sara, omar)
    first, second = await sara.say(space, "pineapple"), await sara.say(space, "papaya")
    assert_error(await omar.delete(f"/api/messages/{first['id']}"), 403, "not_the_author")
    await _put(omar, first, THUMB)
    gone = await sara.ok("DELETE", f"/api/messages/{first['id']}")
    assert (gone["text"], gone["reactions"], gone["deletedBy"]["name"], gone["seq"]) == ("", [], "Sara", first["seq"])
    assert gone["deletedAt"] is not None
    assert await sara.ok("DELETE", f"/api/messages/{first['id']}") == gone
    assert (await world.owner.ok("DELETE", f"/api/messages/{second['id']}"))["deletedBy"]["id"] == world.owner.id
    assert_error(await sara.patch(f"/api/messages/{first['id']}", {"text": "again"}), 409, "message_deleted")
    refused = await sara.ok("GET", f"/api/messages/{first['id']}/versions")
    assert refused == {"versions": []}
    assert (await omar.ok("GET", "/api/search", q="pineapple"))["messages"] == []
    page = await omar.history(space)
    assert [message["text"] for message in page["messages"]] == ["", ""]
    assert page["total"] == 2


async def test_l3_reactions_are_one_emoji_each_and_counted_once(world: World) -> None:
    sara, omar = await world.person("Sara"), await world.person("Omar")
    space = await world.owner.create_space("Plans", sara, omar)
    message = await sara.say(space, "Done")
    await _put(omar, message, THUMB)
    twice = await _put(omar, message, THUMB)
    assert twice["reactions"] == [{"emoji": THUMB, "count": 1, "entityIds": [omar.id]}]
    assert twice["revision"] == 1
    both = await _put(sara, message, THUMB)
    assert both["reactions"] == [{"emoji": THUMB, "count": 2, "entityIds": [omar.id, sara.id]}]
    for emoji in ("❤️", "👩🏽‍💻", "🇩🇪", "1️⃣", "✅", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"):
        assert emoji in [each["emoji"] for each in (await _put(sara, message, emoji))["reactions"]]
    for wrong in ("a", "👍👍", "ok", "←", "%20", "👍a"):
        assert_error(await _try(sara, message, wrong), 422, "not_an_emoji")
    path = f"/api/messages/{message['id']}/reactions/{THUMB}"
    left = await omar.ok("DELETE", path)
    assert left["reactions"][0] == {"emoji": THUMB, "count": 1, "entityIds": [sara.id]}
    assert await omar.ok("DELETE", path) == left
    stranger = await world.person("Eve")
    assert (await stranger.delete(path)).status_code == 404


async def _try(person: Person, message: Any, emoji: str) -> Any:
    return await person.http.put(f"/api/messages/{message['id']}/reactions/{emoji}")


async def test_l3_concurrent_reactions_are_all_kept(world: World) -> None:
    people = [await world.person(f"P{n}") for n in range(8)]
    space = await world.owner.create_space("Plans", *people)
    message = await world.owner.say(space, "Who comes?")
    await asyncio.gather(*(_put(person, message, THUMB) for person in people))
    [reaction] = (await world.owner.ok("GET", f"/api/messages/{message['id']}"))["reactions"]
    assert (reaction["count"], set(reaction["entityIds"])) == (8, {person.id for person in people})


async def test_l9_a_client_that_follows_has_the_same_state_as_one_that_loads(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Plans", sara)
    first, second = await sara.say(space, "one"), await sara.say(space, "two")
    async with MajlisClient(world.base_url, sara.token) as client:
        state = ClientState(sara.id)
        async with aclosing(client.follow()) as stream:
            async for event in stream:
                if event.type == "connected":
                    history = await client.list_messages(space)
                    state.load(await client.list_spaces(), {space: history["messages"]})
                    await sara.ok("PATCH", f"/api/messages/{first['id']}", {"text": "one, edited"})
                    await _put(sara, first, THUMB)
                    await _put(sara, second, THUMB)
                    await sara.ok("DELETE", f"/api/messages/{second['id']}")
                    await sara.say(space, "three")
                    continue
                state.apply(event)
                if event.type == "space.message" and event.data["message"]["text"] == "three":
                    break
        fresh = await client.list_messages(space)
        known = state.spaces[space]
        assert list((known.messages or {}).values()) == fresh["messages"]
        assert known.last_message == (await client.list_spaces())[0]["lastMessage"]


async def test_l9_a_late_event_does_not_undo_a_newer_change(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Plans", sara)
    old = await sara.say(space, "one")
    new = await sara.ok("PATCH", f"/api/messages/{old['id']}", {"text": "two"})
    async with MajlisClient(world.base_url, sara.token) as client:
        state = ClientState(sara.id)
        state.load(await client.list_spaces(), {space: [new]})
    state.spaces[space].add(old)
    assert (state.spaces[space].messages or {})[1] == new


async def test_l1_a_viewer_does_not_edit_or_react(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Plans", sara)
    message = await sara.say(space, "one")
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{sara.id}")
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id, "role": "viewer"})
    assert (await sara.patch(f"/api/messages/{message['id']}", {"text": "two"})).status_code == 403
    assert (await _try(sara, message, THUMB)).status_code == 403
