"""`majlis tail`: follow a space live in the terminal."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.chat.cards import card_line, outcome_line
from majlis.cli.command import AsJson
from majlis.cli.printing import note, print_json, print_line, shown_time, working
from majlis.cli.running import over_http
from majlis.cli.terminal import safe, safe_line

if TYPE_CHECKING:
    from majlis.client import Event, MajlisClient
    from majlis.client.shapes import MessageJson, SpaceJson

_PAGE = 200
_MOST_LINES = 10_000


@over_http
async def tail(
    client: MajlisClient,
    space: Annotated[str, typer.Argument(metavar="SPACE", help="The space's name or id.")],
    lines: Annotated[int, typer.Option(min=0, max=_MOST_LINES, help="How many past messages to begin with.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Follow a space live, from its last messages on, until Ctrl-C. With --json, a message a line."""
    from majlis.cli.lookup import find_space

    found = await find_space(client, space)
    tailing = Tailing(client, found, lines, as_json)
    # Being stopped is how this ends; what is open is closed on the way out.
    with suppress(asyncio.CancelledError):
        async with aclosing(client.follow(found["id"])) as events:
            async for event in events:
                await tailing.take(event)


class Tailing:
    """Prints every message once, in order, whatever the stream goes through."""

    def __init__(self, client: MajlisClient, space: SpaceJson, lines: int, as_json: bool) -> None:
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
                note(f"{event.data['reason']} Trying again until it is back.")
            case "resync":
                await self._catch_up()
            case "space.message":
                self._show(event.data["message"])

    async def _connect(self) -> None:
        if self._lost:
            self._lost = False
            note("Connected again.")
        # Only now, with the stream open: what is said meanwhile is in the page, in the stream, or in both.
        if not self._begun:
            self._begun = True
            await self._begin()

    async def _begin(self) -> None:
        async with working("Reading what was said"):
            last = await self._read_back(self._lines or _MOST_LINES, self._last_seq)
        for message in last:
            self._show(message)

    async def _catch_up(self) -> None:
        """The stream could not tell all that was missed; the history can."""
        for message in await self._read_back(_MOST_LINES, self._last_seq):
            self._show(message)

    async def _read_back(self, count: int, since: int) -> list[MessageJson]:
        found: list[MessageJson] = []
        while True:
            before = found[0]["id"] if found else None
            page = await self._client.list_messages(self._space_id, min(_PAGE, count - len(found)), before)
            found = page["messages"] + found
            if not page["hasMore"] or len(found) >= count or found[0]["seq"] <= since:
                return [message for message in found if message["seq"] > since]

    def _show(self, message: MessageJson) -> None:
        if not self._is_new(message):
            return
        self._last_seq = max(self._last_seq, message["seq"])
        if self._as_json:
            print_json(message, indent=None)
        else:
            print_line(_line(message))

    def _is_new(self, message: MessageJson) -> bool:
        """A tool message comes back with its result, under its old number."""
        if "tool" not in message:
            return message["seq"] > self._last_seq
        key = message["id"], message["tool"]["status"]
        known = key in self._tools
        self._tools.add(key)
        return not known


def _line(message: MessageJson) -> str:
    time = typer.style(shown_time(message["createdAt"]), dim=True)
    sender = typer.style(safe_line(message["sender"]["name"]), bold=True)
    return f"{time}  {sender}: {_what(message)}"


def _what(message: MessageJson) -> str:
    """Further lines are indented, so that none of them looks like a message of its own."""
    if "tool" in message and message["tool"]["ui"] is not None:
        card = message["tool"]
        return card_line(card) if card["status"] == "running" else outcome_line(card)
    if "tool" in message:
        return safe_line(f"[{message['tool']['name']}: {message['tool']['status']}] {message['text']}").rstrip()
    return safe(message["text"].replace("\r\n", "\n")).replace("\n", "\n    ")
