"""L5: a model that sees is shown pictures, the newest first and bounded; one that does not is asked without them."""

from __future__ import annotations

import base64
import io
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image

from tests.model_server import Asked, Reply, call, sequence, silent
from tests.runs.house import House
from tests.spaces.pictures import painted, png


def seen(asked: Asked) -> list[tuple[str, tuple[int, int]]]:
    """The label and the size of each picture in a request."""
    found = []
    for message in asked.messages:
        parts = message["content"] if isinstance(message["content"], list) else []
        for label, part in pairwise(parts):
            if part["type"] == "image_url":
                kind, _, data = part["image_url"]["url"].partition(";base64,")
                assert kind == "data:image/jpeg"
                with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
                    found.append((label["text"], picture.size))
    return found


def label(file: Any) -> str:
    return f"[file:{file['id']}]"


@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_l5_a_model_sees_the_pictures_of_messages(house: House, mind: str) -> None:
    space = await house.space("Files", await house.agent("Scout", mind=mind, vision=True))
    large = await house.owner.upload(space, painted(2000, 1000), "large.png")
    small = await house.owner.upload(space, png(), "small.png")
    await house.owner.say(space, "Look", files=[large["id"], small["id"]])
    await house.until_idle()
    [asked] = house.model.asked
    assert seen(asked) == [(label(large), (1568, 784)), (label(small), (3, 2))]
    assert f"small.png, {small['bytes']} bytes, image/png, file:{small['id']}" in asked.text
    # Stored views have a link, which people open with their own rights.
    [run] = await house.runs()
    context = await house.owner.ok("GET", f"/api/runs/{run['id']}/context")
    shown = [message for message in context["requests"][0]["messages"] if isinstance(message["content"], list)]
    urls = [part["image_url"]["url"] for part in shown[-1]["content"] if part["type"] == "image_url"]
    assert urls == [f"/api/files/{large['id']}", f"/api/files/{small['id']}"]
    assert len(str(context)) < 100_000


async def test_l5_the_newest_pictures_are_shown_and_no_more_than_fit(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout", contextTokens=8_000))
    files = []
    for n in range(6):
        files.append(await house.owner.upload(space, painted(640, 480), f"{n}.png"))
        await house.owner.say(space, f"Picture {n}", files=[files[-1]["id"]])
        await house.until_idle()
    asked = house.model.asked[-1]
    shown = [name for name, _ in seen(asked)]
    assert shown == [label(each) for each in reversed(files)][: len(shown)]
    assert 0 < len(shown) < 6


async def test_l5_a_provider_that_refuses_pictures_is_asked_without_them_and_remembered(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout"))
    file = await house.owner.upload(space, png(), "shot.png")
    refusal = Reply(status=500, text="image input is not supported - hint: you may need to provide the mmproj")
    house.model.script = sequence(refusal, call("read_file", fileId=file["id"]), silent())
    await house.owner.say(space, "Look", files=[file["id"]])
    await house.until_idle()
    assert [len(seen(asked)) for asked in house.model.asked] == [1, 0, 0]
    assert "cannot see pictures" in house.model.asked[-1].results[-1]["error"]
    [run] = await house.runs()
    assert run["status"] == "completed"
    assert "The model refused a request with pictures. It is now asked without them." in run["notes"]
    await house.owner.say(space, "And now?")
    await house.until_idle()
    assert seen(house.model.asked[-1]) == []


async def test_l5_another_refusal_is_not_blamed_on_pictures_for_long(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout", limits={"attempts": 1}))
    file = await house.owner.upload(space, png(), "shot.png")
    refusal = Reply(status=400, text="temperature must be 1")
    house.model.script = sequence(refusal, refusal)
    await house.owner.say(space, "Look", files=[file["id"]])
    await house.until_idle()
    [run] = await house.runs()
    assert run["status"] == "failed"
    house.model.script = sequence()
    await house.owner.say(space, "And now?")
    await house.until_idle()
    assert len(seen(house.model.asked[-1])) == 1


async def test_l5_an_agent_looks_at_an_older_picture_with_read_file(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout", window=2))
    file = await house.owner.upload(space, png(), "shot.png")
    await house.owner.say(space, "Look", files=[file["id"]])
    for _ in range(3):
        await house.owner.say(space, "More")
    await house.until_idle()
    house.model.script = sequence(call("read_file", fileId=file["id"]), silent())
    await house.owner.say(space, "What was it?")
    await house.until_idle()
    first, second = house.model.asked[-2:]
    assert (seen(first), seen(second)) == ([], [(label(file), (3, 2))])
    assert second.messages[-1]["role"] == "user"
    assert second.messages[-2]["role"] == "tool"


async def test_l5_without_vision_no_picture_is_sent(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout", vision=False))
    file = await house.owner.upload(space, png(), "shot.png")
    await house.owner.say(space, "Look", files=[file["id"]])
    await house.until_idle()
    assert seen(house.model.asked[-1]) == []
