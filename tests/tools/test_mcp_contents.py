"""D6: what results of MCP servers hold, their resources and prompts, progress, and the older transport."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.errors import Invalid, MajlisError
from majlis.settings import Settings
from majlis.tools.mcp.ongoing import LONGEST_SECONDS, Nobody, Ongoing
from majlis.tools.toolbox import Allowed, Tools, built_in_tools
from tests.conditions import until
from tests.model_server import call, sequence, silent
from tests.runs.house import House, open_house
from tests.spaces.pictures import png
from tests.tools.full_mcp_server import LONG, make_server
from tests.tools.test_mcp import COMMAND, ROOT, lives
from tests.tools.uvicorn_server import serving_app
from tests.tools.web_server import context

NAMES = ["everything", "brew", "read_resource", "get_prompt"]


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving_app(make_server().streamable_http_app(host="127.0.0.1")) as opened:
        yield opened


@pytest.fixture
async def tools(port: int) -> AsyncIterator[Tools]:
    made = Tools(Allowed(private_hosts=[f"127.0.0.1:{port}"]))
    yield made
    await made.close()


@pytest.fixture
async def house(settings: Settings, port: int) -> AsyncIterator[House]:
    async with open_house(settings.model_copy(update={"tool_private_hosts": [f"127.0.0.1:{port}"]})) as opened:
        yield opened


def library(port: int, path: str = "mcp", **more: Any) -> dict[str, Any]:
    return {"name": "lib", "url": f"http://127.0.0.1:{port}/{path}", **more}


def config(*servers: dict[str, Any]) -> AgentConfig:
    return parse_config({"mcp": list(servers)})


def offered(tools: Tools, config: AgentConfig) -> list[str]:
    return [spec.name for spec in tools.specs(config)][len(built_in_tools()) :]


async def use(tools: Tools, config: AgentConfig, name: str, input: str = "{}") -> Any:
    found = tools.find(config, name)
    assert found is not None
    assert found.outside
    return await found.act(context(), found.parse(input))


async def test_d6_resources_and_prompts_of_a_server_are_tools(tools: Tools, port: int) -> None:
    mine = config(library(port))
    assert await tools.open(mine) == []
    assert offered(tools, mine) == [f"lib__{name}" for name in NAMES]
    reader = next(spec for spec in tools.specs(mine) if spec.name == "lib__read_resource")
    assert reader.description.endswith("There are: book://tea, book://cover, book://{name}/first-page.")
    listed = (await use(tools, mine, "lib__read_resource"))["structured"]
    assert listed["resources"][0] == {
        "uri": "book://tea", "name": "tea", "description": "All about tea.", "mimeType": "text/plain",
    }  # fmt: skip
    assert listed["templates"][0]["uriTemplate"] == "book://{name}/first-page"
    page = await use(tools, mine, "lib__read_resource", '{"uri": "book://green/first-page"}')
    assert page["resources"] == [{"uri": "book://green/first-page", "text": "The first page of green"}]
    long = await use(tools, mine, "lib__read_resource", '{"uri": "book://tea"}')
    assert long["resources"][0]["note"] == "The first 20000 of 75000 characters. The whole text is a file."
    assert [each.content.decode() for each in long.made] == [LONG]
    cover = await use(tools, mine, "lib__read_resource", '{"uri": "book://cover"}')
    assert [each.content for each in cover.made] == [png()]
    [prompt] = (await use(tools, mine, "lib__get_prompt"))["structured"]["prompts"]
    assert (prompt["name"], prompt["arguments"][0]["required"]) == ("review", True)
    said = await use(tools, mine, "lib__get_prompt", '{"name": "review", "arguments": {"book": "Tea"}}')
    assert said["structured"]["messages"] == [{"role": "user", "text": "Review Tea. Be kind."}]
    with pytest.raises(MajlisError, match="lib__read_resource failed"):
        await use(tools, mine, "lib__read_resource", '{"uri": "book://no/such/book"}')
    with pytest.raises(Invalid, match="uri should be a string"):
        tools.find(mine, "lib__read_resource").parse('{"uri": 7}')  # type: ignore[union-attr]


async def test_d6_allowed_tools_hold_for_resources_and_prompts(tools: Tools, port: int) -> None:
    mine = config(library(port, allowedTools=["brew", "read_resource"]))
    await tools.open(mine)
    assert offered(tools, mine) == ["lib__brew", "lib__read_resource"]


async def test_d6_a_servers_own_tool_keeps_its_name() -> None:
    server = MCPServer("own", log_level="CRITICAL")

    @server.tool(structured_output=False)
    def read_resource() -> str:
        return "its own"

    server.resource("book://tea", name="tea")(lambda: "tea")
    async with serving_app(server.streamable_http_app(host="127.0.0.1")) as port:
        tools, mine = Tools(Allowed(private_hosts=[f"127.0.0.1:{port}"])), config(library(port))
        await tools.open(mine)
        own, other = offered(tools, mine)
        assert (await use(tools, mine, own))["text"] == "its own"
        assert (await use(tools, mine, other, '{"uri": "book://tea"}'))["resources"][0]["text"] == "tea"
        await tools.close()


async def test_d6_l5_pictures_become_files_and_links_and_texts_stay(house: House, port: int) -> None:
    """Regression: the texts and links of a result were lost if it also had a picture."""
    space = await house.space("Books", await house.agent("Scout", mcp=[library(port)]))
    house.model.script = sequence(call("lib__everything"), silent())
    await house.owner.say(space, "Show me everything")
    await house.until_idle()
    result = house.model.asked[1].results[0]
    assert [file["name"] for file in result.pop("files")] == ["image-2.png", "1.png"]
    assert result == {
        "success": True,
        "text": "Five things",
        "resources": [{"uri": "note://1", "text": "A note"}],
        "links": [{"uri": "book://tea", "name": "tea", "description": "About tea"}],
    }


async def test_d6_visible_tools_of_a_server_show_their_progress(house: House, port: int) -> None:
    scout = await house.agent("Scout", mcp=[library(port, visible=["brew"])])
    space = await house.space("Books", scout)
    house.model.script = sequence(call("lib__everything"), call("lib__brew"), silent())
    async with house.owner.follow(space) as follower:
        await house.owner.say(space, "Tea, please")
        told = await follower.until("tool-call.progress")
    assert (told.data["toolName"], told.data["text"]) in (("lib__brew", "Water boils"), ("lib__brew", "2 of 2"))
    await house.until_idle()
    shown = [each["tool"] for each in (await house.owner.history(space))["messages"] if each["kind"] == "tool"]
    assert [(tool["name"], tool["status"], tool["output"]["text"]) for tool in shown] == [
        ("lib__brew", "complete", "tea")
    ]


async def test_d6_progress_extends_the_time_limit_but_not_for_ever() -> None:
    now = asyncio.get_running_loop().time()
    told: list[str] = []
    async with asyncio.timeout(1000) as limit:
        ongoing = Ongoing(limit, 2000, told.append, Nobody())
        await ongoing.progressed(1, 4, None)
        assert (limit.when() or 0) >= now + 2000
        await ongoing.progressed(2, None, "Half")
        endless = Ongoing(limit, 2 * LONGEST_SECONDS, told.append, Nobody())
        await endless.progressed(1, None, None)
        assert now + LONGEST_SECONDS <= (limit.when() or 0) < now + 2 * LONGEST_SECONDS
    assert told == ["1 of 4", "Half", "1"]


@pytest.mark.parametrize("transport", ["sse", None])
async def test_d6_a_server_with_the_older_transport_is_reached(transport: str | None) -> None:
    async with serving_app(make_server().sse_app(host="127.0.0.1")) as port:
        tools = Tools(Allowed(private_hosts=[f"127.0.0.1:{port}"]))
        mine = config(library(port, "sse", **({"transport": transport} if transport else {})))
        assert await tools.open(mine) == []
        assert offered(tools, mine) == [f"lib__{name}" for name in NAMES]
        assert (await use(tools, mine, "lib__brew"))["text"] == "tea"
        await tools.close()


async def test_d6_the_newer_transport_can_be_required() -> None:
    async with serving_app(make_server().sse_app(host="127.0.0.1")) as port:
        tools = Tools(Allowed(private_hosts=[f"127.0.0.1:{port}"]))
        [note] = await tools.open(config(library(port, "sse", transport="http")))
        assert note.startswith("The tools of lib (MCP) cannot be used")
        await tools.close()


async def test_d6_a_program_that_died_between_calls_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tools, mine = Tools(Allowed(commands=["*"])), config({"name": "calc", "command": [*COMMAND, "stdio"]})
    try:
        await tools.open(mine)
        pid = (await use(tools, mine, "calc__who"))["structured"]["pid"]
        [server] = tools.servers._servers.values()
        connection = server.connection
        assert connection is not None
        os.kill(pid, signal.SIGKILL)
        await until(lambda: connection.retired and not lives(pid))
        assert (await use(tools, mine, "calc__who"))["structured"]["pid"] != pid
    finally:
        await tools.close()


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"command": "uvx x", "transport": "sse"}, "mcp.0.transport"),
        ({"url": "https://a.example", "transport": "stdio"}, "mcp.0.transport"),
        ({"url": "https://a.example", "visible": "add"}, "mcp.0.visible"),
        ({"url": "https://a.example", "visible": ["add", "add"]}, "mcp.0.visible.1"),
    ],
)
def test_d6_a_wrong_setting_of_a_server_is_named(wrong: dict[str, Any], path: str) -> None:
    with pytest.raises(Invalid) as error:
        config({"name": "a", **wrong})
    errors: Any = error.value.details["errors"]
    assert [each["path"] for each in errors] == [path]
