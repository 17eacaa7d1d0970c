"""J5 in the terminal: `majlis chat` shows cards, and slash commands answer them."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.cli.chat.cards import result_of
from majlis.errors import Invalid
from tests.cli.command import Command
from tests.model_server import ModelServer, call, say, sequence
from tests.runs.house import House
from tests.world import World

TOOLS: list[dict[str, Any]] = [
    {"name": "approve", "type": "space", "ui": "approval"},
    {"name": "pick", "type": "space", "ui": "choice"},
]


# This command does not use the database; one engine behind the server is enough.
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_j5_a_card_is_shown_and_answered_by_a_line(majlis: Command, world: World) -> None:
    async with ModelServer() as model:
        house = House(world, model)
        bot = await house.agent("Bot", tools=TOOLS)
        space = await house.space("Releases", bot)
        model.script = sequence(
            call("approve", question="Shall I?"), call("pick", question="Which?", options=["red", "blue"]), say("Done.")
        )
        await house.owner.say(space, "go")
        await house.until_waiting()
        [run] = await house.runs()
        shown = await majlis.ok("run", "show", run["id"])
        assert "for an answer to approve since" in shown.out
        ran = await majlis.ok("chat", "Releases", stdin=b"/cards\n/approve go ahead\n")
        assert "Bot: Shall I? (/approve or /deny)" in ran.out
        await house.until_waiting()
        ran = await majlis.ok("chat", "Releases", stdin=b"/choose 2\n")
        assert 'Bot: approve: Owner answered {"approved": true, "comment": "go ahead"}' in ran.out
        assert "Bot: Which? (/choose 1 red, 2 blue)" in ran.out
        await house.until_idle()
        assert (await house.texts(space))[-1] == ("Bot", "Done.")
        nothing = await majlis("chat", "Releases", stdin=b"/deny\n")
        assert nothing.code == 1
        assert "There is no open card here that /deny can answer." in nothing.err


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_j4_the_policy_of_a_space_is_shown_and_set(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Releases")
    assert (await majlis.ok("space", "policy", "Releases")).out == "Agents may use all their tools in Releases.\n"
    shown = (await majlis.ok("space", "policy", "Releases", "deploy_test=allow", "deploy*=ask")).out.splitlines()
    assert [line.split() for line in shown] == [["Tools", "Action"], ["deploy_test", "allow"], ["deploy*", "ask"]]
    assert (await world.owner.space(space))["toolPolicy"][1] == {"tools": "deploy*", "do": "ask"}
    told = await majlis.line("space", "policy", "Releases", "deploy=maybe", code=1)
    assert "toolPolicy.0.do" in told or "'allow', 'ask' or 'deny'" in told
    assert (await majlis.ok("space", "policy", "Releases", "--clear", "--json")).json == []


def test_a_form_is_filled_in_by_names_and_values() -> None:
    properties = {
        "title": {"type": "string"},
        "count": {"type": "integer"},
        "urgent": {"type": "boolean"},
        "teams": {"type": "array", "items": {"type": "string"}},
    }
    card: Any = {"ui": "form", "resultSchema": {"type": "object", "properties": properties}}
    given = result_of(card, "/answer", "title=A long title count=3 urgent=true teams=web,data")
    assert given == {"title": "A long title", "count": 3, "urgent": True, "teams": ["web", "data"]}
    assert result_of(card, "/answer", '{"count": 1}') == {"count": 1}
    for wrong in ("hello", "count=three"):
        with pytest.raises(Invalid):
            result_of(card, "/answer", wrong)
    one: Any = {"ui": "form", "resultSchema": {"properties": {"text": {"type": "string"}}}}
    assert result_of(one, "/answer", "just words") == {"text": "just words"}
