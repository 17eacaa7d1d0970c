"""`majlis chat`: shows a space live, posts the lines that are typed, and runs slash commands."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from majlis.cli.chat.cards import COMMANDS, HELP, answer_card, card_lines
from majlis.cli.chat.screen import Screen
from majlis.cli.command import AsJson, Space, over_http
from majlis.cli.lookup import find_entity, open_space
from majlis.cli.tail import Lines
from majlis.cli.terminal import note, safe_line
from majlis.errors import Conflict, Invalid, MajlisError, NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

_TOKEN_HOURS = 24
_CHUNK = 65_536
_HELP = (
    "/who   list the members and which agents are thinking",
    "/stop  stop the agents' runs in this space",
    *HELP,
    "/quit  leave, like Ctrl-D",
    "//     post a line that starts with a slash",
)
_ACTIVE: tuple[shapes.RunStatus, ...] = ("running", "queued", "waiting_reply", "waiting_tool")


@over_http
async def chat(
    client: MajlisClient,
    space: Space,
    speaker: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Post as this member, with a temporary token.")
    ] = None,
    lines: Lines = 20,
    follow: Annotated[bool, typer.Option("--follow", help="Keep listening after stdin has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Chat in a space.

    @NAME opens your direct conversation with a person or an agent.

    Every line that you type or pipe in is posted. /help lists the commands.
    """
    async with _speaking_as(client, speaker) as own:
        found = await open_space(own, space)
        live = sys.stdout.isatty() and not as_json
        screen = Screen(own, found, lines, as_json, live)
        if live and sys.stdin.isatty():
            note(f"You are chatting in {found['name']}. Type /help for commands, /quit to leave.")
        conversation = Conversation(own, found["id"], screen, sys.stdin.isatty())
        with suppress(asyncio.CancelledError):
            await _until_first(conversation.listen(), conversation.speak(follow))


@asynccontextmanager
async def _speaking_as(client: MajlisClient, name: str | None) -> AsyncIterator[MajlisClient]:
    """A client of another member, with a token that is revoked at the end. If the command is killed, it expires."""
    from majlis.client import MajlisClient

    if name is None:
        yield client
        return
    entity = await find_entity(client, name)
    expires_at = datetime.now(UTC) + timedelta(hours=_TOKEN_HOURS)
    made = await client.create_token(entity["id"], "majlis chat", expires_at)
    try:
        async with MajlisClient(client.url, made["token"]) as other:
            yield other
    finally:
        await client.revoke_token(made["id"])


async def _until_first(*work: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(each) for each in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Conversation:
    """`interactive`: a person types the lines, sees them, and can correct one that is refused."""

    def __init__(self, client: MajlisClient, space_id: str, screen: Screen, interactive: bool) -> None:
        self._client = client
        self._space_id = space_id
        self._screen = screen
        self._interactive = interactive

    async def listen(self) -> None:
        async with aclosing(self._client.follow(self._space_id)) as events:
            async for event in events:
                await self._screen.take(event)

    async def speak(self, follow: bool) -> None:
        """Ends with the input, unless `follow` is set."""
        await self._screen.begun.wait()
        last = 0
        async for line in _typed_lines():
            if line == "/quit":
                return
            try:
                last = await self._take(line) or last
            except MajlisError as error:
                if not self._interactive:
                    raise
                note(error.message)
        await self._screen.until_shown(last)
        if follow:
            await asyncio.Event().wait()

    async def _take(self, line: str) -> int | None:
        """Returns the number of the message if the line was posted."""
        match line.strip():
            case "":
                return None
            case "/who":
                await self._list_members()
            case "/stop":
                await self._stop()
            case "/cards":
                self._screen.say(*card_lines(await self._client.list_pending_tool_calls(self._space_id)))
            case command if command.partition(" ")[0] in COMMANDS:
                await answer_card(self._client, self._space_id, command)
            case command if command.startswith("/") and not command.startswith("//"):
                self._screen.say(*_HELP)
            case _:
                return await self._post(line.removeprefix("/") if line.startswith("//") else line)
        return None

    async def _post(self, text: str) -> int:
        client_id = uuid4().hex
        if self._interactive:
            self._screen.typed.add(client_id)
        return (await self._client.post(self._space_id, text, client_id))["seq"]

    async def _list_members(self) -> None:
        thinking = set(self._screen.active.values())
        for member in await self._client.list_members(self._space_id):
            busy = ", thinking" if member["id"] in thinking else ""
            self._screen.say(f"{safe_line(member['name'])} ({member['type']}{busy})")

    async def _stop(self) -> None:
        pages = [await self._client.list_runs(space_id=self._space_id, status=status) for status in _ACTIVE]
        # Runs of plans and services were triggered elsewhere and are listed here only while they are active.
        found = dict.fromkeys([*(run["id"] for page in pages for run in page["runs"]), *self._screen.active])
        for run_id in found:
            try:
                run = await self._client.cancel_run(run_id)
            except Conflict:
                continue  # it has already ended
            except NotFound:
                self._screen.say(f"You are not allowed to stop run {run_id}.")
                continue
            self._screen.say(f"Stopped {safe_line(run['agentName'])}.")
        if not found:
            self._screen.say("No agent is running here.")


async def _typed_lines() -> AsyncIterator[str]:
    """The lines of stdin. A thread reads them, because a non-blocking terminal would also have non-blocking output. It
    reads the file descriptor itself, because a read that waits in Python's buffer would block the exit."""
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        with suppress(RuntimeError):  # the loop is closed
            for line in _lines_of(descriptor):
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True, name="stdin").start()
    while (line := await lines.get()) is not None:
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise Invalid("invalid_text", "The input on stdin is not UTF-8 text.") from None
        yield text.removesuffix("\r")


def _lines_of(descriptor: int) -> Iterator[bytes]:
    rest = b""
    with suppress(OSError):  # the terminal is gone
        while chunk := os.read(descriptor, _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
    if rest:
        yield rest
