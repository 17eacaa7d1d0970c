"""The layout `stable`: the same blocks, ordered so that consecutive prompts start the same (X8)."""

from __future__ import annotations

from majlis.minds.timeline.perceive import perceive
from majlis.models.port import System, User
from tests.minds.scenes import AHMAD, ANALYST, HUSAM, config, history, in_alpha, seed_scene

USER = """\
GOALS:
  - Complete Q4 revenue analysis (priority: 2) [id: gol_1]
  - Maintain daily report pipeline (long-term, priority: 1) [id: gol_2]

MEMORIES:
  - [Q4] Revenue source breakdown uses the new categorization from October
  - [reports] Sarah prefers charts over tables

YOUR SPACES:
  - "1:1 with Husam" (id: spc_direct) — Husam (human), You
  - "Daily Reports" (id: spc_reports) — Sarah (human), You
  - "Project Alpha" (id: spc_alpha) [ACTIVE] — Ahmad (human), Designer (agent), Husam (human), You

SPACE HISTORY ("Project Alpha"):
  [msg:msg_0000000000000001] [2026-02-18T14:51:00.000Z] Husam (human, id:ent_husam): "Let's finalize the Q4 report"  \
[SEEN]
  [msg:msg_0000000000000002] [2026-02-18T14:52:00.000Z] Designer (agent, id:ent_designer): \
"I've updated the charts. See attached."  [SEEN]
|  [msg:msg_0000000000000003] [2026-02-18T14:53:00.000Z] Ahmad (human, id:ent_ahmad): \
"Looks good. Can you add the revenue breakdown?"  [NEW]
  [msg:msg_0000000000000004] [2026-02-18T14:54:00.000Z] Husam (human, id:ent_husam): "Pull the Q4 revenue numbers"  \
[NEW] ← TRIGGER

PLANS:
  - "Follow up with Designer" (one-time, scheduledAt: 2026-02-18T17:07:00.000Z, in 2h 00m)  \
[created via runAfter: "2 hours"]
  - "Daily Report" (recurring, cron: 0 9 * * *, next: 2026-02-19T09:00:00.000Z, in 17h 53m)

TRIGGER:
  type: space_message
  space: "Project Alpha" (id: spc_alpha)
  sender: Husam (human, id: ent_husam)
  message: "Pull the Q4 revenue numbers"
  messageId: msg_0000000000000004
  timestamp: "2026-02-18T14:54:00.000Z"
  senderExpectsReply: true
  chainDepth: 0

ACTIVE SPACE: "Project Alpha" (id: spc_alpha)  [auto-set from trigger]
  Your messages here wake every other agent.

ACTIVE RUNS:
  - Run run_this (this run) — triggered by Husam in "Project Alpha"
  - Run run_other — waiting_reply in "Daily Reports" (waiting for Sarah)

NOW:
  currentTime: "2026-02-18T15:07:00.000Z\""""


def test_x8_the_stable_layout_begins_with_what_stays_and_ends_with_the_time() -> None:
    system, user = perceive(seed_scene()).turns
    assert isinstance(system, System)
    assert isinstance(user, User)
    assert system.text.startswith("INSTRUCTIONS:\n  - Your text output is internal reasoning")
    ending = 'YOUR INSTRUCTIONS:\nBe exact.\nCite your sources.\n\nIDENTITY:\n  name: "DataAnalyst"\n'
    assert system.text.endswith(f'{ending}  entityId: "ent_analyst"')
    assert "|".join(user.parts) == USER


def test_x8_every_full_block_of_half_a_window_is_a_part_of_its_own() -> None:
    said = history(*[(HUSAM, f"m{n}") for n in range(1, 12)])
    view = perceive(in_alpha(said[4:], cursor=10, total=11, config=config(window=8)))
    user = view.turns[1]
    assert isinstance(user, User)
    numbers = [[n for n in range(1, 12) if f'"m{n}"  [' in part] for part in user.parts]
    assert numbers == [[5, 6, 7, 8], [9, 10], [11]]
    assert view.shown == {"spc_alpha": 11}


def test_x8_seen_messages_after_the_trigger_are_not_in_the_stable_part() -> None:
    said = history((HUSAM, "one"), (HUSAM, "two"), (ANALYST, "three"), (AHMAD, "four"))
    scene = in_alpha(said, cursor=4, trigger={**in_alpha(said[:2]).trigger})
    user = perceive(scene).turns[1]
    assert isinstance(user, User)
    assert '"one"' in user.parts[0]
    assert '"two"' not in user.parts[0]
    tags = [line.rpartition("  ")[2] for line in user.parts[1].splitlines()[:3]]
    assert tags == ["[NEW] ← TRIGGER", "[SEEN]", "[SEEN]"]
