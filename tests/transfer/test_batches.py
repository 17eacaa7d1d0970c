"""Lines are imported many at once: their texts arrive exactly, and a bad line is found among the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from majlis.clock import iso
from majlis.store import ids
from majlis.store.migrations import REVISIONS
from majlis.store.transactions import Database, Tx
from majlis.transfer.export import Damaged, Selection
from majlis.transfer.scope import ExportScope
from majlis.transfer.tables import KINDS
from tests.store.test_bulk import TEXTS
from tests.transfer.sample_gateway import House, Said, exported, imported, of_type

HEADER = {"type": "majlis-export", "version": 1, "schema": REVISIONS[-1], "scope": "gateway"}


def gateway_of(*messages: Said) -> list[Said]:
    """An export with one person and one space, in lines 2 and 3, and the messages from line 4 on."""
    person, space = ids.new("ent"), ids.new("spc")
    at = iso(0)
    entity: Said = {"type": "entity", "id": person, "entityType": "human", "name": "Sara", "createdAt": at}
    room: Said = {"type": "space", "id": space, "name": "Alpha", "headSeq": len(messages), "createdAt": at}
    said: list[Said] = [
        {
            "type": "message",
            "id": ids.new("msg"),
            "spaceId": space,
            "seq": seq,
            "senderId": person,
            "createdAt": at,
            **each,
        }
        for seq, each in enumerate(messages, 1)
    ]
    return [HEADER, entity, room, *said, {"type": "end", "counts": {}}]


async def test_texts_of_every_kind_arrive_exactly(target: Database, tmp_path: Path) -> None:
    texts = [text for text in TEXTS if text.strip() and len(text) < 60_000] + ["é" * 32_000, "\\\t\n\r" * 16_000]
    origin = [{"text": text, text: [text]} for text in texts]
    lines = gateway_of(*({"text": t, "tool": o, "mentions": []} for t, o in zip(texts, origin, strict=True)))
    summary, _ = await imported(target, lines, tmp_path)
    assert summary.clean
    found = of_type(await exported(target), "message")
    assert [(message["text"], message["tool"]) for message in found] == list(zip(texts, origin, strict=True))
    again, _ = await imported(target, lines, tmp_path)
    assert again.counts["message", "present"] == len(texts)


async def test_what_json_can_write_but_no_database_can_store_is_rejected(target: Database, tmp_path: Path) -> None:
    lines = gateway_of({"text": "one"}, {"text": "a\0b"}, {"text": "three"})
    summary, asides = await imported(target, lines, tmp_path)
    assert [aside["line"] for aside in asides] == [5]
    assert summary.counts["message", "imported"] == 2


BAD: list[tuple[Said, str]] = [
    ({"clientId": "c-7"}, "the sender has used the clientId for another message in this space"),
    ({"seq": 1}, "another message has this number in this space"),
    ({"seq": 0}, "the database rejected it: "),
]


@pytest.mark.parametrize("places", [[100], [8, 9, 10], [50, 99, 149], [199]], ids=repr)
async def test_lines_that_the_database_rejects_are_named_and_all_others_are_imported(
    target: Database, tmp_path: Path, places: list[int]
) -> None:
    messages: list[Said] = [{"text": f"n {n}", "clientId": f"c-{n}"} for n in range(200)]
    expected = []
    for place, (change, reason) in zip(places, BAD, strict=False):
        messages[place] |= change
        expected.append((place + 4, reason))
    lines = gateway_of(*messages)
    summary, asides = await imported(target, lines, tmp_path)
    assert [aside["line"] for aside in asides] == [line for line, _ in expected]
    for aside, (_, reason) in zip(asides, expected, strict=True):
        assert aside["reason"].startswith(reason)
    assert summary.counts["message", "imported"] == 200 - len(places)
    # A notice takes the number of each rejected message, at the end.
    found = [message["text"] for message in of_type(await exported(target), "message")][: 200 - len(places)]
    assert found == [message["text"] for place, message in enumerate(messages) if place not in places]


async def test_the_search_for_a_bad_line_takes_few_tries(target: Database, tmp_path: Path) -> None:
    messages: list[Said] = [{"text": f"n {n}"} for n in range(510)]
    messages[300]["seq"] = 0
    tries: list[str] = []
    sa.event.listen(target.engine, "savepoint", count := lambda conn, name: tries.append(name))
    try:
        summary, _ = await imported(target, gateway_of(*messages), tmp_path)
    finally:
        sa.event.remove(target.engine, "savepoint", count)
    assert summary.counts["message", "imported"] == 509
    assert len(tries) < 30


async def test_a_batch_may_have_messages_of_a_thousand_spaces(target: Database, tmp_path: Path) -> None:
    """SQLite refused the look for placeholders in so many spaces, and every further try of the import failed there."""
    person, at = ids.new("ent"), iso(0)
    rooms = [ids.new("spc") for _ in range(1900)]
    lines: list[Said] = [
        HEADER,
        {"type": "entity", "id": person, "entityType": "human", "name": "Sara", "createdAt": at},
    ]
    lines += [{"type": "space", "id": room, "name": "Alpha", "headSeq": 1, "createdAt": at} for room in rooms]
    said = {"type": "message", "seq": 1, "senderId": person, "createdAt": at, "text": "hello"}
    lines += [{**said, "id": ids.new("msg"), "spaceId": room} for room in rooms]
    summary, set_aside = await imported(target, [*lines, {"type": "end", "counts": {}}], tmp_path)
    assert set_aside == []
    assert summary.counts["message", "imported"] == 1900


async def test_an_undamaged_gateway_is_read_past_sqlalchemy(source: Database, furnished: House) -> None:
    """A row that could not be read this way would be read alone, a hundred times more slowly, and look the same."""

    def read(tx: Tx, scope: ExportScope) -> list[Any]:
        return [row for kind in KINDS for page in Selection(tx, kind, scope).pages() for row in page]

    for scope in (ExportScope(), ExportScope(furnished.alpha)):
        found = await source.snapshot(read, scope)
        assert len(found) > 10
        assert not any(isinstance(row, (sa.Row, Damaged)) for row in found)
