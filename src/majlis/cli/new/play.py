"""`majlis new --play`: plays a template to its end, in a gateway of its own with the demo model. The template has the
lines of the people."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from majlis import clock
from majlis.cli.agent.apply import apply_files
from majlis.cli.new.template import Act, Template
from majlis.cli.terminal import indented, print_json, print_line
from majlis.client import MajlisClient, shapes
from majlis.entities.tokens import issue
from majlis.errors import MajlisError
from majlis.gateway import open_gateway
from majlis.http_server import Server, address, bind
from majlis.logs import set_up_logging
from majlis.settings import PREFIX, Settings

_PATIENCE_SECONDS = 120
_DAY = 24 * 3_600_000


async def play_alone(template: Template, as_json: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="majlis-play-") as name:
        folder = Path(name)
        template.write(folder)
        environment = template.environment_in(folder)
        # A server would find it through PYTHONPATH.
        sys.path[:0] = [environment["PYTHONPATH"]] if "PYTHONPATH" in environment else []
        # A play does not use the settings of this machine, such as its database.
        lists = {key.removeprefix(PREFIX).lower(): [text] for key, text in environment.items() if PREFIX in key}
        settings = Settings.model_validate({"data_dir": folder / "data", "port": 0, "demo": False, **lists})
        set_up_logging(settings.model_copy(update={"log_level": "error"}))
        await _beside_a_server(settings, lambda client: _play(client, template, folder, as_json))


async def _play(client: MajlisClient, template: Template, folder: Path, as_json: bool) -> None:
    await apply_files(client, [folder / "agents.yaml"])
    spaces = {each["name"]: each["id"] for each in await client.list_spaces()}
    people = {each["name"]: each["id"] for each in await client.list_entities()}
    stage = Stage(client, spaces[template.space], people, not as_json)
    await stage.play(template.play)
    if as_json:
        print_json(await stage.messages())


async def _beside_a_server(settings: Settings, work: Callable[[MajlisClient], Coroutine[Any, Any, None]]) -> None:
    listener = bind(settings)
    gateway = await open_gateway(settings)
    server = Server(gateway)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        _, token = await gateway.db.write(issue, gateway.hasher, gateway.owner_id, "api")
        async with MajlisClient(address(settings, listener), token) as client:
            working = asyncio.create_task(work(client))
            # Ctrl-C stops the server first.
            await asyncio.wait({working, serving}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                working.cancel()
            await working
    finally:
        server.stop()
        await serving


@dataclass
class Stage:
    client: MajlisClient
    space: str
    # By their names.
    ids: dict[str, str]
    shows: bool = False
    _shown: set[str] = field(default_factory=set)

    async def play(self, acts: list[Act]) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                for act in acts:
                    await self._act(act)
        except TimeoutError:
            raise MajlisError("play_stopped", "The template stopped before its end. Please report it.") from None

    async def _act(self, act: Act) -> None:
        if "say" in act:
            await self._say(act["say"], act.get("by"))
        elif "approve" in act:
            await self._approve(act["approve"])
        elif "days" in act:
            # The plan is made at the end of the run, and no line in the space shows it.
            await self._until(lambda: self._has_plan(act["agent"]))
            clock.advance(act["days"] * _DAY + 60_000)
        else:
            await self._until(lambda: self._heard(act["hear"], act.get("times", 1)))

    async def messages(self) -> list[shapes.MessageJson]:
        return (await self.client.list_messages(self.space, limit=100))["messages"]

    async def _say(self, text: str, person: str | None) -> None:
        if person is None:
            await self.client.post(self.space, text)
            return
        token = (await self.client.create_token(self.ids[person]))["token"]
        async with MajlisClient(self.client.url, token) as other:
            await other.post(self.space, text)

    async def _approve(self, tool: str) -> None:
        async def asked() -> bool:
            return bool([each for each in await self.messages() if _is_open(each, tool)])

        await self._until(asked)
        [card] = [message for message in await self.messages() if _is_open(message, tool)]
        assert card["runId"] is not None
        await self.client.submit_tool_result(card["runId"], card["tool"]["callId"], {"approved": True})

    async def _heard(self, text: str, times: int) -> bool:
        return [message["text"] for message in await self.messages()].count(text) >= times

    async def _has_plan(self, agent: str) -> bool:
        plans = await self.client.list_plans(self.ids[agent])
        return any(plan["status"] == "active" for plan in plans)

    async def _until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        while not await holds():
            await self._show()
            await asyncio.sleep(0.05)
        await self._show()

    async def _show(self) -> None:
        for message in await self.messages() if self.shows else ():
            tool = message.get("tool")
            said = message["text"] or (f"({tool['name']}: {tool['status']})" if tool else "")
            if message["id"] not in self._shown and (tool is None or tool["status"] != "running"):
                self._shown.add(message["id"])
                print_line(f"{message['sender']['name']}: {indented(said)}")


def _is_open(message: shapes.MessageJson, tool: str) -> bool:
    found = message.get("tool")
    return bool(found and found["ui"] and found["name"] == tool and found["status"] == "running")
