"""`majlis tail`: follows a space live."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.chat.cards import card_line, outcome_line
from majlis.cli.command import AsJson, Space, over_http
from majlis.cli.lookup import find_space
from majlis.cli.terminal import indented, local_time, note, print_json, print_line, safe_line, working

if TYPE_CHECKING:
    from majlis.client import Event, MajlisClient, shapes

_PAGE = 200
_MOST_LINES = 10_000
Lines = Annotated[int, typer.Option(min=0, max=_MOST_LINES, help="Number of past messages to show first.")]


@over_http
async def tail(client: MajlisClient, space: Space, lines: Lines = 20, as_json: AsJson = False) -> None:
    """Print the last messages of a space, then follow it live.

    Press Ctrl-C to stop. --json prints one message per line.
    """
    found = await find_space(client, space)
    tailing = Tailing(client, found, lines, as_json)
    with suppress(asyncio.CancelledError):
        async with aclosing(client.follow(found["id"])) as events:
            async for event in events:
                await tailing.take(event)


class Tailing:
    """Prints every message once and in order, across reconnects."""

    def __init__(self, client: MajlisClient, space: shapes.SpaceJson, lines: int, as_json: bool) -> None:
        self._client = client
        self._space_id = space["id"]
        self._lines = lines
        self._as_json = as_json
        self._begun = False
        self._lost = False
        self._last_seq = space["lastMessage"]["seq"] if space["lastMessage"] and not lines else 0
        self._tools: set[tuple[str, str]] = set()

    async def take(self, event: Event) -> None:
        match event.type:
            case "connected":
                await self._connect()
            case "disconnected" if not self._lost:
                self._lost = True
                note(f"{event.data['reason']} Reconnecting…")
            case "resync":
                self._show_all(await self._read_back(_MOST_LINES))
            case "space.message":
                self._show(event.data["message"])

    async def _connect(self) -> None:
        if self._lost:
            self._lost = False
            note("Reconnected.")
        # Loaded after the stream is open, so that no message is missed.
        if not self._begun:
            self._begun = True
            await self._begin()

    async def _begin(self) -> None:
        async with working("Loading messages"):
            found = await self._read_back(self._lines or _MOST_LINES)
        self._show_all(found)

    async def _read_back(self, count: int) -> list[shapes.MessageJson]:
        """At most `count` messages after the last one shown."""
        found: list[shapes.MessageJson] = []
        while True:
            before = found[0]["id"] if found else None
            page = await self._client.list_messages(self._space_id, min(_PAGE, count - len(found)), before)
            found = page["messages"] + found
            if not page["hasMore"] or len(found) >= count or found[0]["seq"] <= self._last_seq:
                return [message for message in found if message["seq"] > self._last_seq]

    def _show_all(self, messages: list[shapes.MessageJson]) -> None:
        for message in messages:
            self._show(message)

    def _show(self, message: shapes.MessageJson) -> None:
        if not self._is_new(message):
            return
        self._last_seq = max(self._last_seq, message["seq"])
        if self._as_json:
            print_json(message, indent=None)
        else:
            print_line(_line(message))

    def _is_new(self, message: shapes.MessageJson) -> bool:
        """A tool message is sent again with its result, under the same number."""
        if "tool" not in message:
            return message["seq"] > self._last_seq
        key = message["id"], message["tool"]["status"]
        known = key in self._tools
        self._tools.add(key)
        return not known


def _line(message: shapes.MessageJson) -> str:
    time = typer.style(local_time(message["createdAt"]), dim=True)
    sender = typer.style(safe_line(message["sender"]["name"]), bold=True)
    return f"{time}  {sender}: {_content(message)}"


def _content(message: shapes.MessageJson) -> str:
    if "tool" not in message:
        return indented(message["text"])
    tool = message["tool"]
    if tool["ui"] is None:
        return safe_line(f"[{tool['name']}: {tool['status']}] {message['text']}").rstrip()
    return card_line(tool) if tool["status"] == "running" else outcome_line(tool)
