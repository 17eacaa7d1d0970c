"""Cycles for tests: DataAnalyst with an inbox and a past."""

from __future__ import annotations

from typing import Any

from majlis.minds.consciousness.remember import lived
from majlis.minds.consciousness.scene import Cycle, Event, Past, Waking
from majlis.minds.timeline.scene import OwnSpace, Scene
from majlis.models.port import Call, Result, Said, Turn, User
from tests.minds.scenes import ALPHA, ANALYST, HUSAM, NOW, REPORTS, config

FAMILY = OwnSpace("spc_family", "Family", "member", (HUSAM,))


def world(now: int = NOW, **settings: Any) -> Scene:
    made = config(mind="consciousness", **settings)
    trigger = {"type": "cycle"}
    return Scene(now, ANALYST, made, "run_this", trigger, None, False, spaces=(ALPHA, REPORTS, FAMILY))


def waking(*inbox: Event, past: Past | None = None, recent: tuple[Cycle, ...] = (), **settings: Any) -> Waking:
    return Waking(world(**settings), None, inbox, past or Past(), recent)


def said(text: str, who: str = "Husam", type: str = "human", space: OwnSpace = FAMILY, **more: Any) -> Event:
    event = {"type": "space_message", "spaceId": space.id, "spaceName": space.name, "senderName": who}
    return {**event, "senderType": type, "text": text, "messageId": "msg_1", "chainDepth": 0, **more}


def plan(name: str, instruction: str) -> Event:
    return {"type": "plan", "planId": "pln_1", "planName": name, "instruction": instruction, "chainDepth": 0}


def service(name: str, payload: Any) -> Event:
    return {"type": "service", "serviceName": name, "payload": payload, "chainDepth": 0}


def tool_result(name: str, result: Any, call: str = "call_1") -> Event:
    return {"type": "tool_result", "toolName": name, "toolCallId": call, "result": result, "chainDepth": 0}


def turns_of(n: int, output: str = '{"ok":true}', closing: str | None = None) -> list[Turn]:
    """A cycle with one call: from its inbox to its closing text."""
    return [
        User((f'INBOX (1 event, {n}):\n[Family] Husam (human): "request {n}"', "\n\nACTIVE SPACE: none")),
        Said("", (Call(f"call_{n}", "look_up", f'{{"request":{n}}}'),)),
        Result(f"call_{n}", "look_up", output),
        Said(f"Request {n} is done." if closing is None else closing),
    ]


def cycle(n: int, output: str = '{"ok":true}', closing: str | None = None) -> Cycle:
    kept = lived(turns_of(n, output, closing))
    return Cycle(n, kept.messages, kept.summary, kept.tokens)
