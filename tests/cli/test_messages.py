"""L1 to L3: `majlis edit`, `majlis delete` and `majlis react`, over HTTP."""

from __future__ import annotations

import pytest

from tests.cli.command import Command
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_l1_l2_l3_messages_are_edited_reacted_to_and_deleted(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    message = (await world.owner.say(space, "first"))["id"]
    assert (await majlis.ok("edit", message, "second")).out == "Edited.\n"
    assert (await majlis.ok("react", message, "👍")).out == "Reacted.\n"
    shown = await world.owner.ok("GET", f"/api/messages/{message}")
    assert (shown["text"], [each["emoji"] for each in shown["reactions"]]) == ("second", ["👍"])
    assert (await majlis.ok("react", message, "👍", "--remove", "--json")).json["reactions"] == []
    assert "exactly one emoji" in await majlis.line("react", message, "yes", code=1)
    assert (await majlis.ok("delete", message)).out == "Deleted.\n"
    assert (await world.owner.ok("GET", f"/api/messages/{message}"))["text"] == ""
    assert await majlis.line("edit", message, "third", code=1) == "This message was deleted."


async def test_messages_are_pinned_listed_and_unpinned(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    message = (await world.owner.say(space, "The deadline is Friday"))["id"]
    assert (await majlis.ok("pins", "Lobby")).out == "No pinned messages.\n"
    assert (await majlis.ok("pin", message)).out == "Pinned.\n"
    assert "The deadline is Friday" in (await majlis.ok("pins", "Lobby")).out
    assert [each["id"] for each in (await majlis.ok("pins", "Lobby", "--json")).json] == [message]
    assert (await majlis.ok("unpin", message)).out == "Unpinned.\n"
    assert (await world.owner.ok("GET", f"/api/messages/{message}"))["pinned"] is False
