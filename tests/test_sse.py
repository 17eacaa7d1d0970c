"""The parser of event streams yields the same events wherever the chunks are cut."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from majlis.sse import EventParser, ServerEvent

TEXT = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=5), st.lists(st.integers(1, 20), min_size=1, max_size=50))
def test_events_are_the_same_however_the_bytes_are_cut(texts: list[tuple[str, bool]], cuts: list[int]) -> None:
    stream = b""
    for number, (text, beaten) in enumerate(texts):
        data = json.dumps({"text": text}, ensure_ascii=False).encode()
        stream += b"id: %d\nevent: space.message\ndata: %s\n\n" % (number, data)
        stream += b": heartbeat\n\n" if beaten else b""
    parser = EventParser()
    found: list[ServerEvent] = []
    while stream:
        for cut in cuts:
            found += parser.feed(stream[:cut])
            stream = stream[cut:]
    assert [(event.id, event.type, json.loads(event.data)["text"]) for event in found] == [
        (str(number), "space.message", text) for number, (text, _) in enumerate(texts)
    ]


def test_line_ends_of_other_systems_and_data_over_several_lines_are_read() -> None:
    parser = EventParser()
    assert [*parser.feed(b'event:x\r\ndata:{"a":\r\ndata: 1}\r\n\r\n')] == [ServerEvent("", "x", b'{"a":\n1}')]
    assert [*parser.feed(b"id: 1\n\n")] == []


def test_an_event_without_its_closing_empty_line_is_read_at_the_end() -> None:
    parser = EventParser()
    assert [*parser.feed(b"retry: 5\ndata: 1\n\nid: 2\ndata: 2")] == [ServerEvent("", "message", b"1")]
    assert [*parser.end()] == [ServerEvent("2", "message", b"2")]
    assert [*parser.end()] == []


def test_the_size_of_an_unfinished_event_is_known() -> None:
    parser = EventParser()
    assert [*parser.feed(b"data: 123\ndata: 45")] == []
    assert 50 < parser.held < 100
    assert len([*parser.feed(b"\n\n")]) == 1
    assert parser.held == 0
