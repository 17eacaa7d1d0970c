"""Plays the people of an example until it has reached its end, and prints what is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from examples.staging import Example
from majlis import clock
from majlis.client import MajlisClient
from majlis.client.shapes import MessageJson

_PATIENCE_SECONDS = 120
_DAY = 24 * 3_600_000


@dataclass
class Stage:
    client: MajlisClient
    example: Example
    ids: dict[str, str]
    url: str

    @property
    def space(self) -> str:
        return self.ids[self.example.spaces[0]["name"]]

    async def say(self, text: str, person: str | None = None) -> None:
        if person is None:
            await self.client.post(self.space, text)
            return
        token = (await self.client.create_token(self.ids[person]))["token"]
        async with MajlisClient(self.url, token) as other:
            await other.post(self.space, text)

    async def messages(self) -> list[MessageJson]:
        return (await self.client.list_messages(self.space, limit=100))["messages"]

    async def hears(self, text: str, times: int = 1) -> None:
        async def heard() -> bool:
            return [message["text"] for message in await self.messages()].count(text) >= times

        await _until(heard)

    async def approves(self, tool: str) -> None:
        async def asked() -> bool:
            return any(True for message in await self.messages() if _is_open(message, tool))

        await _until(asked)
        [card] = [message for message in await self.messages() if _is_open(message, tool)]
        assert card["runId"] is not None
        await self.client.submit_tool_result(card["runId"], card["tool"]["callId"], {"approved": True})


async def play(stage: Stage) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        await stage.say(stage.example.say)
        await _ACTS[stage.example.name](stage)
    for message in await stage.messages():
        tool = message.get("tool")
        said = message["text"] or (f"({tool['name']}: {tool['status']})" if tool else "")
        print(f"{message['sender']['name']}: {said}")  # noqa: T201


async def _deploy_bot(stage: Stage) -> None:
    await stage.approves("deploy_live")
    await stage.hears("1.4 is live.")


async def _team_vote(stage: Stage) -> None:
    await stage.hears("Option A or B? Everyone please reply.")
    for person, vote in (("Ahmad", "A"), ("Sarah", "B"), ("Husam", "A")):
        await stage.say(f"Option {vote}", person)
    await stage.hears("Option A wins (2-1).")


async def _report(stage: Stage) -> None:
    await stage.hears("Started. I need the budget from Finance.")
    for day in (1, 2):
        # The plan is made at the end of the run, which the next line of the space does not wait for.
        await _until(lambda: _has_plan(stage))
        clock.advance(_DAY + 60_000)
        await stage.hears("Finance, the budget?", day)
    await stage.say("Budget is $500K", "Finance")
    await stage.hears("Q4 report: revenue $2.1M, budget $500K.")


async def _hand_over(stage: Stage) -> None:
    await stage.hears("Your site is ready.")


async def _mcp_agent(stage: Stage) -> None:
    await stage.hears("Noted.")
    await stage.say("The plants are watered.")
    await stage.approves("tasks__finish_task")
    await stage.hears("Off the list.")


_ACTS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "deploy_bot": _deploy_bot,
    "team_vote": _team_vote,
    "report": _report,
    "hand_over": _hand_over,
    "mcp_agent": _mcp_agent,
}


def _is_open(message: MessageJson, tool: str) -> bool:
    found = message.get("tool")
    return bool(found and found["ui"] and found["name"] == tool and found["status"] == "running")


async def _has_plan(stage: Stage) -> bool:
    plans = await stage.client.list_plans(stage.ids["Reporter"])
    return any(plan["status"] == "active" for plan in plans)


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    while not await holds():  # noqa: ASYNC110 - what it waits for has no event
        await asyncio.sleep(0.05)
