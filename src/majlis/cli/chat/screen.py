"""The output of `majlis chat`: every message once, and on a terminal also active agents and text as it is written."""

from __future__ import annotations

import asyncio
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from majlis.cli.tail import Tailing
from majlis.cli.terminal import indented, print_line, safe_line

if TYPE_CHECKING:
    from majlis.client import Event, MajlisClient, shapes


class Screen(Tailing):
    """`live`: for a person at a terminal. Otherwise only finished messages are printed."""

    def __init__(self, client: MajlisClient, space: shapes.SpaceJson, lines: int, as_json: bool, live: bool) -> None:
        super().__init__(client, space, lines, as_json)
        # Client ids of messages that are already on the screen because they were typed there.
        self.typed: set[str] = set()
        # The agent of each active run.
        self.active: dict[str, str] = {}
        self.begun = asyncio.Event()
        self._live = live
        self._names = {member["id"]: member["name"] for member in space["members"]}
        self._streams = Streams()
        self._moved = asyncio.Condition()

    async def take(self, event: Event) -> None:
        before = set(self.active.values())
        self._follow_agents(event)
        if event.type == "space.message" and self._live:
            self._streams.end(event.data.get("streamId"), event.data["message"]["text"])
        await super().take(event)
        for agent_id in sorted(set(self.active.values()) - before) if self._live else ():
            self.say(f"{self._name(agent_id)} is thinking…")
        async with self._moved:
            self._moved.notify_all()

    async def until_shown(self, seq: int) -> None:
        async with self._moved:
            await self._moved.wait_for(lambda: self._last_seq >= seq)

    def say(self, *lines: str) -> None:
        """Prints lines that are not messages."""
        self._streams.interrupt()
        for line in lines:
            print_line(typer.style(line, dim=True))

    async def _begin(self) -> None:
        await super()._begin()
        self.begun.set()

    def _show(self, message: shapes.MessageJson) -> None:
        if message["clientId"] in self.typed or (self._live and self._streams.was_shown(message["text"])):
            self._last_seq = max(self._last_seq, message["seq"])
            return
        if self._live and (message["seq"] > self._last_seq or "tool" in message):
            self._streams.interrupt()
        super()._show(message)

    def _follow_agents(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "connected":
                self.active = {each["runId"]: each["agentId"] for each in data.get("activeAgents", [])}
                self._streams.interrupt()
                for each in data.get("streams", []):
                    self._streams.begin(each["streamId"], self._name(each["agentId"]), each["text"])
            case "space.member.joined" | "space.member.updated":
                self._names[data["member"]["id"]] = data["member"]["name"]
            case "agent.active":
                self.active[data["runId"]] = data["agentId"]
            case "agent.inactive":
                self.active.pop(data["runId"], None)
            case "run.waiting_reply" if self._live:
                self.say(f"{self._name(data['agentId'])} is waiting for your reply.")
            case "tool-call.start" if self._live and data["toolName"] == "send_message":
                self._streams.begin(data["streamId"], self._name(data["agentId"]))
            case "tool-input-delta" if self._live and "textDelta" in data:
                self._streams.add(data["streamId"], data["textDelta"], data["offset"])
            case "tool-call.error" if self._live:
                self._streams.cancel(data["streamId"])

    def _name(self, entity_id: str) -> str:
        return safe_line(self._names.get(entity_id, "An agent"))


class Streams:
    """Text as it is written. One stream has the open line. Other output interrupts it; the finished message is then
    printed in full."""

    def __init__(self) -> None:
        self._speakers: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        # Deltas may arrive after the message that ends their stream, or after their line was interrupted.
        self._closed: set[str] = set()
        self._open: str | None = None
        self._shown: str | None = None

    def begin(self, stream_id: str, speaker: str, text: str = "") -> None:
        """Can be called again after a reconnect. Text that is already known stays."""
        self._speakers[stream_id] = speaker
        if len(text) >= len(self._texts.get(stream_id, "")):
            self._texts[stream_id] = text

    def add(self, stream_id: str, delta: str, offset: int) -> None:
        """Skips text that is already known. After a gap, the rest of the stream is not shown."""
        known = self._texts.get(stream_id)
        if known is None or stream_id in self._closed or offset > len(known):
            return
        new = delta[len(known) - offset :]
        self._texts[stream_id] = known + new
        if self._open is None and known + new:
            self._open = stream_id
            time = typer.style(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S}", dim=True)
            _write(f"{time}  {typer.style(self._speakers[stream_id], bold=True)}: {indented(known + new)}")
        elif self._open == stream_id:
            _write(indented(new))

    def end(self, stream_id: str | None, text: str) -> None:
        """The message has arrived. Completes its line if the text matches."""
        if stream_id is None:
            return
        written = self._texts.pop(stream_id, "")
        self._closed.add(stream_id)
        if self._open != stream_id:
            return
        if text.startswith(written):
            _write(f"{indented(text[len(written) :])}\n")
            self._open, self._shown = None, text
        else:
            self.interrupt()

    def was_shown(self, text: str) -> bool:
        """True for the message whose line was just completed."""
        shown, self._shown = self._shown, None
        return shown == text

    def cancel(self, stream_id: str) -> None:
        self._texts.pop(stream_id, None)
        self._closed.add(stream_id)
        if self._open == stream_id:
            _write(typer.style(" … (canceled)\n", dim=True))
            self._open = None

    def interrupt(self) -> None:
        if self._open is not None:
            self._closed.add(self._open)
            _write(typer.style(" …\n", dim=True))
            self._open = None


def _write(text: str) -> None:
    typer.echo(text, nl=False)
    sys.stdout.flush()
