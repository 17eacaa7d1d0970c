"""The demo model with the consciousness mind, from real prompts to calls."""

from __future__ import annotations

import json
from typing import Any

from majlis.minds.consciousness.perceive import perceive
from majlis.minds.consciousness.scene import Event
from majlis.models.demo.demo import DemoModel
from majlis.models.port import Finished, Prompt, Result, Said, Turn
from majlis.tools.toolbox import built_in_tools
from tests.minds.scenes import ALPHA
from tests.minds.wakings import FAMILY, cycle, plan, said, service, waking


async def live(*inbox: Event, result: str = '{"success":true}') -> list[tuple[str, dict[str, Any]]]:
    """Its calls, after an earlier cycle that did other things."""
    view = perceive(waking(*inbox, recent=(cycle(1),)))
    turns: list[Turn] = list(view.turns)
    tools = tuple(tool.spec for tool in built_in_tools("consciousness"))
    made: list[tuple[str, dict[str, Any]]] = []
    while True:
        async for event in DemoModel().stream(Prompt(tuple(turns), tools, outline=view.outline)):
            if isinstance(event, Finished):
                answer = event.answer
        if not answer.calls:
            return made
        [call] = answer.calls
        made.append((call.name, json.loads(call.arguments)))
        turns += [Said(answer.text, answer.calls), Result(call.id, call.name, result)]


async def test_k4_it_enters_the_space_of_a_message_and_answers_there() -> None:
    entered, sent = await live(said("hello"))
    assert entered == ("enter_space", {"spaceId": FAMILY.id})
    assert sent[0] == "send_message"
    assert list(sent[1]) == ["text"]
    assert sent[1]["text"].startswith("Hello Husam! I am DataAnalyst, a demo agent.")


async def test_k2_it_answers_every_message_where_it_came_from_and_enters_no_space_twice_in_a_row() -> None:
    made = await live(said("hello"), said("who are you?"), said("DataAnalyst, hello", space=ALPHA), service("CI", {}))
    assert [name for name, _ in made] == ["enter_space", "send_message", "send_message", "enter_space", "send_message"]
    assert [given["spaceId"] for name, given in made if name == "enter_space"] == [FAMILY.id, ALPHA.id]


async def test_a_reminder_comes_back_as_a_plan() -> None:
    made = await live(plan("Reminder: stretch", f"In space {FAMILY.id} remind Husam: stretch"))
    assert made[0] == ("enter_space", {"spaceId": FAMILY.id})
    assert "stretch" in made[1][1]["text"]


async def test_a_message_for_others_and_a_refused_call_end_the_cycle() -> None:
    assert await live(said("Designer, hello", space=ALPHA)) == []
    assert await live(said("hello"), result='{"success": false, "error": "…"}') == [
        ("enter_space", {"spaceId": FAMILY.id})
    ]
