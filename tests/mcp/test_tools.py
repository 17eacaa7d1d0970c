"""D1: what members do with the tools of `/mcp`."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError

from majlis.api.mcp.toolbox import TOOLS
from tests.mcp.conftest import Connect
from tests.world import World


async def test_d1_a_client_reads_searches_sends_and_reacts_as_its_member(world: World, connect: Connect) -> None:
    sara, ben = await world.person("Sara"), await world.person("Ben")
    space = await sara.create_space("Kitchen", ben)
    first = await sara.say(space, "Soup is ready <b>now</b>")
    async with connect(ben) as session:
        listed = await session.client.list_tools()
        assert [tool.name for tool in listed.tools] == list(TOOLS)
        [found] = (await session.ok("list_spaces"))["spaces"]
        assert (found["id"], found["name"], found["unreadCount"]) == (space, "Kitchen", 1)
        page = await session.ok("read_messages", spaceId=space)
        assert [(each["sender"]["name"], each["text"]) for each in page["messages"]] == [
            ("Sara", "Soup is ready <b>now</b>")
        ]
        hits = await session.ok("search_messages", query="soup")
        assert [each["id"] for each in hits["messages"]] == [first["id"]]
        sent = await session.ok("send_message", spaceId=space, text="Coming, @Sara", clientId="c1")
        again = await session.ok("send_message", spaceId=space, text="Coming, @Sara", clientId="c1")
        assert (sent["duplicate"], again["duplicate"]) == (False, True)
        assert sent["message"]["sender"]["id"] == ben.id
        assert sent["message"]["mentions"] == [sara.id]
        for _ in range(2):
            reacted = await session.ok("react", messageId=first["id"], emoji="👍")
            assert reacted["reactions"] == [{"emoji": "👍", "count": 1, "entityIds": [ben.id]}]
        assert (await session.ok("react", messageId=first["id"], emoji="👍", remove=True))["reactions"] == []
    history = await sara.history(space)
    assert [each["text"] for each in history["messages"]] == ["Soup is ready <b>now</b>", "Coming, @Sara"]


async def test_d1_every_result_is_json_twice_and_every_tool_says_what_it_does(world: World, connect: Connect) -> None:
    sara = await world.person("Sara")
    await sara.create_space("Kitchen")
    async with connect(sara) as session:
        result = await session.client.call_tool("list_spaces", {})
        [content] = result.content
        assert content.type == "text"
        assert json.loads(content.text) == result.structured_content
        for tool in (await session.client.list_tools()).tools:
            assert (tool.output_schema or {})["type"] == "object", tool.name
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint == TOOLS[tool.name].reads_only
            assert all((tool.description, tool.title))


NO_SPACE = "spc_0000000000000000"
REFUSALS: list[tuple[str, dict[str, object], str, str]] = [
    ("read_messages", {"spaceId": NO_SPACE}, "unknown_space", "You don't have access"),
    ("read_messages", {"spaceId": "kitchen"}, "invalid_input", "spaceId"),
    ("read_messages", {}, "invalid_input", "spaceId: Field required"),
    ("read_messages", {"spaceId": NO_SPACE, "lmit": 3}, "invalid_input", "lmit"),
    ("send_message", {"spaceId": NO_SPACE, "text": "Hi"}, "unknown_space", "You don't have access"),
    ("send_message", {"spaceId": NO_SPACE, "text": "x" * 70_000}, "text_too_long", "the limit is 65536"),
    ("send_message", {"spaceId": NO_SPACE, "text": "Hi\0"}, "control_characters", "U+0000"),
    ("search_messages", {"query": '"'}, "empty_query", "at least one word"),
    ("wait_for_messages", {"cursor": "nonsense"}, "bad_cursor", "spaceId"),
    ("wait_for_messages", {"spaceId": NO_SPACE}, "unknown_space", "You don't have access"),
    ("wait_for_messages", {"waitSeconds": 9999}, "invalid_input", "waitSeconds"),
    ("answer_card", {"result": True}, "no_card", "messageId"),
    ("react", {"messageId": "msg_0000000000000000", "emoji": "👍"}, "unknown_message", "no message"),
    ("read_file", {"fileId": "fil_0000000000000000"}, "unknown_file", "no file"),
    ("take_events", {}, "not_outside", "outside"),
    ("settle_event", {"id": "dlv_0000000000000000", "lease": "x", "state": "done"}, "lease_ended", "lease"),
]


async def test_d1_a_refusal_is_a_result_with_our_plain_message(world: World, connect: Connect) -> None:
    async with connect(await world.person("Sara")) as session:
        for tool, arguments, code, message in REFUSALS:
            found, text = await session.refusal(tool, **arguments)
            assert (found, message in text) == (code, True), (tool, found, text)
            assert not {"Traceback", "pydantic"}.intersection(text.split())


async def test_d1_an_unknown_tool_is_an_error_of_the_protocol(world: World, connect: Connect) -> None:
    async with connect(world.owner) as session:
        with pytest.raises(MCPError, match="Unknown tool: delete_everything"):
            await session.client.call_tool("delete_everything", {})


async def test_d1_the_tools_keep_the_scopes_of_the_token(world: World, connect: Connect) -> None:
    sara = await world.person("Sara")
    space = await sara.create_space("Kitchen")
    reader = await world.with_token(sara.id, "Sara", scopes=["read"])
    writer = await world.with_token(sara.id, "Sara", scopes=["write"])
    async with connect(reader) as session:
        assert len((await session.ok("list_spaces"))["spaces"]) == 1
        for tool, arguments in (
            ("send_message", {"spaceId": space, "text": "Hi"}),
            ("react", {"messageId": "msg_0000000000000000", "emoji": "👍"}),
            ("answer_card", {"messageId": "msg_0000000000000000", "result": True}),
            ("take_events", {}),
        ):
            assert (await session.refusal(tool, **arguments))[0] == "missing_scope", tool
    async with connect(writer) as session:
        assert (await session.ok("send_message", spaceId=space, text="Hi"))["message"]["text"] == "Hi"
        for tool, arguments in (
            ("list_spaces", {}),
            ("read_messages", {"spaceId": space}),
            ("search_messages", {"query": "Hi"}),
            ("wait_for_messages", {"spaceId": space, "waitSeconds": 0}),
            ("read_file", {"fileId": "fil_0000000000000000"}),
        ):
            assert (await session.refusal(tool, **arguments))[0] == "missing_scope", tool
        with pytest.raises(MCPError, match="scope read"):
            await session.client.list_resources()
