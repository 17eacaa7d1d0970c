"""What a chat prints: every message once, and on a terminal also who is thinking, who waits, and words as they come."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import typer

from majlis.cli.chat.streams import Streams
from majlis.cli.printing import print_line
from majlis.cli.tail import Tailing
from majlis.cli.terminal import safe_line

if TYPE_CHECKING:
    from majlis.client import Event, MajlisClient
    from majlis.client.shapes import MessageJson, SpaceJson


class ChatView(Tailing):
    """`live` is for people: everything else gets finished messages only."""

    def __init__(self, client: MajlisClient, space: SpaceJson, lines: int, as_json: bool, live: bool) -> None:
        super().__init__(client, space, lines, as_json)
        self.space_id = space["id"]
        # Client ids of messages that stand on the screen already, since they were typed there.
        self.typed: set[str] = set()
        # Run → agent.
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
        self._tell_thinking(set(self.active.values()) - before)
        async with self._moved:
            self._moved.notify_all()

    async def until_shown(self, seq: int) -> None:
        async with self._moved:
            await self._moved.wait_for(lambda: self._last_seq >= seq)

    def name(self, entity_id: str) -> str:
        return safe_line(self._names.get(entity_id, "An agent"))

    def say(self, text: str) -> None:
        """A remark of our own, in between."""
        self._streams.break_off()
        print_line(typer.style(text, dim=True))

    async def _begin(self) -> None:
        await super()._begin()
        self.begun.set()

    def _show(self, message: MessageJson) -> None:
        if message["clientId"] in self.typed or (self._live and self._streams.was_shown(message["text"])):
            self._last_seq = max(self._last_seq, message["seq"])
            return
        if self._live and self._is_later(message):
            self._streams.break_off()
        super()._show(message)

    def _is_later(self, message: MessageJson) -> bool:
        return message["seq"] > self._last_seq or "tool" in message

    def _follow_agents(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "connected":
                self.active = {each["runId"]: each["agentId"] for each in data.get("activeAgents", [])}
                self._streams.break_off()
                for each in data.get("streams", []):
                    self._streams.begin(each["streamId"], self.name(each["agentId"]), each["text"])
            case "space.member.joined" | "space.member.updated":
                self._names[data["member"]["id"]] = data["member"]["name"]
            case "agent.active":
                self.active[data["runId"]] = data["agentId"]
            case "agent.inactive":
                self.active.pop(data["runId"], None)
            case "run.waiting_reply" if self._live:
                self.say(f"{self.name(data['agentId'])} waits for your answer.")
            case "tool-call.start" if self._live and data["toolName"] == "send_message":
                self._streams.begin(data["streamId"], self.name(data["agentId"]))
            case "tool-input-delta" if self._live and "textDelta" in data:
                self._streams.add(data["streamId"], data["textDelta"], data["offset"])
            case "tool-call.error" if self._live:
                self._streams.take_back(data["streamId"])

    def _tell_thinking(self, agents: set[str]) -> None:
        for agent_id in sorted(agents) if self._live else ():
            self.say(f"{self.name(agent_id)} is thinking…")
