"""L6: a form field of the format `file-id` is answered with the id of a file that the member may attach."""

from __future__ import annotations

from typing import Any

from tests.api.test_bad_input import assert_error
from tests.model_server import call, silent
from tests.runs.cards import asked, card_in, submit
from tests.runs.house import House

FORM: dict[str, Any] = {
    "name": "hand_in",
    "type": "space",
    "ui": "form",
    "inputSchema": {
        "type": "object",
        "properties": {
            "question": {"type": "string"},
            "report": {"type": "string", "format": "file-id"},
            "more": {"type": "array", "items": {"type": "string", "format": "file-id"}},
        },
    },
}


async def test_l6_a_form_is_answered_with_files_that_the_agent_then_reads(house: House) -> None:
    read: list[Any] = []
    made: list[Any] = []
    _, space, card = await asked(house, lambda _: call("read_file", fileId=made[0]), silent(), tool=FORM)
    eve = await house.person("Eve")
    other = await eve.upload(await eve.create_space("Eve's"), b"private")
    file = await house.owner.upload(space, b"quarterly numbers", "report.txt")
    made.append(file["id"])
    second = await house.owner.upload(space, b"more", "more.txt")
    for wrong in ("fil_1m7r60pfq81na0q7", "report.txt", other["id"]):
        refused = assert_error(await submit(house.owner, card, {"report": wrong}), 422, "invalid_result")
        assert refused["path"] == "result.report"
    assert "more.1" in str(
        assert_error(await submit(house.owner, card, {"more": [second["id"], "x"]}), 422, "invalid_result")
    )
    answer = {"report": file["id"], "more": [second["id"], file["id"]]}
    assert (await submit(house.owner, card, answer)).status_code == 200
    await house.until_idle()
    shown = await card_in(house, space)
    assert shown["tool"]["output"] == answer
    assert [each["name"] for each in shown["files"]] == ["report.txt", "more.txt"]
    read = house.model.asked[-1].results
    assert read[-1]["text"] == "quarterly numbers"
    assert read[-1]["messageId"] == card["id"]
