"""`majlis chat`: a space in the terminal, both ways: what is said, live, and lines that are said."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import note
from majlis.cli.running import over_http

if TYPE_CHECKING:
    from majlis.cli.chat.commands import Talking
    from majlis.cli.chat.screen import ChatView
    from majlis.client import MajlisClient

_HOURS = 24


@over_http
async def chat(
    client: MajlisClient,
    space: Annotated[str, typer.Argument(metavar="SPACE", help="The space's name or id.")],
    speaker: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Be somebody else, with a token for the time of it.")
    ] = None,
    lines: Annotated[int, typer.Option(min=0, max=10_000, help="How many past messages to begin with.")] = 20,
    follow: Annotated[bool, typer.Option("--follow", help="Go on listening when stdin has ended.")] = False,
    as_json: AsJson = False,
) -> None:
    """Talk in a space. Every line typed, or piped in, is a message; /help tells more."""
    from majlis.cli.chat.commands import Talking
    from majlis.cli.chat.screen import ChatView
    from majlis.cli.lookup import find_space

    async with _speaking(client, speaker) as voice:
        found = await find_space(voice, space)
        live = sys.stdout.isatty() and not as_json
        view = ChatView(voice, found, lines, as_json, live)
        if live and sys.stdin.isatty():
            note(f"What you type is said in {found['name']}. /help tells more, /quit ends it.")
        # Being stopped is how this ends; what is open is closed on the way out.
        with suppress(asyncio.CancelledError):
            await _chat(voice, view, Talking(voice, found, view, sys.stdin.isatty()), follow)


@asynccontextmanager
async def _speaking(client: MajlisClient, name: str | None) -> AsyncIterator[MajlisClient]:
    """As oneself, or with a token of somebody else that ends with the command, or else within the day."""
    from datetime import UTC, datetime, timedelta

    from majlis.cli.lookup import find_entity
    from majlis.client import MajlisClient

    if name is None:
        yield client
        return
    who = await find_entity(client, name)
    made = await client.create_token(who["id"], "majlis chat", datetime.now(UTC) + timedelta(hours=_HOURS))
    try:
        async with MajlisClient(client.url, made["token"]) as voice:
            yield voice
    finally:
        await client.revoke_token(made["id"])


async def _chat(client: MajlisClient, view: ChatView, talking: Talking, follow: bool) -> None:
    """Ends when there is nothing more to say (unless following on), or when listening fails for good."""
    listening = asyncio.create_task(_listen(client, view))
    speaking = asyncio.create_task(talking.talk(follow))
    both = {listening, speaking}
    try:
        done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)


async def _listen(client: MajlisClient, view: ChatView) -> None:
    async with aclosing(client.follow(view.space_id)) as events:
        async for event in events:
            await view.take(event)
