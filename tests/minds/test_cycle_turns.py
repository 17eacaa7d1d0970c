"""K3: a stored cycle has its turns as they were sent, each call with its result."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from majlis.minds.consciousness.cut import cut_json, cut_turns
from majlis.minds.consciousness.perceive import inbox_turn
from majlis.minds.consciousness.remember import MAX_SUMMARY, closed, lived, paired, restored, stored
from majlis.minds.consciousness.token_budget import count, count_turns, size
from majlis.minds.timeline.scene import Action
from majlis.models.chat.wire_format import chat_messages
from majlis.models.port import Call, Prompt, Result, Said, Turn, User
from tests.minds.wakings import said, turns_of, waking


def wire(turns: Any) -> list[dict[str, Any]]:
    return chat_messages(Prompt(tuple(turns)))


def test_k3_a_cycle_comes_back_as_it_was_sent_byte_for_byte() -> None:
    turns = turns_of(1)
    kept = json.loads(json.dumps(stored(turns)))
    assert wire(restored(kept)) == wire(turns)
    assert restored(kept)[0] == turns[0], "with the border where a cache point goes"


def test_a_call_without_its_result_is_given_one_and_a_result_without_its_call_is_dropped() -> None:
    """Because of a call without a result, a provider used to reject all later requests of an agent."""
    calls = Call("a", "look_up", "{}"), Call("b", "look_up", "{}")
    turns: list[Turn] = [User(("INBOX",)), Said("", calls), Result("b", "look_up", "2"), Result("z", "?", "9")]
    whole = paired(turns)
    assert [turn.call_id for turn in whole if isinstance(turn, Result)] == ["a", "b"]
    assert "outcome is unknown" in whole[2].content  # type: ignore[union-attr]
    assert wire(restored(stored(whole))) == wire(whole)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        7,
        {},
        {"role": "tool", "content": "1"},
        {"role": "user", "content": None},
        {"role": "assistant", "tool_calls": [{"id": "x"}, None]},
        {"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}]},
    ],
)
def test_r9_a_damaged_row_does_not_silence_the_agent(damaged: Any) -> None:
    found = restored([*stored(turns_of(1)), damaged, {"role": "user", "content": "hello"}])
    assert found[: len(turns_of(1))] == restored(stored(turns_of(1)))
    assert paired(found) == found


def test_k7_the_summary_is_the_agents_own_last_word() -> None:
    kept = lived(turns_of(3, closing="  I looked it up; nothing is open. \n"))
    assert kept.summary == "I looked it up; nothing is open."
    assert len(lived(turns_of(3, closing="x" * 9_000)).summary) == MAX_SUMMARY


def test_k7_a_cycle_without_closing_text_is_summarized_by_its_calls() -> None:
    sent = Said("", (Call("c", "send_message", '{"text":"Here is the report"}'), Call("d", "broken", "{")))
    kept = lived([*turns_of(1)[:3], sent])
    assert kept.summary == (
        'On INBOX (1 event, …): [Family] Husam (human): "request 1" I called broken × 1, look_up × 1, '
        'send_message × 1. I sent "Here is the report".'
    )
    nothing = lived([turns_of(1)[0], Said("")])
    assert nothing.summary == 'I read INBOX (1 event, …): [Family] Husam (human): "request 1" and did nothing.'
    assert closed(restored(kept.messages), kept.summary)[-1] == Said(kept.summary)


def test_k7_tokens_are_counted_with_what_tools_answered() -> None:
    """4,000 characters of output used to count as 43 tokens."""
    small, large = lived(turns_of(1)), lived(turns_of(1, output=json.dumps("x" * 4_000)))
    assert large.tokens - small.tokens == pytest.approx(1_000, abs=10)
    arabic = lived(turns_of(1, output=json.dumps("قهوة" * 250, ensure_ascii=False)))
    assert arabic.tokens - small.tokens == pytest.approx(500, abs=10)


def test_k7_a_cycle_that_is_too_large_is_cut_where_it_is_longest_and_stays_paired() -> None:
    output = json.dumps({"log": 'line "one"\n' * 20_000})
    turns = closed(restored(stored(turns_of(1, output=output))), "done")
    found = cut_turns(turns, "done", 500)
    assert count_turns(found) <= 500
    assert [type(turn) for turn in found] == [type(turn) for turn in turns]
    assert found[0] == turns[0]
    assert found[-1] == turns[-1]
    cut = json.loads(found[2].content)  # type: ignore[union-attr]
    assert re.search(r"… \(\d{6} characters left out\) …", cut["log"])
    assert cut_turns(turns, "done", 10**6) == turns
    assert paired(found) == found


def test_k8_calls_of_an_earlier_try_are_listed_within_their_share() -> None:
    done = tuple(Action(n, "look_up", {"n": n}, "x" * 4_000, "done") for n in range(40))
    unsure = Action(40, "deploy", {"to": "prod" * 100}, None, "started")
    found = waking(said("Hi"), consciousness={"maxTokens": 20_000})
    turn = inbox_turn(replace(found, world=replace(found.world, actions=(*done, unsure))))
    _, block, _ = turn.text.split("\n\n")
    heading, *lines = block.split("\n")
    assert heading.startswith("ALREADY DONE (")
    assert len(lines) == 41
    assert all(f'You: called look_up({{"n":{n}}}) → "' in line for n, line in enumerate(lines[:-1]))
    assert "outcome unknown: the call was interrupted" in lines[-1]
    assert count(block) <= 20_000 // 8 + 100


def test_k7_a_cycle_of_a_thousand_calls_is_shown_by_its_inbox_and_its_summary() -> None:
    calls = tuple(Call(f"call_{n}", "look_up", "{}") for n in range(1_000))
    turns: list[Turn] = [turns_of(1)[0], Said("", calls), *(Result(call.id, call.name, "1") for call in calls)]
    found = cut_turns(turns, "I looked a thousand things up.", 200)
    assert count_turns(found) <= 200
    assert found[-1] == Said("I looked a thousand things up.")


@pytest.mark.parametrize("text", ['"' * 5_000, "\x01" * 5_000, "\ud83d\ude42" * 2_000, "ع" * 5_000])
def test_k7_truncated_content_is_still_json_and_fits(text: str) -> None:
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16")
    cut = cut_json(json.dumps(clean, ensure_ascii=False), 400)
    assert size(cut) <= 400
    assert "characters left out" in json.loads(cut)
