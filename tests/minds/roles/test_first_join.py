"""First-join and return cases with their exact text (R2-R6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from majlis.minds.roles.perceive import perceive
from majlis.minds.timeline.scene import Action, ActiveSpace, Resume, Who
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Prompt
from tests.minds.roles.scenes import TIMES, Said, asked, scene, turns
from tests.minds.scenes import AHMAD, ANALYST, DESIGNER, HUSAM, history, message

SHOP = Who("ent_shop", "Shop", "service")
OPENING: list[Said] = [(HUSAM, "Let's finalize the report"), (DESIGNER, "The charts are done."), (ANALYST, "Noted.")]
ASKED = (HUSAM, "Pull the numbers")
BLOCK = """\
=== MESSAGES WHILE YOU WERE AWAY ===

🟢 USER: Which colours?

💬 Designer: Blue and green.

=== END OF HISTORY ===

=== NEW INTERACTION ==="""

TIMES_OF_SIX = """\
=== TIMES of the messages, oldest first ===
  2026-02-18T14:51:00.000Z Husam
  2026-02-18T14:52:00.000Z Designer
  2026-02-18T14:53:00.000Z you
  2026-02-18T14:54:00.000Z Husam
  2026-02-18T14:56:00.000Z Husam: the last message
  2026-02-18T15:07:00.000Z now
