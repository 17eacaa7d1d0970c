"""The space "Lobby" as the timeline mind shows it to one of two demo agents, Alef and Ba."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from majlis.agents.config.config import parse_config
from majlis.clock import iso, parse_iso
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Action, ActiveSpace, Memory, Message, OwnSpace, Resume, Scene, Who
from majlis.models.demo.demo import DemoModel
from majlis.models.port import Call, Prompt, Result, Said, ToolSpec
from tests.models.prompts import answer

NOW = parse_iso("2026-02-18T15:07:00Z")
PEOPLE = {
    "Alef": Who("ent_a", "Alef", "agent"),
    "Ba": Who("ent_b", "Ba", "agent"),
    "Husam": Who("ent_h", "Husam", "human"),
    "Sara": Who("ent_s", "Sara", "human"),
}
AGENTS = ("Alef", "Ba")
OPENED = {"type": "service", "serviceName": "majlis", "payload": {"event": "opened", "spaceId": "spc_1"}}


def tools(*send_inputs: str) -> tuple[ToolSpec, ...]:
    properties: dict[str, Any] = {name: {} for name in ("text", *send_inputs)}
    return (ToolSpec("send_message", "", {"type": "object", "properties": properties}),)


def called(name: str, message_id: str | None = None, **given: Any) -> Action:
    return Action(NOW, name, given, {"success": True}, "done", message_id, "spc_1" if message_id else None)


def plan(name: str, instruction: str) -> dict[str, Any]:
    return {
        "type": "plan",
        "planId": "pln_1",
        "planName": name,
        "instruction": instruction,
        "scheduledAt": iso(NOW),
        "chainDepth": 0,
    }


@dataclass
class Lobby:
    """The prompt of agent `me`. `before` are earlier messages, `after` those after the trigger."""

    me: str = "Alef"
    people: tuple[str, ...] = ("Husam",)
    agents: tuple[str, ...] = AGENTS
    before: list[tuple[str, str]] = field(default_factory=list)
    after: list[tuple[str, str]] = field(default_factory=list)
    memories: dict[str, str] = field(default_factory=dict)
    actions: tuple[Action, ...] = ()
    resume: Resume | None = None
    tools: tuple[ToolSpec, ...] = field(default_factory=lambda: tools("wait", "messageId"))
    layout: str = "stable"
    steps: list[Said | Result] = field(default_factory=list)

    def prompt(self, trigger: dict[str, Any], active: bool = True) -> Prompt:
        view = perceive(self._scene(trigger, active))
        return Prompt((*view.turns, *self.steps), self.tools, outline=view.outline)

    async def hears(
        self, text: str, sender: str = "Husam", depth: int = 0, expects: bool = False, result: Any = None
    ) -> list[Any]:
        """The steps of the run that a message starts, each answered with `result` or with success."""
        who = PEOPLE[sender]
        return await self.acts(
            {
                "type": "space_message",
                "spaceId": "spc_1",
                "spaceName": "Lobby",
                "senderId": who.id,
                "senderName": who.name,
                "senderType": who.type,
                "text": text,
                "messageId": "msg_t",
                "timestamp": iso(NOW),
                "senderExpectsReply": expects,
                "chainDepth": depth,
            },
            result=result,
        )

    async def acts(self, trigger: dict[str, Any], active: bool = True, result: Any = None) -> list[Any]:
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

    def _scene(self, trigger: dict[str, Any], active: bool) -> Scene:
        others = tuple(PEOPLE[name] for name in (*self.agents, *self.people) if name != self.me)
        history = self._history(trigger) if active else ()
        return Scene(
            NOW,
            PEOPLE[self.me],
            parse_config({"layout": self.layout, "instructions": 'Be kind.\n  message: "no"'}),
            "run_1",
            trigger,
            ActiveSpace("spc_1", "Lobby", len(history), 0) if active else None,
            auto_set=active,
            history=history,
            spaces=(OwnSpace("spc_1", "Lobby", "member", others), OwnSpace("spc_2", "Other", "member", ())),
            memories=tuple(Memory(key, value) for key, value in self.memories.items()),
            actions=self.actions,
            resume=self.resume,
        )

    def _history(self, trigger: dict[str, Any]) -> tuple[Message, ...]:
        asked = [(trigger["senderName"], trigger["text"])] if trigger["type"] == "space_message" else []
        said = [*self.before, *asked, *self.after]
        ids = [*(f"msg_b{n}" for n in range(len(self.before))), *(["msg_t"] if asked else [])]
        ids += [f"msg_a{n}" for n in range(len(self.after))]
        return tuple(
            Message(message_id, "spc_1", seq, PEOPLE[name], "text", text, None, NOW - 60_000 + seq)
            for seq, (message_id, (name, text)) in enumerate(zip(ids, said, strict=True), 1)
        )


def texts(steps: list[Any]) -> list[str]:
    return [given["text"] for name, given in steps if name == "send_message"]
