"""L5: pictures and documents that tools give become files of the space, which the agent can send."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
from mcp.types import AudioContent, BlobResourceContents, CallToolResult, EmbeddedResource, ImageContent, TextContent

from majlis.settings import Settings
from majlis.tools.mcp.result_content import files_of
from tests.model_server import Asked, Reply, call, sequence, silent
from tests.runs.house import House, open_house
from tests.runs.test_acts_for import agent
from tests.runs.test_pictures import label, seen
from tests.spaces.pictures import png
from tests.tools.web_server import Web, answer, serve_web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serve_web() as served:
        served.answers = lambda asked: answer(
            png(), kind="image/png", content_disposition='inline; filename="chart.png"'
        )
        yield served


@pytest.fixture
async def house(settings: Settings, web: Web) -> AsyncIterator[House]:
    allowed = {"tool_private_hosts": [f"127.0.0.1:{web.port}"], "file_bytes_per_space": 400}
    async with open_house(settings.model_copy(update=allowed)) as opened:
        yield opened


def chart(web: Web, **more: Any) -> dict[str, Any]:
    return {"name": "chart", "description": "x", "type": "http", "execution": {"url": f"{web.base}/chart"}, **more}


def send_newest(asked: Asked) -> Reply:
    return call("send_message", text="Here it is", files=[asked.results[-1]["files"][0]["id"]])


async def test_l5_a_picture_of_an_http_tool_is_seen_and_sent(house: House, web: Web) -> None:
    space = await house.space("Files", await house.agent("Scout", tools=[chart(web)]))
    house.model.script = sequence(call("chart"), send_newest, silent())
    await house.owner.say(space, "Draw a chart")
    await house.until_idle()
    result, sent = house.model.asked[-1].results
    [file] = result["files"]
    assert result == {"success": True, "status": 200, "files": [file]}
    assert file["shown"] == f"[file: chart.png, {len(png())} bytes, image/png, file:{file['id']}]"
    assert seen(house.model.asked[1]) == [(label(file), (3, 2))]
    assert sent["success"]
    [carried] = (await house.owner.history(space))["messages"][-1]["files"]
    assert (carried["id"], carried["name"], carried["width"]) == (file["id"], "chart.png", 3)
    assert (await house.owner.get(f"/api/files/{file['id']}")).content == png()


async def test_l5_the_message_of_a_visible_tool_carries_its_files(house: House, web: Web) -> None:
    space = await house.space("Files", await house.agent("Scout", tools=[chart(web, visible=True)]))
    house.model.script = sequence(call("chart"), silent())
    await house.owner.say(space, "Draw a chart")
    await house.until_idle()
    [shown] = [each for each in (await house.owner.history(space))["messages"] if each["kind"] == "tool"]
    assert [each["name"] for each in shown["files"]] == ["chart.png"]
    listed = (await house.owner.ok("GET", f"/api/spaces/{space}/files"))["files"]
    assert [each["messageId"] for each in listed] == [shown["id"]]


async def test_l5_quotas_hold_for_files_of_tools(house: House, web: Web) -> None:
    space = await house.space("Files", await house.agent("Scout", tools=[chart(web)]))
    await house.owner.upload(space, b"x" * 390)
    house.model.script = sequence(call("chart"), silent())
    await house.owner.say(space, "Draw a chart")
    await house.until_idle()
    [result] = house.model.asked[-1].results
    assert result["fileNotes"][0].startswith("chart.png was not kept: The files of this space take")
    assert "image/png and not shown" in result["note"]


async def test_g3_l5_a_file_made_for_one_person_is_not_sent_for_another(house: House, web: Web) -> None:
    sara = await house.person("Sara")
    scout = await agent(house, "Scout", tools=[chart(web)])
    space = await house.space("Files", scout, sara)
    house.model.script = sequence(call("chart"), silent())
    await house.owner.say(space, "Draw a chart")
    await house.until_idle()
    [file] = house.model.asked[-1].results[-1]["files"]
    house.model.script = sequence(call("send_message", text="Here", files=[file["id"]]), silent())
    await sara.say(space, "Send me the file")
    await house.until_idle()
    assert house.model.asked[-1].results[-1]["error"].startswith("Nothing was sent: files contains")


def test_l5_files_in_results_of_mcp_servers() -> None:
    data = base64.b64encode(png()).decode()
    blob = BlobResourceContents(uri="file:///reports/q3.pdf", blob=data, mime_type="application/pdf")
    result = CallToolResult(
        content=[
            TextContent(type="text", text="Three files"),
            ImageContent(type="image", data=data, mime_type="image/png"),
            AudioContent(type="audio", data=data, mime_type="audio/wav"),
            EmbeddedResource(type="resource", resource=blob),
            ImageContent(type="image", data="not base64", mime_type="image/png"),
        ]
    )
    found = files_of(result)
    assert [each.name.partition(".")[0] for each in found] == ["image-2", "audio-3", "q3"]
    assert all(each.content == png() for each in found)