==="""
# R3 and R4: agent, messages, what it has seen → exactly these turns.
CASES: dict[str, tuple[list[Said], int | None, list[tuple[str, str]]]] = {
    "first time, by the space's first message": ([ASKED], None, [("user", "Pull the numbers")]),
    "first time, later": (
        [*OPENING[:2], ASKED],
        None,
        [
            ("user", "Let's finalize the report"),
            ("user", "[Designer]: The charts are done."),
            ("user", "Pull the numbers"),
        ],
    ),
    "back, others have spoken": (
        [*OPENING, (HUSAM, "Which colours?"), (DESIGNER, "Blue and green."), ASKED],
        3,
        [
            ("user", "Let's finalize the report"),
            ("user", "[Designer]: The charts are done."),
            ("assistant", "Noted."),
            ("user", BLOCK),
            ("user", "Pull the numbers"),
        ],
    ),
    "back, nothing was missed": (
        [*OPENING, ASKED],
        3,
        [
            ("user", "Let's finalize the report"),
            ("user", "[Designer]: The charts are done."),
            ("assistant", "Noted."),
            ("user", "Pull the numbers"),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_r3_r4_first_and_later_runs_are_shown_the_right_turns(case: str) -> None:
    said, since, expected = CASES[case]
    assert turns(scene(*said, since=since)) == expected


def test_r2_the_seeds_projection_shows_other_agents_and_the_block_as_system_messages() -> None:
    said, since, _ = CASES["back, others have spoken"]
    assert turns(scene(*said, since=since, projection="seed")) == [
        ("user", "Let's finalize the report"),
        ("system", "[Designer]: The charts are done."),
        ("assistant", "Noted."),
        ("system", BLOCK),
        ("user", "Pull the numbers"),
    ]


def test_r2_portable_has_one_system_message_and_it_is_the_first() -> None:
    said, since, _ = CASES["back, others have spoken"]
    assert "system" not in [role for role, _ in turns(scene(*said, since=since))]


def test_r2_with_several_people_their_messages_carry_the_name_everywhere() -> None:
    said = [(HUSAM, "One"), (AHMAD, "Two"), (ANALYST, "Three"), (AHMAD, "Four"), (HUSAM, "Five")]
    assert turns(scene(*said, since=3)) == [
        ("user", "[Husam]: One"),
        ("user", "[Ahmad]: Two"),
        ("assistant", "Three"),
        (
            "user",
            "=== MESSAGES WHILE YOU WERE AWAY ===\n\n🟢 USER (Ahmad): Four\n\n=== END OF HISTORY ===\n\n"
            "=== NEW INTERACTION ===",
        ),
        ("user", "[Husam]: Five"),
    ]


def test_r2_names_are_shown_as_soon_as_there_is_a_second_person() -> None:
    assert turns(scene(ASKED, several_people=True)) == [("user", "[Husam]: Pull the numbers")]


def test_r2_another_agents_message_that_triggers_is_a_users_turn_with_its_name_in_both_projections() -> None:
    for projection in ("portable", "seed"):
        said = turns(scene((DESIGNER, "Your turn."), projection=projection))
        assert said == [("user", "[Designer]: Your turn.")]


def test_r2_services_and_notices_are_named_and_are_never_the_user() -> None:
    said = turns(scene((SHOP, "Order 7"), (ANALYST, "Thanks"), (SHOP, "Order 8"), ASKED, since=2))
    assert said[0] == ("user", "[Shop]: Order 7")
    assert "💬 Shop: Order 8" in said[2][1]


def test_r4_no_block_when_only_own_or_empty_messages_came() -> None:
    said = [*OPENING, (ANALYST, "One more thing."), (DESIGNER, "  \n "), ASKED]
    assert turns(scene(*said, since=3))[-3:] == [
        ("assistant", "Noted."),
        ("assistant", "One more thing."),
        ("user", "Pull the numbers"),
    ]


def test_r5_each_message_once_and_own_ones_never_in_the_block() -> None:
    said: list[Said] = [(HUSAM, "m1"), (ANALYST, "m2"), (DESIGNER, "m3"), (ANALYST, "m4"), (HUSAM, "m5"), (HUSAM, "m6")]
    for since in (None, *range(6)):
        shown = turns(scene(*said, since=since))
        text = "\n".join(each for _, each in shown)
        assert [text.count(f"m{n}") for n in range(1, 7)] == [1] * 6, since
        assert [each for role, each in shown if role == "assistant"] == ["m2", "m4"]
        assert shown[-1] == ("user", "m6")
    # Messages that arrived while it was writing m4 come after it: it had not seen them.
    assert [role for role, _ in turns(scene(*said, since=2))] == ["user", "assistant", "assistant", "user", "user"]


def test_r5_it_knows_the_trigger_after_the_run_and_nothing_beyond() -> None:
    view = perceive(scene(*OPENING, ASKED, since=3))
    assert view.shown == {"spc_alpha": 4}
    assert view.since == {"spc_alpha": 3}
    assert view.active_space_id == "spc_alpha"


def test_r6_the_handover_comes_first_in_the_block_and_alone_if_nothing_was_missed() -> None:
    said, since, _ = CASES["back, others have spoken"]
    with_block = turns(scene(*said, since=since, summary="The plan is agreed.", phase="build"))
    assert with_block[3][1].startswith(
        "=== MESSAGES WHILE YOU WERE AWAY ===\n\n**Previous context**: The plan is agreed.\n\n🟢 USER: Which colours?"
    )
    for since in (None, 3):
        alone = turns(scene(*OPENING, ASKED, since=since, summary="The plan is agreed."))
        assert alone[-2:] == [
            ("user", "**Previous context**: The plan is agreed.\n\n=== NEW INTERACTION ==="),
            ("user", "Pull the numbers"),
        ]


def test_a_conversation_that_the_agent_began_begins_with_a_users_turn() -> None:
    assert turns(scene((ANALYST, "Good morning"), ASKED, since=1)) == [
        ("user", "=== THE CONVERSATION BEGINS HERE ==="),
        ("assistant", "Good morning"),
        ("user", "Pull the numbers"),
    ]


def test_messages_before_the_window_are_counted() -> None:
    shown = turns(asked(tuple(message(n, HUSAM, f"m{n}") for n in range(26, 30)), message(30, *ASKED), left_out=25))
    assert shown[0] == ("user", "=== 25 EARLIER MESSAGES NOT SHOWN; read_messages with offset reads more ===")


def test_an_agent_asked_twice_in_a_row_sees_that_it_has_spoken_in_between() -> None:
    shown = turns(scene(*OPENING, ASKED, since=3, spoke_since=True))
    assert shown[-1] == ("user", "Pull the numbers")
    assert shown[-2][1].startswith("=== YOU SENT MESSAGES HERE AFTER")


def test_r8_a_message_routed_back_to_its_sender_is_its_own_turn() -> None:
    shown = turns(scene(ASKED, (ANALYST, "Here they are."), since=1))
    assert shown[0] == ("user", "Pull the numbers")
    assert shown[1] == ("assistant", "Here they are.")
    assert shown[2][0] == "user"


def test_a_long_text_is_cut_in_the_history_and_whole_as_the_trigger() -> None:
    long = "word " * 4_000
    shown = turns(scene((HUSAM, long), (HUSAM, long)))
    assert "… (12000 characters left out) …" in shown[0][1]
    assert shown[1] == ("user", long)


def test_x12_a_quoted_message_is_shown_inline() -> None:
    [quoted] = history((DESIGNER, 'Say "blue"'))
    shown = turns(scene((HUSAM, f"As in msg:{quoted.id}"), quoted={quoted.id: quoted}))
    assert shown == [("user", f'As in msg:{quoted.id}\n=== QUOTED msg:{quoted.id} by Designer: "Say \\"blue\\"" ===')]


def test_a_tool_that_others_saw_is_shown_as_what_was_done_with_it() -> None:
    tool: dict[str, Any] = {"name": "deploy", "input": {"to": "staging"}, "output": {"ok": True}, "status": "complete"}
    used = message(1, DESIGNER, "", kind="tool", tool=tool)
    assert turns(asked((used,), message(2, *ASKED)))[0] == (
        "user",
        '[Designer]: used tool deploy {"to":"staging"} → {"ok":true}',
    )


def test_the_system_message_says_how_to_speak_and_nothing_that_changes_with_every_run() -> None:
    first = perceive(scene(*OPENING, ASKED, instructions="Be exact.", phase="build")).turns[0]
    later = perceive(scene(*OPENING, ASKED, (HUSAM, "And now?"), instructions="Be exact.", phase="build")).turns[0]
    assert first == later
    text = getattr(first, "text", "")
    assert "call send_message" in text
    assert "YOUR INSTRUCTIONS:\nBe exact." in text
    assert 'today: "2026-02-18"' in text
    assert 'ACTIVE SPACE: "Project Alpha" (id: spc_alpha), phase: "build"' in text


@pytest.mark.parametrize(("projection", "role"), [("portable", "user"), ("seed", "system")])
def test_f8_the_times_of_the_messages_are_apart_from_their_turns(projection: str, role: str) -> None:
    said = [*OPENING, (HUSAM, "Which colours?"), (DESIGNER, " "), ASKED]
    messages = chat_messages(Prompt(perceive(scene(*said, since=3, projection=projection)).turns))
    [at] = [n for n, turn in enumerate(messages) if turn["content"].startswith(TIMES)]
    assert messages[at] == {"role": role, "content": TIMES_OF_SIX}
    assert messages[at + 1]["content"].startswith("=== MESSAGES WHILE YOU WERE AWAY")
    # A history that follows the system message should stay cached.
    assert "currentTime" not in messages[0]["content"]


def test_f8_without_a_history_the_time_ends_the_system_message() -> None:
    messages = chat_messages(Prompt(perceive(scene(ASKED)).turns))
    assert messages[0]["content"].endswith('NOW:\n  currentTime: "2026-02-18T15:07:00.000Z"')
    assert len(messages) == 2


def test_j2_a_resumed_run_sees_what_it_has_done_and_its_active_space() -> None:
    shown = scene(*OPENING, ASKED, since=3, elsewhere=ActiveSpace("spc_reports", "Daily Reports", 0, 0))
    done = Action(0, "enter_space", {"spaceId": "spc_reports"}, {"success": True}, "done")
    unknown = Action(1, "print", {"copies": 3}, None, "started")
    again = replace(shown, common=replace(shown.common, actions=(done, unknown)))
    assert perceive(again).active_space_id == "spc_reports"
    trigger, so_far = turns(again)[-2:]
    assert trigger == ("user", "Pull the numbers")
    first, *calls, where = so_far[1].split("\n")
    assert first == "=== THIS RUN SO FAR: do not repeat these calls ==="
    assert [line.partition("You: ")[2][:11] for line in calls] == ["called ente", "called prin"]
    assert "outcome unknown" in calls[1]
    assert where == '  Your active space is now "Daily Reports" (id: spc_reports).'


def test_j5_a_long_answer_is_whole_where_the_run_goes_on() -> None:
    shown, text = scene(*OPENING, ASKED, since=3), "words " * 2_500
    form = Action(0, "form", {}, {"text": text}, "done")
    resume = Resume("answered", None, "Husam", tool="form")
    again = replace(shown, common=replace(shown.common, actions=(form,), resume=resume))
    assert f'{{"text":"{text}"}}' in turns(again)[-1][1]
