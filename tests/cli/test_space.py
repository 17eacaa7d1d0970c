"""`majlis space` and `majlis send`, over HTTP."""

from __future__ import annotations

import pytest

from tests.cli.command import Command
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_a_space_is_made_listed_and_shown(majlis: Command, world: World) -> None:
    made = (await majlis.ok("space", "create", "Lobby", "--description", "[b]All[/b]", "--json")).json
    assert (made["name"], made["description"]) == ("Lobby", "[b]All[/b]")
    await world.owner.say(made["id"], "hello\nthere " + "x" * 100)
    listed = await majlis.ok("space", "list")
    assert listed.out.splitlines()[1].split()[:4] == [made["id"], "Lobby", "1", "0"]
    assert "Owner: hello\\nthere xxx" in listed.out
    shown = (await majlis.ok("space", "show", "LOBBY")).out
    assert "[b]All[/b]" in shown
    assert "Owner" in shown
    assert (await majlis.ok("space", "show", made["id"], "--json")).json["id"] == made["id"]
    assert (await majlis.ok("space", "create", "Second")).out.startswith("Created space Second (spc_")


async def test_an_orchestrated_space_is_made_with_the_agent_that_routes(majlis: Command, world: World) -> None:
    maestro = await world.agent("Maestro", model="demo")
    made = await majlis.ok(
        "space", "create", "Studio", "--triggers", "orchestrated", "--orchestrator", "maestro", "--json"
    )
    assert (made.json["triggers"], made.json["orchestratorId"]) == ("orchestrated", maestro.id)
    assert maestro.id in [member["id"] for member in made.json["members"]]
    for options in (["--triggers", "orchestrated"], ["--orchestrator", "Maestro"]):
        assert "go together" in await majlis.line("space", "create", "Second", *options, code=2)
    assert "Nobody" in await majlis.line(
        "space", "create", "Second", "--triggers", "orchestrated", "--orchestrator", "Nobody", code=1
    )


async def test_members_come_and_go_by_name(majlis: Command, world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby")
    assert (await majlis.ok("space", "add-member", "lobby", "sara", "--role", "viewer")).out == (
        "Sara is now in Lobby with the role viewer.\n"
    )
    assert (await majlis.ok("space", "add-member", "lobby", sara.id, "--role", "admin", "--json")).json[
        "role"
    ] == "admin"
    listed = (await majlis.ok("space", "members", "Lobby")).out.splitlines()
    assert [line.split()[1] for line in listed] == ["Name", "Owner", "Sara"]
    assert (await majlis.ok("space", "remove-member", "Lobby", "Sara")).out == "Removed Sara from Lobby.\n"
    members = (await majlis.ok("space", "members", space, "--json")).json
    assert [member["id"] for member in members] == [world.owner.id]
    assert "is not a member" in await majlis.line("space", "remove-member", "Lobby", "Sara", code=1)


async def test_a_name_that_two_spaces_have_needs_the_id(majlis: Command, world: World) -> None:
    ids = {await world.owner.create_space("Twin"), await world.owner.create_space("TWIN")}
    told = await majlis.line("send", "twin", "hello", code=1)
    assert told.startswith("2 spaces are named 'twin': ")
    assert all(id in told for id in ids)
    assert "There is no space named 'Win'. Did you mean" in await majlis.line("space", "show", "Win", code=1)


async def test_messages_cannot_control_the_terminal(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "right \u202e to left \u2028 and on")
    for arguments in (["space", "list"], ["space", "list", "--json"], ["space", "show", space]):
        shown = await majlis.ok(*arguments)
        assert "\\u202e" in shown.out
        assert "\u202e" not in shown.out
    [listed] = (await majlis.ok("space", "list", "--json")).json
    assert listed["lastMessage"]["text"] == "right \u202e to left \u2028 and on"


async def test_a_message_is_sent_from_the_command_line_and_from_stdin(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    first = (await majlis.ok("send", "Lobby", "hello", "--json")).json
    await majlis.ok("send", space, "-", "--reply-to", first["id"], stdin="zwei\nZeilen ü\n".encode())
    await majlis.ok("send", "Lobby", "once", "--client-id", "job-7")
    again = await majlis.ok("send", "Lobby", "once more", "--client-id", "job-7")
    said = (await world.owner.history(space))["messages"]
    assert [message["text"] for message in said] == ["hello", "zwei\nZeilen ü", "once"]
    assert said[1]["replyTo"] == first["id"]
    assert again.out == f"Sent {said[2]['id']} to Lobby.\n"


async def test_a_message_that_cannot_be_sent_is_refused_in_one_line(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    assert await majlis.line("send", "Lobby", "", code=1) == "text must not be empty."
    assert await majlis.line("send", "Lobby", "-", code=1, stdin=b"\xff\xfe") == "The input on stdin is not UTF-8 text."
    assert "U+0000" in await majlis.line("send", "Lobby", "-", code=1, stdin=b"a\x00b")
    assert "valid Unicode" in await majlis.line("send", "Lobby", b"half \xc3", code=1)
    assert "the limit is 65536" in await majlis.line("send", "Lobby", "-", code=1, stdin=b"x" * 70_000)
    assert "replyTo" in await majlis.line("send", "Lobby", "x", "--reply-to", "nonsense", code=1)
    assert (await world.owner.history(space))["total"] == 0


async def test_a_reader_that_goes_away_is_not_a_failure(majlis: Command, world: World) -> None:
    await world.owner.create_space("Lobby")
    for arguments in (["space", "list"], ["space", "list", "--json"], ["--help"]):
        async with majlis.running(*arguments) as listing:
            listing.hang_up()
            assert await listing.end() == 0
            assert await listing.err() == ""
