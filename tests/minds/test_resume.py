"""M9, M10, J2: a run that resumes after a wait or on another worker sees what it has already done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from majlis.minds.timeline.perceive import perceive
from majlis.minds.timeline.scene import Action, Message, Resume
from majlis.models.port import User
from tests.minds.scenes import (
    ALPHA,
    ANALYST,
    DESIGNER,
    HUSAM,
    REPORTS,
    START,
    config,
    history,
    in_alpha,
    message,
    message_id,
    nowhere,
    trigger_of,
)
from tests.minds.view_text import history_of, lines_of, seen_text

LAYOUTS = ("classic", "stable")
SAID = history(
    (HUSAM, "Get the mock-up reviewed"),
    (ANALYST, "@Designer please review the mock-up"),
    (HUSAM, "Any news?"),
    (DESIGNER, "looks good, ship it"),
)
ASKED = Action(
    START, "send_message", {"text": SAID[1].text, "wait": True}, {}, "done", SAID[1].id, ALPHA.id, ALPHA.name
)
REPLIED = Resume("replied", SAID[3].id, "Designer")


def _lines(layout: str, said: tuple[Message, ...] = SAID, **more: Any) -> list[str]:
    more = {"config": config(layout=layout), "trigger": trigger_of(SAID[0]), **more}
    return [line.removeprefix("  ") for line in history_of(seen_text(in_alpha(said, **more)))]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m10_a_resumed_run_reads_its_question_the_time_between_and_the_answer(layout: str) -> None:
    assert _lines(layout, actions=(ASKED,), resume=REPLIED) == [
        "[msg:msg_0000000000000001] [2026-02-18T14:51:00.000Z] Husam (human, id:ent_husam): "
        '"Get the mock-up reviewed"  [NEW] ← TRIGGER',
        "[msg:msg_0000000000000002] [2026-02-18T14:52:00.000Z] You: called "
        'send_message("@Designer please review the mock-up", wait: true)',
        '[msg:msg_0000000000000003] [2026-02-18T14:53:00.000Z] Husam (human, id:ent_husam): "Any news?"  [NEW]',
        "[msg:msg_0000000000000004] [2026-02-18T14:54:00.000Z] Designer (agent, id:ent_designer): "
        '"looks good, ship it"  [NEW] ← RESUME: Designer replied. Continue from here.',
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m9_a_time_out_is_the_last_line(layout: str) -> None:
    last = _lines(layout, actions=(ASKED,), resume=Resume("timeout", seconds=300))[-1]
    assert last == "← RESUME: timeout, nobody replied within 300 s. Continue from here."


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m12_a_ring_of_waiting_agents_is_named_as_such(layout: str) -> None:
    last = _lines(layout, actions=(ASKED,), resume=Resume("timeout", seconds=300, reason="deadlock"))[-1]
    expected = "← RESUME: timeout (deadlock: everyone who could answer was waiting, too). Continue from here."
    assert last == expected


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m10_an_answer_in_a_space_that_is_not_in_view_still_marks_where_to_go_on(layout: str) -> None:
    elsewhere = Resume("replied", message_id(99), "Designer")
    assert _lines(layout, resume=elsewhere)[-1] == "← RESUME: Designer replied. Continue from here."


@pytest.mark.parametrize("layout", LAYOUTS)
def test_j2_a_run_taken_over_reads_what_was_done_among_what_was_said(layout: str) -> None:
    calls = (
        Action(START + 61_000, "deploy", {"env": "prod"}, {"ok": True}, "done"),
        Action(START + 62_000, "pay", {"amount": 5}, None, "started"),
        Action(START + 200_000, "get_goals", {}, {"error": "no such tool"}, "error"),
        Action(START + 210_000, "send_message", {"text": "Hi"}, {}, "done", "msg_elsewhere", REPORTS.id, REPORTS.name),
    )
    lines = _lines(layout, actions=(*calls, ASKED))
    assert [line for line in lines if line.count("You: called")] == [
        '[2026-02-18T14:51:01.000Z] You: called deploy({"env":"prod"}) → {"ok":true}',
        '[2026-02-18T14:51:02.000Z] You: called pay({"amount":5}) → outcome unknown: the call was interrupted; '
        "check before you repeat it",
        '[msg:msg_0000000000000002] [2026-02-18T14:52:00.000Z] You: called send_message("@Designer please review the '
        'mock-up", wait: true)',
        '[2026-02-18T14:53:20.000Z] You: called get_goals() → error: {"error":"no such tool"}',
        '[msg:msg_elsewhere] [2026-02-18T14:53:30.000Z] You: called send_message("Hi") in "Daily Reports"',
    ]
    assert [line.startswith("[msg:msg_0") for line in lines] == [True, False, False, True, True, False, False, True]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m10_an_answer_to_a_message_shows_which(layout: str) -> None:
    answer = Action(
        START, "send_message", {"text": "x", "messageId": SAID[0].id}, {}, "done", SAID[1].id, ALPHA.id, ALPHA.name
    )
    assert 'You: called send_message("x", messageId: "msg_0000000000000001")' in "\n".join(
        _lines(layout, actions=(answer,))
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_j2_without_an_active_space_calls_have_a_block_of_their_own(layout: str) -> None:
    trigger = {"type": "heartbeat", "scheduledAt": "2026-02-18T15:00:00.000Z", "chainDepth": 0}
    calls = (Action(START, "deploy", {"env": "prod"}, {"ok": True}, "done"),)
    text = seen_text(nowhere(trigger, actions=calls, config=config(layout=layout)))
    block = 'THIS RUN SO FAR:\n  [2026-02-18T14:50:00.000Z] You: called deploy({"env":"prod"}) → {"ok":true}\n\n'
    assert block in text
    assert "THIS RUN SO FAR:" not in seen_text(nowhere(trigger, config=config(layout=layout)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_x10_calls_before_the_window_are_shortened_unless_their_outcome_is_unknown(layout: str) -> None:
    said = tuple(message(seq, HUSAM, f"m{seq}") for seq in range(101, 151))
    calls = [Action(START + n, "deploy", {"what": "x" * 500}, {"n": n}, "done") for n in range(2)]
    calls.append(Action(START + 9, "pay", {}, None, "started"))
    held = {"success": False, "status": "held", "newMessages": ["y" * 500]}
    calls.append(Action(START + 10, "send_message", {"text": "Yes."}, held, "done"))
    calls.append(Action(said[0].created_at + 1, "recent", {}, {}, "done"))
    lines = _lines(layout, said, trigger=trigger_of(said[-1]), actions=tuple(calls))
    assert "(earlier in this run you made these calls, shortened here)" in lines[1]
    shortened = '{\\"what\\":\\"' + "x" * 111
    assert [line for line in lines if "You: called" in line] == [
        f'[2026-02-18T14:50:00.000Z] You: called deploy("{shortened}"…) → {{"n":0}}',
        f'[2026-02-18T14:50:00.001Z] You: called deploy("{shortened}"…) → {{"n":1}}',
        '[2026-02-18T14:50:00.010Z] You: called send_message("Yes.") → held: this message was not posted',
        "[2026-02-18T14:50:00.009Z] You: called pay() → outcome unknown: the call was interrupted; check before you "
        "repeat it",
        "[2026-02-18T16:31:00.001Z] You: called recent() → {}",
    ]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_m10_j5_the_call_that_the_run_waited_for_is_shown_in_full_after_any_number_of_messages(layout: str) -> None:
    """After more than a window of messages, only the number of its calls used to be left, without the submitted
    value."""
    said = tuple(message(seq, HUSAM, f"m{seq}") for seq in range(101, 151))
    form = Action(START + 1, "form", {}, {"n": 3}, "done", message_id(7), ALPHA.id, ALPHA.name)
    calls = (form, replace(ASKED, at=START + 2), replace(form, at=START + 3, output={"n": 4}))
    trigger = trigger_of(said[-1])
    answered = _lines(
        layout, said, trigger=trigger, actions=calls, resume=Resume("answered", None, "Husam", tool="form")
    )
    assert [line for line in answered if "You: called" in line][-1] == (
        '[msg:msg_0000000000000007] [2026-02-18T14:50:00.003Z] You: called form() in "Project Alpha" → {"n":4}'
    )
    replied = _lines(layout, said, trigger=trigger, actions=calls, resume=Resume("replied", said[-2].id, "Husam"))
    question = [line for line in replied if "You: called" in line][-1]
    assert question.endswith(
        'You: called send_message("@Designer please review the mock-up", wait: true) in "Project Alpha"'
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("in_view", [True, False])
def test_j5_a_long_answer_is_whole_where_the_run_goes_on(layout: str, in_view: bool) -> None:
    """A text of 16,000 characters, which a form accepts, used to be cut after 4,000."""
    asked = SAID[1].id if in_view else message_id(99)
    text = "words " * 2_500
    form = Action(START, "form", {}, {"text": text}, "done", asked, ALPHA.id, ALPHA.name)
    earlier = replace(form, at=START - 9, message_id=message_id(98))
    resume = Resume("answered", None, "Husam", tool="form")
    lines = _lines(layout, actions=(earlier, form), resume=resume)
    shown = [line.partition(" → ")[2] for line in lines if "You: called form" in line]
    assert shown[1] == f'{{"text":"{text}"}}'
    assert "characters left out" in shown[0]


def test_x8_calls_of_this_run_are_never_in_the_stable_part() -> None:
    """Another run has moved the cursor past this run's messages."""
    scene = in_alpha(SAID, cursor=4, trigger=trigger_of(SAID[0]), actions=(ASKED,), resume=REPLIED)
    user = perceive(scene).turns[1]
    assert isinstance(user, User)
    assert not [line for part in user.parts[:-1] for line in lines_of(part) if "[msg:" in line]


def test_m8_an_answer_to_an_expired_question_says_so_in_the_trigger() -> None:
    late = trigger_of(SAID[3], answersExpired=SAID[1].id)
    text = seen_text(in_alpha(SAID, trigger=late))
    assert "\n  answersExpired: msg_0000000000000002 (your question there had timed out)\n" in text
    assert history_of(text)[-1].endswith('"looks good, ship it"  [NEW] ← TRIGGER')
