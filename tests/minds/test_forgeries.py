"""Whole contexts full of forgeries: no text of a member can look like a line of ours (X9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from majlis.minds.timeline.lines import MAX_TEXT
from majlis.minds.timeline.scene import Action, Goal, Memory, Plan, Scene
from majlis.shorten import shorten_text
from tests.minds.forgeries import FORGERIES
from tests.minds.scenes import (
    ALPHA,
    ANALYST,
    DESIGNER,
    HUSAM,
    config,
    history,
    in_alpha,
    message,
    message_id,
    nowhere,
    seed_scene,
    trigger_of,
)
from tests.minds.view_text import Read, headings_of, history_of, lines_of, outside_strings, read, seen_text

MALLORY = replace(DESIGNER, id="ent_mallory", name="Mallory")
LAYOUTS = ("classic", "stable")
EXPECTED = {
    "classic": [
        "IDENTITY:",
        "TRIGGER:",
        "ACTIVE SPACE:",
        "SPACE HISTORY",
        "YOUR SPACES:",
        "ACTIVE RUNS:",
        "INSTRUCTIONS:",
    ],
    "stable": [
        *("INSTRUCTIONS:", "IDENTITY:", "YOUR SPACES:", "SPACE HISTORY", "TRIGGER:", "ACTIVE SPACE:", "ACTIVE RUNS:"),
        "NOW:",
    ],
}


def _scene(layout: str, texts: list[str]) -> Scene:
    said = history(*[(MALLORY, text) for text in texts], (HUSAM, "The real one"))
    return in_alpha(said, cursor=1, config=config(layout=layout, window=500))


def _check(layout: str, texts: list[str]) -> None:
    text = seen_text(_scene(layout, texts))
    lines = history_of(text)
    tags = ["SEEN", *["NEW"] * (len(texts) - 1)]
    assert [read(line) for line in lines[:-1]] == [
        Read(message_id(n), MALLORY.id, shorten_text(said, MAX_TEXT), tag, False)
        for n, (said, tag) in enumerate(zip(texts, tags, strict=True), 1)
    ]
    assert read(lines[-1]) == Read(message_id(len(texts) + 1), HUSAM.id, "The real one", "NEW", True)
    assert [line for line in lines_of(text) if " ← TRIGGER" in outside_strings(line)] == [lines[-1]]
    assert not [line for line in lines_of(text) if "← RESUME" in line]
    assert headings_of(text) == EXPECTED[layout]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_x9_a_history_of_forgeries_reads_as_what_was_really_said_by_whom(layout: str) -> None:
    _check(layout, list(FORGERIES))


@pytest.mark.parametrize("layout", LAYOUTS)
@given(texts=st.lists(st.text(), min_size=1, max_size=5))
def test_x9_whatever_is_said_each_message_is_one_line_of_its_sender(layout: str, texts: list[str]) -> None:
    _check(layout, texts)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_x9_a_forgery_is_harmless_as_trigger_payload_and_instruction(layout: str) -> None:
    for text in FORGERIES:
        said = message(1, MALLORY, text)
        space = seen_text(in_alpha((said,), trigger=trigger_of(said), config=config(layout=layout)))
        plan = {"type": "plan", "planId": "pln_1", "planName": text, "instruction": text, "scheduledAt": "now"}
        service = {"type": "service", "serviceName": text, "payload": {text: [text]}}
        for context in (space, *(seen_text(nowhere(each, config=config(layout=layout))) for each in (plan, service))):
            missing = set() if context is space else {"SPACE HISTORY"}
            assert headings_of(context) == [each for each in EXPECTED[layout] if each not in missing]
            marked = [line for line in lines_of(context) if " ← TRIGGER" in line]
            assert len(marked) == (1 if context is space else 0)


def _kept(text: str) -> dict[str, Any]:
    return {
        "goals": (Goal("gol_1", text, 1, False),),
        "memories": (Memory(text, text),),
        "plans": (Plan("pln_1", text, text, text, None, 0), Plan("pln_2", text, text, None, text, 1)),
        "other_runs": (),
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_x9_a_forgery_is_harmless_as_goal_memory_and_plan(layout: str) -> None:
    headings = headings_of(seen_text(seed_scene(config=config(layout=layout), **_kept("harmless"))))
    count = len(lines_of(seen_text(seed_scene(config=config(layout=layout), **_kept("harmless")))))
    for text in FORGERIES:
        context = seen_text(seed_scene(config=config(layout=layout), **_kept(text)))
        assert headings_of(context) == headings
        assert len(lines_of(context)) == count
        assert len([line for line in lines_of(context) if " ← " in line]) == 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_x9_a_forgery_is_harmless_in_what_tools_took_and_gave(layout: str) -> None:
    for text in FORGERIES:
        used = {"callId": "c", "name": text, "input": {text: text}, "output": [text], "status": "complete", "ui": None}
        note = {"sourceSpace": ALPHA.id, "sourceEvent": text, "sourceSender": text, "sourceText": text}
        said = (
            message(1, DESIGNER, "", kind="tool", tool=used),
            message(2, ANALYST, text, origin=note),
            message(3, HUSAM, "The real one"),
        )
        calls = (
            Action(0, text, {text: text}, {text: text}, "done"),
            Action(0, "send_message", {"text": text, "messageId": text}, text, "error"),
        )
        context = seen_text(in_alpha(said, config=config(layout=layout), actions=calls))
        assert headings_of(context) == EXPECTED[layout]
        # Two calls and three messages; the one with an origin has two lines.
        assert len(history_of(context)) == 2 + 4
        assert len([line for line in lines_of(context) if " ← " in line]) == 1
