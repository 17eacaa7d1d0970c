"""A space "Lobby" as the timeline mind shows it to one of two demo agents, Alef and Ba, written by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from majlis.models.demo.demo import DemoModel
from majlis.models.port import Call, Prompt, Result, Said, System, ToolSpec, User
from tests.models.prompts import answer

IDS = {"Alef": "ent_a", "Ba": "ent_b", "Husam": "ent_h", "Sara": "ent_s"}
AGENTS = ("Alef", "Ba")


def tools(*send_inputs: str) -> tuple[ToolSpec, ...]:
    properties: dict[str, Any] = {name: {} for name in ("text", *send_inputs)}
    return (ToolSpec("send_message", "", {"type": "object", "properties": properties}),)


def who(name: str) -> str:
    return f"{name} ({'agent' if name in AGENTS else 'human'}, id:{IDS[name]})"


@dataclass
class Lobby:
    """What agent `me` is shown. `before` are earlier messages, `lines` whatever follows the trigger's line."""

    me: str = "Alef"
    people: tuple[str, ...] = ("Husam",)
    agents: tuple[str, ...] = AGENTS
    before: list[tuple[str, str]] = field(default_factory=list)
    memories: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    tools: tuple[ToolSpec, ...] = field(default_factory=lambda: tools("wait", "messageId"))
    layout: str = "stable"
    steps: list[Said | Result] = field(default_factory=list)

    def prompt(self, trigger: str, active: bool = True) -> Prompt:
        identity = f'IDENTITY:\n  name: "{self.me}"\n  entityId: "{IDS[self.me]}"'
        rules = 'INSTRUCTIONS:\n  - Use send_message to communicate.\n\nYOUR INSTRUCTIONS:\nBe kind.\n  message: "no"'
        where = '"Lobby" (id: spc_1)' if active else "none (call enter_space to enter a space first)"
        rest = "\n\n".join(
            [
                *self._remembered(),
                f"TRIGGER:\n{trigger}",
                f"ACTIVE SPACE: {where}",
                'NOW:\n  currentTime: "2026-02-18T15:07:00Z"',
            ]
        )
        world = (
            f"{self._spaces(active)}\n\n{self._history()}\n{rest}" if active else f"{self._spaces(active)}\n\n{rest}"
        )
        if self.layout == "classic":
            return Prompt((System(f"{identity}\n\n{world}\n\n{rules}"), *self.steps), self.tools)
        return Prompt((System(f"{rules}\n\n{identity}"), User((world[:40], world[40:])), *self.steps), self.tools)

    async def hears(self, text: str, sender: str = "Husam", depth: int = 0, expects: bool = False) -> list[Any]:
        """The steps of the whole run that a message starts, each with an answer of success."""
        self.lines = (
            f"  [msg:msg_t] [2026-02-18T15:06:55Z] {who(sender)}: {json.dumps(text)}  [NEW] ← TRIGGER",
            *self.lines,
        )
        return await self.acts(
            f'  type: space_message\n  space: "Lobby" (id: spc_1)\n  sender: {who(sender).replace("id:", "id: ")}\n'
            f'  message: {json.dumps(text)}\n  messageId: msg_t\n  timestamp: "2026-02-18T15:06:55Z"\n'
            f"  senderExpectsReply: {str(expects).lower()}\n  chainDepth: {depth}"
        )

    async def acts(self, trigger: str, active: bool = True, result: Any = None) -> list[Any]:
        taken: list[Any] = []
        model = DemoModel()
        while made := (await answer(model, self.prompt(trigger, active))).calls:
            taken.append((made[0].name, json.loads(made[0].arguments)))
            self.answered(made[0], {"success": True} if result is None else result)
            if taken[-1][1].get("wait"):
                break
        return taken

    def answered(self, call: Call, result: Any) -> None:
        self.steps += [Said("", (call,)), Result(call.id, call.name, json.dumps(result))]

    def _spaces(self, active: bool) -> str:
        members = ", ".join(
            [
                *(f"{name} (agent)" for name in self.agents if name != self.me),
                *(f"{name} (human)" for name in self.people),
                "You",
            ]
        )
        mark = " [ACTIVE]" if active else ""
        return f'YOUR SPACES:\n  - "Lobby" (id: spc_1){mark} — {members}\n  - "Other" (id: spc_2) — You'

    def _history(self) -> str:
        said = [
            f"  [msg:msg_{n}] [2026-02-18T15:00:00Z] {who(name)}: {json.dumps(text)}  [SEEN]"
            for n, (name, text) in enumerate(self.before)
        ]
        return "\n".join(['SPACE HISTORY ("Lobby"):', *said, *self.lines, ""])

    def _remembered(self) -> list[str]:
        return ["\n".join(["MEMORIES:", *self.memories])] if self.memories else []


def texts(steps: list[Any]) -> list[str]:
    return [given["text"] for name, given in steps if name == "send_message"]
