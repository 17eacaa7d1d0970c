"""Scenes for tests: DataAnalyst in "Project Alpha" with Husam, Ahmad and Designer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from majlis.agents.config.config import AgentConfig, parse_config
from majlis.clock import iso, parse_iso
from majlis.minds.timeline.scene import ActiveSpace, Goal, Memory, Message, OtherRun, OwnSpace, Plan, Scene, Who

ANALYST = Who("ent_analyst", "DataAnalyst", "agent")
HUSAM = Who("ent_husam", "Husam", "human")
AHMAD = Who("ent_ahmad", "Ahmad", "human")
DESIGNER = Who("ent_designer", "Designer", "agent")
SARAH = Who("ent_sarah", "Sarah", "human")
ALPHA = OwnSpace("spc_alpha", "Project Alpha", "member", (HUSAM, AHMAD, DESIGNER))
REPORTS = OwnSpace("spc_reports", "Daily Reports", "member", (SARAH,))
DIRECT = OwnSpace("spc_direct", "1:1 with Husam", "member", (HUSAM,))
NOW = parse_iso("2026-02-18T15:07:00Z")
START = parse_iso("2026-02-18T14:50:00Z")


def config(**settings: Any) -> AgentConfig:
    return parse_config(settings)


def message_id(seq: int) -> str:
    return f"msg_{seq:016d}"


def message(seq: int, sender: Who, text: str, **more: Any) -> Message:
    """A minute after the message before it."""
    more = {"kind": "text", "reply_to": None, "created_at": START + seq * 60_000, **more}
    return Message(message_id(seq), ALPHA.id, seq, sender, text=text, **more)


def history(*said: tuple[Who, str]) -> tuple[Message, ...]:
    return tuple(message(seq, *each) for seq, each in enumerate(said, 1))


def trigger_of(message: Message, **more: Any) -> dict[str, Any]:
    return {
        "type": "space_message",
        "spaceId": ALPHA.id,
        "spaceName": ALPHA.name,
        "messageId": message.id,
        "senderId": message.sender.id,
        "senderName": message.sender.name,
        "senderType": message.sender.type,
        "text": message.text,
        "timestamp": iso(message.created_at),
        "senderExpectsReply": False,
        "chainDepth": 0,
        **more,
    }


def in_alpha(messages: tuple[Message, ...], cursor: int = 0, total: int = 0, **more: Any) -> Scene:
    """A run that the last of these messages has triggered."""
    scene = Scene(
        now=NOW,
        agent=ANALYST,
        config=config(),
        run_id="run_this",
        trigger=trigger_of(messages[-1]),
        active=ActiveSpace(ALPHA.id, ALPHA.name, total or messages[-1].seq, cursor),
        auto_set=True,
        history=messages,
        spaces=(ALPHA, REPORTS, DIRECT),
    )
    return replace(scene, **more)


def nowhere(trigger: dict[str, Any], **more: Any) -> Scene:
    """A run with no active space."""
    scene = Scene(NOW, ANALYST, config(), "run_this", trigger, active=None, auto_set=False, spaces=(ALPHA, REPORTS))
    return replace(scene, **more)


def seed_scene(**more: Any) -> Scene:
    """The example of the original specification."""
    said = history(
        (HUSAM, "Let's finalize the Q4 report"),
        (DESIGNER, "I've updated the charts. See attached."),
        (AHMAD, "Looks good. Can you add the revenue breakdown?"),
        (HUSAM, "Pull the Q4 revenue numbers"),
    )
    kept: dict[str, Any] = {
        "trigger": trigger_of(said[-1], senderExpectsReply=True),
        "goals": (
            Goal("gol_2", "Maintain daily report pipeline", 1, True),
            Goal("gol_1", "Complete Q4 revenue analysis", 2, False),
        ),
        "memories": (
            Memory("reports", "Sarah prefers charts over tables"),
            Memory("Q4", "Revenue source breakdown uses the new categorization from October"),
        ),
        "plans": (
            Plan("pln_1", "Daily Report", "…", "0 9 * * *", None, parse_iso("2026-02-19T09:00:00Z")),
            Plan("pln_2", "Follow up with Designer", "…", None, "2 hours", parse_iso("2026-02-18T17:07:00Z")),
        ),
        "other_runs": (OtherRun("run_other", "waiting_reply", {"type": "plan"}, "Daily Reports", ("Sarah",)),),
        "config": config(instructions="Be exact.\nCite your sources."),
    }
    return in_alpha(said, cursor=2, **{**kept, **more})
