"""Special lines: replies, tools, notices, messages for another space, quotes (X4, M14, X12)."""

from __future__ import annotations

from typing import Any

import pytest

from majlis.minds.quote import references
from majlis.minds.timeline.scene import Message, Who
from tests.minds.scenes import (
    ALPHA,
    ANALYST,
    DESIGNER,
    HUSAM,
    REPORTS,
    config,
    in_alpha,
    message,
    message_id,
    nowhere,
    trigger_of,
)
from tests.minds.view_text import history_of, seen_text

MAJLIS = Who("ent_0000000000000000", "Majlis", "service")
ORIGIN = {
    "sourceSpace": REPORTS.id,
    "sourceEvent": message_id(90),
    "sourceSpaceName": REPORTS.name,
    "sourceSender": "Husam",
    "sourceText": "Send report to dev team",
}


@pytest.fixture(params=("classic", "stable"))
def layout(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def _lines(layout: str, *said: Message, **more: Any) -> list[str]:
    """Without the timestamp, which is the same on all."""
    messages = (*said, message(50, HUSAM, "Go"))
    text = seen_text(in_alpha(messages, config=config(layout=layout), **more))
    return [line.partition("Z] ")[2] or line for line in history_of(text)][:-1]


def test_x4_a_reply_names_the_message_it_answers(layout: str) -> None:
    said = message(2, HUSAM, "Yes", reply_to=message_id(1))
    assert _lines(layout, said) == ['Husam (human, id:ent_husam): "Yes" (in reply to msg:msg_0000000000000001)  [NEW]']


def test_x4_a_notice_is_a_line_of_the_gateway(layout: str) -> None:
    said = message(1, MAJLIS, "The chain is too deep.", kind="notice")
    assert _lines(layout, said) == ['Majlis (service, id:ent_0000000000000000): "The chain is too deep."  [NEW]']


def test_j4_a_tool_shows_what_it_took_and_gave(layout: str) -> None:
    def used(seq: int, **tool: Any) -> Message:
        return message(
            seq, DESIGNER, "", kind="tool", tool={"callId": "c", "name": "deploy", "input": {"a": 1}, **tool}
        )

    lines = _lines(
        layout,
        used(1, output={"ok": True}, status="complete"),
        used(2, output=None, status="running"),
        used(3, output={"error": "no"}, status="error"),
    )
    assert [line.removeprefix("Designer (agent, id:ent_designer): ") for line in lines] == [
        'used tool deploy {"a":1} → {"ok":true}  [NEW]',
        'used tool deploy {"a":1} → running  [NEW]',
        'used tool deploy {"a":1} → error: {"error":"no"}  [NEW]',
    ]


def test_m14_own_words_for_another_space_say_why(layout: str) -> None:
    assert _lines(layout, message(1, ANALYST, "Here it is", origin=ORIGIN)) == [
        'You: [sent because Husam asked "Send report to dev team" in "Daily Reports"]  [SEEN]',
        '    "Here it is"',
    ]


def test_m14_the_reason_is_read_from_the_message_itself_if_the_origin_holds_only_ids(layout: str) -> None:
    bare = {"sourceSpace": REPORTS.id, "sourceEvent": message_id(90)}
    source = message(90, DESIGNER, "Tell them")
    said = message(1, ANALYST, "Here it is", origin=bare)
    known = _lines(layout, said, quoted={source.id: source})[0]
    assert known == 'You: [sent because Designer asked "Tell them" in "Daily Reports"]  [SEEN]'
    assert _lines(layout, said)[0] == 'You: [sent because of a message in "Daily Reports"]  [SEEN]'


def test_m14_nothing_is_shown_of_a_space_that_the_agent_has_left(layout: str) -> None:
    lines = _lines(layout, message(1, ANALYST, "Here it is", origin=ORIGIN), spaces=(ALPHA,))
    assert lines == ['DataAnalyst (agent, you): "Here it is"  [SEEN]']


def test_m14_f6_the_words_of_others_stand_on_their_line_and_the_reason_after_them(layout: str) -> None:
    lines = _lines(layout, message(1, DESIGNER, "Here it is", origin=ORIGIN))
    because = '(sent because Husam asked "Send report to dev team" in "Daily Reports")'
    assert lines == [f'Designer (agent, id:ent_designer): "Here it is" {because}  [NEW]']
    secret = {**ORIGIN, "sourceSpace": "spc_secret"}
    lines = _lines(layout, message(1, DESIGNER, "Here it is", origin=secret))
    assert lines == ['Designer (agent, id:ent_designer): "Here it is"  [NEW]'], "a space that the reader is not in"


def test_x12_a_message_quoted_by_id_or_permalink_is_shown_inline(layout: str) -> None:
    source = message(90, DESIGNER, 'The "old" plan' + "!" * 300)
    shown = f'"The \\"old\\" plan{"!" * 286}"…'
    for text in (f"See msg:{source.id}.", f"See https://x.org/spaces/{REPORTS.id}/messages/{source.id}"):
        lines = _lines(layout, message(1, HUSAM, text), quoted={source.id: source})
        quoted = f"(quotes msg:{source.id} by Designer: {shown})"
        assert lines == [f'Husam (human, id:ent_husam): "{text}" {quoted}  [NEW]']


def test_x12_a_reference_to_an_unreadable_message_stays_an_id(layout: str) -> None:
    text = f"See msg:{message_id(90)}"
    assert _lines(layout, message(1, HUSAM, text)) == [f'Husam (human, id:ent_husam): "{text}"  [NEW]']


def test_x12_a_trigger_without_a_line_of_its_own_shows_what_it_quotes(layout: str) -> None:
    source = message(90, DESIGNER, "The plan")
    trigger = trigger_of(message(1, HUSAM, f"See msg:{source.id}"))
    text = seen_text(nowhere(trigger, quoted={source.id: source}, config=config(layout=layout)))
    assert f'  message: "See msg:{source.id}" (quotes msg:{source.id} by Designer: "The plan")\n' in text


def test_x12_only_ids_that_stand_by_themselves_are_references() -> None:
    one, two = message_id(1), message_id(2)
    assert references(f"msg:{one}, [msg:{two}] and msg:{one} again") == [one, two]
    assert references(f"https://x/api/messages/{one}?x=1") == [one]
    assert references(f"{one} xmsg:{one} msg:{one}0 messages/{one} msg:msg_short") == []
    assert len(references(" ".join(f"msg:{message_id(n)}" for n in range(99)))) == 3
