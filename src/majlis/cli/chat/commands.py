"""What is typed into a chat: lines that are said, and a few commands."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from uuid import uuid4

from majlis.cli.chat.cards import COMMANDS, HELP, answer_card, card_lines
from majlis.cli.chat.stdin import typed_lines
from majlis.cli.printing import note
from majlis.cli.terminal import safe_line
from majlis.errors import Conflict, MajlisError, NotFound

if TYPE_CHECKING:
    from majlis.cli.chat.screen import ChatView
    from majlis.client import MajlisClient
    from majlis.client.shapes import RunStatus, SpaceJson

_HELP = (
    "/who   who is here, and who is thinking",
    "/stop  end what agents are doing here",
    *HELP,
    "/quit  leave; so does the end of the input",
    "//     says a line that begins with a slash",
)
_ACTIVE: tuple[RunStatus, ...] = ("running", "queued", "waiting_reply", "waiting_tool")


class Talking:
    """`by_hand`: a person types, who sees the typed line and can correct a refused one."""

    def __init__(self, client: MajlisClient, space: SpaceJson, view: ChatView, by_hand: bool) -> None:
        self._client = client
        self._space_id = space["id"]
        self._view = view
        self._by_hand = by_hand

    async def talk(self, follow: bool) -> None:
        await self._view.begun.wait()
        last = 0
        async for line in typed_lines():
            if line == "/quit":
                return
            try:
                last = await self._take(line) or last
            except MajlisError as error:
                if not self._by_hand:
                    raise
                note(error.message)
        await self._view.until_shown(last)
        if follow:
            await asyncio.Event().wait()

    async def _take(self, line: str) -> int | None:
        """The number of the message, if this line became one."""
        match line.strip():
            case "":
                return None
            case "/who":
                await self._tell_who()
            case "/stop":
                await self._stop()
            case "/cards":
                for each in card_lines(await self._client.list_pending_tool_calls(self._space_id)):
                    self._view.say(each)
            case command if command.partition(" ")[0] in COMMANDS:
                await answer_card(self._client, self._space_id, command)
            case command if command.startswith("/") and not command.startswith("//"):
                for each in _HELP:
                    self._view.say(each)
            case _:
                return await self._say(line.removeprefix("/") if line.startswith("//") else line)
        return None

    async def _say(self, text: str) -> int:
        client_id = uuid4().hex
        if self._by_hand:
            self._view.typed.add(client_id)
        return (await self._client.post(self._space_id, text, client_id))["seq"]

    async def _tell_who(self) -> None:
        thinking = set(self._view.active.values())
        for member in await self._client.list_members(self._space_id):
            busy = ", thinking" if member["id"] in thinking else ""
            self._view.say(f"{safe_line(member['name'])} ({member['type']}{busy})")

    async def _stop(self) -> None:
        pages = [await self._client.list_runs(space_id=self._space_id, status=status) for status in _ACTIVE]
        # Runs of plans and services began elsewhere, and are seen here only while they are at work.
        found = dict.fromkeys([*(run["id"] for page in pages for run in page["runs"]), *self._view.active])
        for run_id in found:
            try:
                run = await self._client.cancel_run(run_id)
            except Conflict:
                continue  # it has ended meanwhile
            except NotFound:
                self._view.say(f"Run {run_id} is not yours to stop.")
                continue
            self._view.say(f"{safe_line(run['agentName'])} was stopped.")
        if not found:
            self._view.say("No agent is doing anything here.")
