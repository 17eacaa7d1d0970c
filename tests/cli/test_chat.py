"""`majlis chat`, through pipes and on a terminal."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from majlis.entities.caller import Caller
from majlis.inbox.deliver import post_message
from majlis.live import log
from majlis.settings import Settings
from majlis.spaces.post import Draft
from tests.cli.command import Command
from tests.cli.terminals import Terminal, in_terminal
from tests.client.proxy import Proxy
from tests.conditions import until
from tests.past_runs import add_run
from tests.world import Person, World

# This command does not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests do what agents would do."""
    return settings.model_copy(update={"workers": 0})


async def said(world: World, space: str) -> list[str]:
    return [message["text"] for message in (await world.owner.history(space))["messages"]]


async def test_l8_a_name_after_an_at_sign_opens_the_direct_conversation(majlis: Command, world: World) -> None:
    sara = await world.person("Sara")
    await majlis.ok("chat", "@sara", stdin=b"hello")
    await majlis.ok("send", "@Sara", "again")
    [space] = await sara.ok("GET", "/api/spaces")
    assert (space["name"], space["direct"]) == ("Owner", True)
    assert await said(world, space["id"]) == ["hello", "again"]
    assert "There is no person, agent or service named 'Nemo'" in (await majlis("chat", "@Nemo")).err


async def test_piped_lines_are_said_in_their_order_and_that_is_all(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "before")
    ran = await majlis.ok("chat", "Lobby", stdin="one\n\n  two ü\r\n//slash\nlast".encode())
    assert await said(world, space) == ["before", "one", "  two ü", "/slash", "last"]
    shown = [line.split("Owner: ")[1] for line in ran.out.splitlines()]
    assert shown == ["before", "one", "  two ü", "/slash", "last"]
    assert ran.err == ""


async def test_a_pipe_gets_finished_messages_and_nothing_else(majlis: Command, world: World) -> None:
    scout, space = await scout_in_a_space(world)
    async with majlis.running("chat", "Lobby", "--json", "--lines", "0") as chat:
        await until(lambda: world.gateway.hub.open_streams)
        await tell(world, space, "agent.active", agentId=scout.id, runId="run_1")
        await write(world, space, scout, "str_1", "half a")
        message = await finish(world, space, scout, "str_1", "half a sentence")
        assert json.loads(await chat.out()) == message
        assert await chat.stop(signal.SIGINT) == 0


