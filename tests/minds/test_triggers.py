"""The TRIGGER block in all forms (X2, X3), and what depends on the agent's settings (X7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from majlis.clock import iso
from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import ActiveSpace, OtherRun, OwnSpace, Plan, Who
from tests.minds.scenes import ALPHA, HUSAM, NOW, config, history, in_alpha, nowhere, seed_scene, trigger_of
from tests.minds.view_text import headings_of, history_of, seen_text

PLAN = {
    "type": "plan",
    "chainDepth": 0,
    "planId": "pln_abc",
    "planName": "Daily Report",
    "instruction": "Generate and post the daily metrics summary",
    "scheduledAt": "2026-02-18T09:00:00.000Z",
}
SERVICE = {
    "type": "service",
    "chainDepth": 0,
    "serviceName": "jira-webhook",
    "payload": {"issue": "PROJ-123", "newStatus": "done"},
    "eventId": "evt_1",
}
HEARTBEAT = {"type": "heartbeat", "chainDepth": 0, "scheduledAt": "2026-02-18T15:00:00.000Z"}
FORMS = (
    (
        PLAN,
        'TRIGGER:\n  type: plan\n  plan: "Daily Report" (id: pln_abc)\n'
        '  instruction: "Generate and post the daily metrics summary"\n  scheduledAt: "2026-02-18T09:00:00.000Z"\n\n',
        'triggered by plan "Daily Report"',
    ),
    (
        SERVICE,
        'TRIGGER:\n  type: service\n  service: "jira-webhook"\n  payload: {"issue":"PROJ-123","newStatus":"done"}\n\n',
        'triggered by service "jira-webhook"',
    ),
    (
        HEARTBEAT,
        'TRIGGER:\n  type: heartbeat\n  scheduledAt: "2026-02-18T15:00:00.000Z"\n'
        "  This is a scheduled wake-up. No event caused it.\n\n",
        "triggered by heartbeat",
    ),
)


@pytest.mark.parametrize("layout", ["classic", "stable"])
@pytest.mark.parametrize(("trigger", "block", "why"), FORMS)
def test_x2_a1_plans_services_and_heartbeats_start_nowhere(
    layout: str, trigger: dict[str, Any], block: str, why: str
) -> None:
    scene = nowhere(trigger, config=config(layout=layout))
    text = seen_text(scene)
    assert block in text
    assert "ACTIVE SPACE: none (call enter_space to enter a space first)\n" in text
    assert f"ACTIVE RUNS:\n  - Run run_this (this run) — {why}\n" in text
    assert "SPACE HISTORY" not in headings_of(text)
    assert "[ACTIVE]" not in text
    assert perceive(scene).shown == {}


@pytest.mark.parametrize("layout", ["classic", "stable"])
def test_x3_a_space_that_the_agent_entered_itself_was_not_set_by_the_trigger(layout: str) -> None:
    scene = in_alpha(history((HUSAM, "hello")), trigger=PLAN, auto_set=False, config=config(layout=layout))
    text = seen_text(scene)
    assert 'ACTIVE SPACE: "Project Alpha" (id: spc_alpha)\n' in text
    assert history_of(text)[0].endswith('"hello"  [NEW]')


@pytest.mark.parametrize("layout", ["classic", "stable"])
def test_x4_an_empty_space_says_that_it_is_empty(layout: str) -> None:
    scene = nowhere(PLAN, active=ActiveSpace(ALPHA.id, ALPHA.name, 0, 0), config=config(layout=layout))
    assert history_of(seen_text(scene)) == ["  (no messages yet)"]
    assert perceive(scene).shown == {}


@pytest.mark.parametrize("layout", ["classic", "stable"])
def test_x7_the_prompt_does_not_mention_waits_if_they_are_off(layout: str) -> None:
    settings = config(layout=layout, waits=False)
    text = seen_text(seed_scene(config=settings, other_runs=()))
    assert "wait" not in text.lower()
    assert "resume" not in text.lower()
    assert "senderExpectsReply" not in text
    assert text.count("messageId") == 1, "only as a field of the trigger"


@pytest.mark.parametrize("layout", ["classic", "stable"])
def test_x2_an_agents_message_shows_how_deep_in_a_chain_it_is(layout: str) -> None:
    said = history((HUSAM, "hello"))
    text = seen_text(in_alpha(said, trigger=trigger_of(said[0], chainDepth=3), config=config(layout=layout)))
    assert "\n  senderExpectsReply: false\n  chainDepth: 3\n" in text


def test_x5_a_crowd_is_counted() -> None:
    def spaces(more: int) -> str:
        crowd = OwnSpace("spc_1", "Crowd", "member", (HUSAM,), more)
        return seen_text(nowhere(PLAN, spaces=(crowd,), more_spaces=more))

    assert '  - "Crowd" (id: spc_1) — Husam (human), You, and 5 others\n  (and 5 more that are not listed)\n' in spaces(
        5
    )
    assert "You, and 1 other\n" in spaces(1)
    assert "YOUR SPACES:\n  (none)\n" in seen_text(nowhere(PLAN, spaces=()))


def test_x6_a_plan_says_how_long_until_it_is_due() -> None:
    def plan(millis: int) -> str:
        due = Plan("pln_1", "P", "…", None, None, NOW + millis)
        line = next(line for line in seen_text(nowhere(PLAN, plans=(due,))).splitlines() if line.startswith('  - "P"'))
        return line.partition(f"{iso(NOW + millis)}, ")[2]

    minute = 60_000
    assert plan(17 * 60 * minute + 53 * minute) == "in 17h 53m)"
    assert plan(120 * minute) == "in 2h 00m)"
    assert plan(59 * minute) == "in 59m)"
    assert plan(30_000) == "in less than 1m)"
    assert plan(-1) == "due now)"
    assert plan(49 * 60 * minute) == "in 2d 01h)"


def test_t8_other_runs_say_what_they_are_doing() -> None:
    others = (
        OtherRun("run_b", "running", trigger_of(history((Who("ent_a", "Ahmad", "human"), "x"))[0]), None),
        OtherRun("run_c", "waiting_reply", PLAN, "Daily Reports", ("Ahmad", "Sarah")),
        OtherRun("run_d", "waiting_tool", SERVICE, "Daily Reports"),
        OtherRun("run_a", "queued", HEARTBEAT, None),
        OtherRun("run_e", "waiting_reply", PLAN, None),
    )
    text = seen_text(replace(nowhere(PLAN), other_runs=others))
    assert (
        "  - Run run_a — queued, triggered by heartbeat\n"
        '  - Run run_b — running, triggered by Ahmad in "Project Alpha"\n'
        '  - Run run_c — waiting_reply in "Daily Reports" (waiting for Ahmad, Sarah)\n'
        '  - Run run_d — waiting_tool in "Daily Reports", triggered by service "jira-webhook"\n'
        '  - Run run_e — waiting_reply, triggered by plan "Daily Report"\n'
    ) in text
