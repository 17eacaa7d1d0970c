"""L5: agents read files with `read_file`, within the rights of the run's person (G3)."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from majlis import clock, erase
from majlis.store.tables import steps, views
from majlis.store.transactions import Tx
from tests.conditions import until
from tests.model_server import call, sequence, silent
from tests.runs.house import House
from tests.runs.test_acts_for import agent
from tests.spaces.documents import pdf
from tests.spaces.pictures import png


async def ask(house: House, space: str, *replies: Any, files: Any = ()) -> list[Any]:
    """The results of the calls that the agent makes when it is asked."""
    house.model.script = sequence(*replies, silent())
    await house.owner.say(space, "Read it", files=list(files))
    await house.until_idle()
    return house.model.asked[-1].results


@pytest.mark.parametrize("mind", ["timeline", "roles", "consciousness"])
async def test_l5_agents_see_and_read_the_files_of_messages(house: House, mind: str) -> None:
    space = await house.space("Files", await house.agent("Scout", mind=mind))
    file = await house.owner.upload(space, "name,größe\r\nAli,2\r\n".encode(), "sizes.csv")
    read = call("read_file", fileId=f"file:{file['id']}")
    [result] = await ask(house, space, read, files=[file["id"]])
    assert f"[file: sizes.csv, 21 bytes, text/csv, file:{file['id']}]" in house.invocations("Scout")[0].text
    [message] = [each for each in (await house.owner.history(space))["messages"] if each["files"]]
    assert result == {
        "success": True,
        "fileId": file["id"],
        "name": "sizes.csv",
        "mediaType": "text/csv",
        "bytes": 21,
        "messageId": message["id"],
        "text": "name,größe\nAli,2\n",
        "offset": 0,
        "total": 17,
    }


async def test_l5_a_long_file_comes_in_parts(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout"))
    text = "".join(f"line {n}: \x01 and more\n" for n in range(4_000))
    file = await house.owner.upload(space, text.encode(), "log.txt")
    await ask(house, space, files=[file["id"]])
    offset: Any = 0
    read, parts = "", 0
    while offset is not None:
        [result] = await ask(house, space, call("read_file", fileId=file["id"], offset=offset))
        assert (result["total"], result["offset"]) == (len(text), len(read))
        read, offset, parts = read + result["text"], result.get("nextOffset"), parts + 1
        assert (offset is None) == ("note" not in result)
    assert read == text
    assert parts > 3
    [beyond] = await ask(house, space, call("read_file", fileId=file["id"], offset=len(text)))
    assert "Use an offset below" in beyond["error"]


async def test_l5_other_texts_pdf_and_what_cannot_be_read(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout"))
    contents = {
        "wide.txt": "Grüße\n".encode("utf-16"),
        "report.pdf": pdf("Revenue was 42", "Second page"),
        "empty.pdf": pdf(""),
        "broken.pdf": b"%PDF-1.4\nnothing",
        "shot.png": png(),
        "data.bin": b"\x00\x01",
    }
    files = {name: await house.owner.upload(space, content, name) for name, content in contents.items()}
    calls = [call("read_file", fileId=each["id"]) for each in files.values()]
    sent = [each["id"] for each in files.values()]
    wide, report, empty, broken, shot, data = await ask(house, space, *calls, files=sent)
    assert wide["text"] == "Grüße\n"
    assert report["text"] == "[page 1 of 2]\nRevenue was 42\n\n[page 2 of 2]\nSecond page"
    assert "no text" in empty["note"]
    assert broken["error"].startswith("broken.pdf cannot be read: it is damaged")
    assert shot["files"] == [files["shot.png"]]
    assert "Only text, code, CSV, JSON and PDF" in data["error"]


async def test_g3_l5_a_run_reads_and_sends_only_files_of_its_person(house: House) -> None:
    scout, sara = await agent(house, "Scout"), await house.person("Sara")
    board, lounge = await house.space("Board", scout), await house.space("Lounge", scout, sara)
    secret = await house.owner.upload(board, b"We sell the company.", "plan.txt")
    unused = await house.owner.upload(lounge, b"Not sent.", "draft.txt")
    await house.owner.say(board, "", files=[secret["id"]])
    await house.until_idle()

    def tries() -> list[Any]:
        read, send = call("read_file", fileId=secret["id"]), call("send_message", text="Here", files=[secret["id"]])
        return [read, send, call("read_file", fileId=unused["id"]), silent()]

    house.model.script = sequence(*tries())
    await sara.say(lounge, "What is the plan?")
    await house.until_idle()
    read, sent, draft = house.model.asked[-1].results
    assert "There is no file" in read["error"]
    assert sent["error"].startswith("Nothing was sent: files contains")
    assert "There is no file" in draft["error"]
    assert "sell" not in house.model.asked[-1].text
    # The owner may read it and have it sent.
    house.model.script = sequence(*tries())
    await house.owner.say(lounge, "Show Sara the plan.")
    await house.until_idle()
    read, sent, _ = house.model.asked[-1].results
    assert read["text"] == "We sell the company."
    assert sent["success"]
    assert (await sara.get(f"/api/files/{secret['id']}")).content == b"We sell the company."


@pytest.mark.parametrize("mind", ["roles", "consciousness"])
async def test_l5_minds_whose_send_message_has_only_a_text_send_files(house: House, mind: str) -> None:
    space = await house.space("Files", await house.agent("Scout", mind=mind))
    file = await house.owner.upload(space, b"hello")
    enter = [call("enter_space", spaceId=space)] if mind == "consciousness" else []
    results = await ask(house, space, *enter, call("send_files", files=[file["id"]]), files=[file["id"]])
    assert results[-1]["success"]
    newest = (await house.owner.history(space))["messages"][-1]
    assert (newest["sender"]["name"], newest["text"], newest["files"]) == ("Scout", "", [file])


async def test_l2_l5_text_read_from_a_file_is_deleted_with_its_message(house: House) -> None:
    space = await house.space("Files", await house.agent("Scout"))
    file = await house.owner.upload(space, b"pineapple in the drawer", "pineapple.txt")
    [result] = await ask(house, space, call("read_file", fileId=file["id"]), files=[file["id"]])
    assert "drawer" in result["text"]
    await house.owner.ok("DELETE", f"/api/messages/{result['messageId']}")
    db = house.world.gateway.db

    async def is_gone() -> bool:
        clock.advance(5_000)
        await erase.erase_next(db)
        return await db.read(lambda tx: not _kept(tx))

    await until(is_gone)
    [refused] = await ask(house, space, call("read_file", fileId=file["id"]))
    assert "There is no file" in refused["error"]


def _kept(tx: Tx) -> bool:
    found = tx.all(sa.select(sa.cast(steps.c.output, sa.Text).label("text")))
    return any("drawer" in str(row.text) for row in found) or tx.one(sa.select(views.c.step).limit(1)) is not None