async def test_with_follow_it_goes_on_after_the_input_has_ended(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    async with majlis.running("chat", "Lobby", "--follow") as chat:
        chat._process.stdin.write(b"hello\n")
        chat._process.stdin.close()
        assert (await chat.out()).endswith("Owner: hello")
        await world.owner.say(space, "later")
        assert (await chat.out()).endswith("Owner: later")
        assert await chat.stop(signal.SIGTERM) == 0


async def test_a_refused_message_ends_a_pipe_with_one_line(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    assert "U+0000" in await majlis.line("chat", "Lobby", "--lines", "0", code=1, stdin=b"\x00\nnever said\n")
    assert "not UTF-8" in await majlis.line("chat", "Lobby", code=1, stdin=b"\xff\n")
    assert "There is no space named 'Nowhere'" in await majlis.line("chat", "Nowhere", code=1)
    assert await said(world, space) == []


async def test_as_uses_a_token_that_ends_with_the_command(majlis: Command, world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Lobby", sara)
    await majlis.ok("chat", "Lobby", "--as", "sara", stdin=b"it is me\n")
    [message] = (await world.owner.history(space))["messages"]
    assert message["sender"]["name"] == "Sara"
    tokens = await world.owner.ok("GET", f"/api/entities/{sara.id}/tokens")
    assert [token["label"] for token in tokens] == [None]
    hers = majlis.given(MAJLIS_TOKEN=sara.token)
    assert "Only the owner" in await hers.line("chat", "Lobby", "--as", "Owner", code=1)


async def test_after_a_cut_everything_is_shown_once(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Lobby")
    async with Proxy(world.base_url) as proxy, majlis.running("chat", "Lobby", "--url", proxy.url) as chat:
        await until(lambda: world.gateway.hub.open_streams)
        await world.owner.say(space, "before")
        assert (await chat.out()).endswith("before")
        await proxy.close()
        assert (await chat.err()).endswith("Reconnecting…")
        await world.owner.say(space, "meanwhile")
        await proxy.open()
        assert await chat.err() == "Reconnected."
        await world.owner.say(space, "after")
        assert [(await chat.out()).split(": ")[1] for _ in range(2)] == ["meanwhile", "after"]


async def test_a_terminal_shows_streaming_text_and_which_agents_think_and_wait(majlis: Command, world: World) -> None:
    scout, space = await scout_in_a_space(world)
    async with in_terminal(majlis, "chat", "Lobby") as terminal:
        await begun(terminal, world)
        terminal.type("hello\n")
        await terminal.until("hello")
        await until_said(world, space, "hello")
        await tell(world, space, "agent.active", agentId=scout.id, runId="run_1")
        await terminal.until("\nScout is thinking…\n")
        await write(world, space, scout, "str_1", "Hello \u202e", "there", "all", missed=1)
        assert (await terminal.until("  Scout: Hello \\u202e")).count("\n") == 0
        await finish(world, space, scout, "str_1", "Hello \u202ethere,\nall")
        assert await terminal.until("all\n") == "there,\n    all\n"
        await delta(world, space, "str_1", "late", 0)
        await tell(world, space, "run.waiting_reply", agentId=scout.id, runId="run_1")
        assert await terminal.until("reply.\n") == "Scout is waiting for your reply.\n"
        await tell(world, space, "agent.inactive", agentId=scout.id, runId="run_1")
        terminal.type("/quit\n")
        assert await terminal.end() == 0
    assert await said(world, space) == ["hello", "Hello \u202ethere,\nall"]


async def test_a_line_interrupted_by_another_message_is_shown_whole_at_its_end(majlis: Command, world: World) -> None:
    scout, space = await scout_in_a_space(world)
    async with in_terminal(majlis, "chat", "Lobby") as terminal:
        await begun(terminal, world)
        await write(world, space, scout, "str_1", "I was say")
        await terminal.until("Scout: I was say")
        await world.owner.say(space, "wait")
        assert (await terminal.until("Owner: wait\n")).startswith(" …\n")
        await delta(world, space, "str_1", "ing", 9)
        await finish(world, space, scout, "str_1", "I was saying")
        await terminal.until("Scout: I was saying\n")
        await write(world, space, scout, "str_2", "Never mi")
        await terminal.until("Scout: Never mi")
        world.gateway.hub.publish_ephemeral(space, "tool-call.error", {"streamId": "str_2", "error": "canceled"})
        await terminal.until(" … (canceled)\n")


async def test_slash_commands_list_members_and_stop_agents(majlis: Command, world: World) -> None:
    scout, space = await scout_in_a_space(world)
    run = await add_run(world, scout, await world.owner.say(space, "work!"), status="running")
    async with in_terminal(majlis, "chat", "Lobby") as terminal:
        await begun(terminal, world)
        await tell(world, space, "agent.active", agentId=scout.id, runId=run)
        await terminal.until("Scout is thinking…")
        terminal.type("/who\n")
        await terminal.until("Owner (human)\nScout (agent, thinking)\n")
        terminal.type("/stop\n")
        await terminal.until("Stopped Scout.\n")
        terminal.type("/stop\n")
        await terminal.until("No agent is running here.\n")
        terminal.type("/nonsense\n")
        await terminal.until("//     post a line that starts with a slash\n")
        terminal.type("\x04")
        assert await terminal.end() == 0
    assert (await world.owner.ok("GET", f"/api/runs/{run}"))["status"] == "canceled"
    assert await said(world, space) == ["work!"]


async def scout_in_a_space(world: World) -> tuple[Person, str]:
    scout = await world.agent("Scout")
    return scout, await world.owner.create_space("Lobby", scout)


async def begun(terminal: Terminal, world: World) -> None:
    await terminal.until("/quit to leave.")
    await until(lambda: world.gateway.hub.open_streams)


async def until_said(world: World, space: str, text: str) -> None:
    async with world.owner.follow(space) as follower:
        while text not in await said(world, space):
            await follower.next()


async def tell(world: World, space: str, type: str, **data: Any) -> None:
    await world.gateway.db.write(log.record_for_space, space, type, {"spaceId": space, **data})


async def write(world: World, space: str, scout: Person, stream: str, *parts: str, missed: int | None = None) -> None:
    """A text stream in parts; one of them may be lost."""
    start = {"streamId": stream, "runId": "run_1", "agentId": scout.id, "toolName": "send_message"}
    world.gateway.hub.publish_ephemeral(space, "tool-call.start", start)
    for number, part in enumerate(parts):
        if number != missed:
            await delta(world, space, stream, part, len("".join(parts[:number])))


async def delta(world: World, space: str, stream: str, text: str, offset: int) -> None:
    data = {"streamId": stream, "textDelta": text, "offset": offset}
    world.gateway.hub.publish_ephemeral(space, "tool-input-delta", data)


async def finish(world: World, space: str, scout: Person, stream: str, text: str) -> Any:
    """Like the engine: the stored message names the stream that it ends."""

    sender = Caller(scout.id, scout.name, "agent", "member", "tok_none")
    return await world.gateway.db.write(post_message, sender, space, Draft(text, stream_id=stream))
