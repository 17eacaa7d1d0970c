"""`majlis runs` and `majlis run`: the work of agents in a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from majlis import clock
from majlis.settings import Settings
from tests.cli.command import Command
from tests.past_runs import add_run, add_steps, add_view
from tests.world import Person, World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Without workers: the tests write the runs."""
    return settings.model_copy(update={"workers": 0})


async def asked(world: World, text: str, name: str = "Scout", **columns: Any) -> tuple[Person, str]:
    """The owner asks an agent something in a space that is named after it."""
    agent = await world.agent(name)
    space = await world.owner.create_space(f"Room of {name}")
    return agent, await add_run(world, agent, await world.owner.say(space, text), **columns)


async def test_runs_are_listed_newest_first_and_by_what_is_asked(majlis: Command, world: World) -> None:
    _, first = await asked(world, "what is new?", input_tokens=1200, output_tokens=34)
    guide, second = await asked(world, "a\nforged line \u202e" + "x" * 80, "Guide", status="failed")
    third = await add_run(world, guide, reason="limit")
    listed = (await majlis.ok("runs")).out
    rows = [line.split()[:4] for line in listed.splitlines()]
    assert rows[1:] == [
        [third, "Guide", "completed", "(limit)"],
        [second, "Guide", "failed", "Owner:"],
        [first, "Scout", "completed", "Owner:"],
    ]
    assert "1,234" in listed
    assert "service Shop" in listed
    assert "a\\nforged line \\u202e" in listed

    async def found(*arguments: str) -> list[str]:
        return [run["id"] for run in (await majlis.ok("runs", *arguments, "--json")).json]

    assert await found("--agent", "guide") == [third, second]
    assert await found("--space", "Room of Scout") == [first]
    assert await found("--status", "failed") == [second]
    assert await found("--limit", "1") == [third]
    assert (await majlis.ok("runs", "--status", "running")).out == "No runs found.\n"
    assert "no person, agent or service named 'Unknown'" in await majlis.line("runs", "--agent", "Unknown", code=1)
    assert "'asleep'" in await majlis.line("runs", "--status", "asleep", code=2)


async def test_more_runs_than_a_page_are_listed(majlis: Command, world: World) -> None:
    agent, _ = await asked(world, "hello")
    for _ in range(204):
        await add_run(world, agent)
    assert len((await majlis.ok("runs", "--limit", "203", "--json")).json) == 203
    assert len((await majlis.ok("runs", "--limit", "1000")).out.splitlines()) == 206


async def test_a_run_is_shown_with_its_steps_its_cost_and_its_error(majlis: Command, world: World) -> None:
    at = clock.now()
    _, run = await asked(
        world,
        "deploy it",
        status="failed",
        error={"code": "model_unauthorized", "message": "The key is wrong."},
        notes=["produced text, sent nothing"],
        requests=2,
        input_tokens=2000,
        cached_tokens=1500,
        output_tokens=30,
        attempts=3,
        started_at=at,
        ended_at=at + 2500,
    )
    await add_steps(
        world,
        run,
        {"kind": "model", "output": {"text": "hm"}},
        {"name": "deploy", "input": {"to": "prod"}, "output": "y" * 500, "started_at": at, "ended_at": at + 1500},
        {"name": "notify", "input": {}, "state": "started", "ended_at": None},
    )
    shown = (await majlis.ok("run", "show", run)).out
    for told in (
        "Owner: deploy it",
        "2,000 in (1,500 cached), 30 out",
        "The key is wrong. (model_unauthorized)",
        "produced text, sent nothing",
        "attempt 3",
        '{"to": "prod"}',
        "1.5 s",
        "notify (started)",
    ):
        assert told in shown, told
    assert "y" * 150 in shown.replace("\n", "")
    assert "y" * 250 not in shown.replace("\n", "").replace(" ", "")
    data = (await majlis.ok("run", "show", run, "--json")).json
    assert (data["run"]["id"], len(data["steps"]), data.keys()) == (run, 3, {"run", "steps"})


async def test_x13_what_the_model_was_sent_is_shown_when_asked_for(majlis: Command, world: World) -> None:
    _, run = await asked(world, "hello")
    nothing = (await majlis.ok("run", "show", run, "--context")).out
    assert "no longer stored" in nothing
    told = [
        {"role": "system", "content": "You are Scout.\n  Be kind \x1b[2J."},
        {"role": "tool", "content": None, "x": 1},
    ]
    await add_view(world, run, 1, None, told, [{"type": "function", "function": {"name": "send_message"}}])
    shown = (await majlis.ok("run", "show", run, "--context")).out
    assert "Sent at step 1 ── tools: send_message\nabout 30 tokens, no budget\n\n[system]\nYou are" in shown
    assert " Scout.\n  Be kind \\u001b[2J.\n" in shown
    assert '[tool]\n{"x": 1}\n' in shown
    data = (await majlis.ok("run", "show", run, "--context", "--json")).json
    assert data["context"]["requests"][0]["messages"] == told


async def test_a_run_that_the_caller_cannot_see_is_reported_in_one_line(bare: Command, world: World) -> None:
    sara = await world.person("Sara")
    _, run = await asked(world, "hello")
    hers = bare.given(MAJLIS_URL=world.base_url, MAJLIS_TOKEN=sara.token)
    assert await hers.line("run", "show", run, code=1) == f"You don't have access to a run with the id {run}."
    assert await hers.line("run", "cancel", run, code=1) == f"You don't have access to a run with the id {run}."
    assert await hers.line("run", "show", "nonsense", code=1) == "Nothing has this id. Check the path."


async def test_j3_a_run_is_canceled_once(majlis: Command, world: World) -> None:
    _, run = await asked(world, "hello", status="running")
    assert (await majlis.ok("run", "cancel", run)).out == f"Canceled {run} of Scout.\n"
    assert await majlis.line("run", "cancel", run, code=1) == "This run has already ended."
