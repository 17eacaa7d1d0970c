"""Invalid lines are rejected with their number and a reason; the rest is imported, and no message number shifts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from majlis.errors import ConfigurationError
from majlis.store.tables import messages, spaces
from majlis.store.transactions import Database, Tx
from majlis.transfer.export import export
from majlis.transfer.file import MAX_LINE_BYTES, Source
from majlis.transfer.placeholders import PLACEHOLDER
from majlis.transfer.report import Progress
from tests.transfer.sample_gateway import (
    NO_FILES,
    House,
    Said,
    contents,
    exported,
    head_seq,
    imported,
    of_type,
    outcomes,
    written,
)

ID = "0123456789abcdef"


def hostile(house: House) -> list[tuple[bytes, str]]:
    """Lines that must be rejected, each with a part of the expected reason."""
    entity: Said = {"type": "entity", "id": f"ent_{ID}", "entityType": "human", "name": "Eve", "role": "member"}
    entity |= {"createdAt": "2026-02-18T15:07:00.000Z"}
    message: Said = {"type": "message", "id": f"msg_{ID}", "spaceId": house.alpha, "seq": 3, "senderId": house.sara}
    message |= {"kind": "text", "text": "hi", "createdAt": "2026-02-18T15:07:00.000Z"}
    run: Said = {"type": "run", "id": f"run_{ID}", "agentId": house.scout, "status": "queued", "trigger": {}}
    run |= {"createdAt": "2026-02-18T15:07:00.000Z"}
    plan: Said = {"type": "plan", "id": f"pln_{ID}", "agentId": house.scout, "name": "p", "instruction": "i"}
    plan |= {"createdAt": "2026-02-18T15:07:00.000Z"}
    agent: Said = {"type": "agent", "id": house.sara, "config": {}, "updatedAt": "2026-02-18T15:07:00.000Z"}
    member: Said = {"type": "member", "spaceId": house.beta, "entityId": house.sara, "role": "member"}
    member |= {"joinedAt": "2026-02-18T15:07:00.000Z", "seenSeq": 5}
    as_json = [
        ({**entity, "type": "tokens"}, "type should be one of"),
        ({**entity, "type": ["entity"]}, "type should be one of"),
        ({**entity, "type": "majlis-export"}, "type should be one of"),
        ({**entity, "entityType": "god"}, "entityType: input should be 'human', 'agent' or 'service'"),
        ({**entity, "name": 7}, "name: input should be a valid string"),
        ({**entity, "name": "Sara\n← TRIGGER"}, "must not contain U+000A"),
        ({**entity, "name": "[Sara]"}, "must not contain U+005B"),
        ({**entity, "name": "sARA"}, "the name is taken by another entity, or looks like"),
        ({**entity, "externalId": "x-1"}, "the externalId is taken"),
        ({**entity, "id": "ent_1' OR 1=1"}, "id: should be an id like ent_"),
        ({**entity, "id": f"spc_{ID}"}, "id: should be an id like ent_"),
        ({**entity, "entityType": "agent", "role": "owner"}, "An agent cannot administer"),
        ({**entity, "nameKey": "owner"}, "nameKey: is not a known key"),
        ({**entity, "createdAt": 12}, "createdAt: should be a time"),
        ({**entity, "createdAt": "-0001-01-01T00:00:00Z"}, "createdAt"),
        ({key: value for key, value in entity.items() if key != "name"}, "name: is missing"),
        ({**message, "text": "a\u0000b"}, "text contains U+0000"),
        ({**message, "text": "x" * 65_537}, "text is too long: 65537 bytes"),
        ({**message, "text": " "}, "text must not be empty"),
        ({**message, "seq": True}, "seq: input should be a valid integer"),
        ({**message, "seq": 2**60}, "seq: input should be less than"),
        ({**message, "seq": 6}, "seq 6 should be between 0 and 5, the newest message"),
        ({**message, "seq": 0}, "the database rejected it"),
        ({**message, "seq": -1}, "seq -1 should be between"),
        ({**message}, "another message has this number"),
        ({**message, "senderId": f"ent_{ID}"}, "depends on ent_0123456789abcdef (senderId), which was rejected"),
        ({**message, "senderId": "ent_fedcba9876543210"}, "senderId refers to ent_fedcba9876543210, which does not"),
        ({**message, "mentions": {"a": 1}}, "mentions should be a list"),
        ({**message, "tool": "rm"}, "tool should be an object"),
        ({**message, "clientId": "c" * 129}, "clientId: string should have at most 128"),
        ({**run, "trigger": None}, "trigger: should not be null"),
        ({**run, "trigger": 5}, "trigger should be an object"),
        ({**run, "fence": 9}, "fence: is not a known key"),
        ({**plan}, "the database rejected it"),
        ({**agent}, "or has another type"),
        ({**agent, "id": house.scout, "config": {"instructions": 5}}, "The agent config is invalid: instructions"),
        ({**member, "seenSeq": 9}, "seenSeq 9 should be between"),
        ({**member, "sessionId": "\u202e" + "x" * 256}, "sessionId: string should have at most 256"),
    ]
    deep = b'{"type":"run","id":"run_%s","trigger":%s}'
    return [
        *((orjson.dumps(line), reason) for line, reason in as_json),
        (b"hello", "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b'{"type":"entity","name":"\\ud800"}', "not valid JSON"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (deep % (ID.encode(), b"[" * 2000 + b"]" * 2000), "not valid JSON"),
        (orjson.dumps(run).replace(b"{}", b'{"a":' + b"[" * 500 + b"]" * 500 + b"}"), "trigger: is nested too deeply"),
        (orjson.dumps({**message, "text": "x" * 10_000_000}), "text is too long: 10000000 bytes"),
        (b'{"type":"message","text":"' + b"x" * MAX_LINE_BYTES + b'"}', "the line is longer than"),
    ]


async def test_hostile_lines_are_rejected_and_change_nothing(
    source: Database, furnished: House, tmp_path: Path
) -> None:
    before = await contents(source)
    bad = hostile(furnished)
    header, *_, end = await exported(source)
    content = b"\n".join([orjson.dumps(header), *(line for line, _ in bad), orjson.dumps({**end, "counts": {}}), b""])
    summary, asides = await imported(source, content, tmp_path)
    assert [aside["line"] for aside in asides] == list(range(2, len(bad) + 2))
    for aside, (line, reason) in zip(asides, bad, strict=True):
        assert reason in aside["reason"], line[:200]
    assert outcomes(summary) == {"setAside": len(bad)}
    assert await contents(source) == before


async def test_good_lines_between_bad_ones_are_imported(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    content = b"".join(line + b"\n{}\n" for line in written(lines).splitlines()[:-1]) + written(lines[-1:])
    summary, asides = await imported(target, content, tmp_path)
    assert outcomes(summary) == {"imported": len(lines) - 2, "setAside": len(lines) - 1}
    assert [aside["content"] for aside in asides] == ["{}"] * len(asides)
    assert of_type(await exported(target), "message") == of_type(lines, "message")


async def test_a_second_line_with_the_same_id_is_present_or_rejected(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    header, *rest = lines
    twice = [line for each in rest[:-1] for line in (each, each, each)]
    for other in twice[2::3]:
        changed = "createdAt" if "createdAt" in other else "joinedAt" if "joinedAt" in other else "updatedAt"
        if changed in other:
            twice[twice.index(other) + 2] = {**other, changed: "2001-01-01T00:00:00.000Z"}
    summary, asides = await imported(target, [header, *twice, {**rest[-1], "counts": {}}], tmp_path)
    assert summary.counts["message", "imported"] == summary.counts["message", "present"] == 10
    assert {aside["reason"] for aside in asides if aside["type"] == "message"} == {
        "differs from the existing row (createdAt)"
    }
    assert of_type(await exported(target), "message") == of_type(rest, "message")


def without(lines: list[Said], space_id: str, *numbers: int) -> list[Said]:
    def is_meant(line: Said) -> bool:
        return line["type"] == "message" and line["spaceId"] == space_id and line["seq"] in numbers

    return [line for line in lines if not is_meant(line)]


async def test_a_missing_message_keeps_its_number_until_a_repeat_brings_it(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    """R9: no cursor shifts. First, last and two in the middle."""
    damaged = without(lines, house.alpha, 1, 3, 5)
    second = next(line for line in damaged if line.get("spaceId") == house.alpha and line.get("seq") == 2)
    second["unheardOf"] = 1
    summary, asides = await imported(target, damaged, tmp_path)
    assert (summary.placeholders, len(asides)) == (4, 1)
    assert summary.notes == ["The end line counts 10 message lines, but the file has 7."]
    assert await head_seq(target, house.alpha) == 5

    here = [m for m in of_type(await exported(target), "message") if m["spaceId"] == house.alpha]
    notices = {m["seq"]: m for m in here if m["kind"] == "notice"}
    assert {m["text"] for m in notices.values()} == {PLACEHOLDER}
    # The one that could be parsed in part keeps its sender; the others get the owner.
    assert {seq: m["senderId"] for seq, m in notices.items()} == {
        1: house.owner, 2: house.sara, 3: house.owner, 5: house.owner
    }  # fmt: skip
    assert sorted(m["seq"] for m in here) == [1, 2, 3, 4, 5]
    cursors = [m for m in of_type(lines, "member") if m["spaceId"] == house.alpha]
    assert [m for m in of_type(await exported(target), "member") if m["spaceId"] == house.alpha] == cursors

    again, _ = await imported(target, damaged, tmp_path)
    assert (again.placeholders, outcomes(again)) == (0, {"present": len(damaged) - 3, "setAside": 1})
    del second["unheardOf"]
    fixed, _ = await imported(target, lines, tmp_path)
    assert outcomes(fixed) == {"present": len(lines) - 6, "updated": 4}
    messages_here = sorted(of_type(await exported(target), "message"), key=lambda m: m["id"])
    assert messages_here == sorted(of_type(lines, "message"), key=lambda m: m["id"])


async def test_a_cut_off_file_is_noticed_and_the_whole_one_completes_it(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    content = written(lines)
    summary, _ = await imported(target, content[: content.index(b'"type":"phase"') - 200], tmp_path)
    assert not summary.clean
    assert "truncated" in summary.notes[0]
    # Numbers are reserved for the missing messages; a message that is posted meanwhile cannot take them.
    assert await head_seq(target, house.beta) == 5
    assert summary.placeholders == 0
    summary, _ = await imported(target, content, tmp_path)
    assert summary.clean
    assert of_type(await exported(target), "message") == of_type(lines, "message")


async def test_a_number_that_cannot_be_does_not_become_millions_of_placeholders(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    for space in of_type(lines, "space"):
        space["headSeq"] = 10**9 if space["id"] == house.alpha else 10**9 + 1
    summary, asides = await imported(target, lines, tmp_path)
    assert summary.placeholders == 0
    assert f"999,999,995 messages of {house.alpha} are missing" in summary.notes[0]
    assert "headSeq should be between 0 and" in asides[0]["reason"]


async def test_cursors_and_heads_move_forward_only(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    old: list[Said] = [
        {**line, "seenSeq": min(line["seenSeq"], 1), "processedSeq": None} if line["type"] == "member" else line
        for line in lines
    ]
    await imported(target, old, tmp_path)
    summary, _ = await imported(target, lines, tmp_path)
    assert summary.counts["member", "updated"] == 4
    assert of_type(await exported(target), "member") == of_type(lines, "member")
    summary, _ = await imported(target, old, tmp_path)
    assert outcomes(summary) == {"present": len(lines) - 2}
    assert of_type(await exported(target), "member") == of_type(lines, "member")


async def test_a_line_that_differs_from_its_row_is_rejected_and_the_row_left_alone(
    house: House, lines: list[Said], target: Database, tmp_path: Path
) -> None:
    await imported(target, lines, tmp_path)
    await target.write(Tx.execute, spaces.update().where(spaces.c.id == house.beta).values(name="Gamma"))
    summary, asides = await imported(target, lines, tmp_path)
    assert [(aside["type"], aside["reason"]) for aside in asides] == [("space", "differs from the existing row (name)")]
    assert outcomes(summary) == {"present": len(lines) - 3, "setAside": 1}


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"hello\n", b"{}\n", b'{"type":"entity"}\n', b"\x1f\x8b\x08", b'{"type":"majlis-export"}\n']
)
def test_a_file_that_is_not_an_export_is_refused(content: bytes) -> None:
    with pytest.raises(ConfigurationError, match=r"^it "):
        Source(io.BytesIO(content), "it", Progress("test"))


def test_a_file_of_a_newer_majlis_is_refused() -> None:
    header = {"type": "majlis-export", "version": 1, "schema": "0001", "scope": "space"}
    assert Source(io.BytesIO(orjson.dumps(header)), "it", Progress("test")).scope == "space"
    for change in ({"version": 2}, {"schema": "9999"}, {"scope": "world"}):
        with pytest.raises(ConfigurationError, match=r"^it "):
            Source(io.BytesIO(orjson.dumps({**header, **change})), "it", Progress("test"))


@pytest.mark.parametrize("engine", ["sqlite"])  # PostgreSQL does not store invalid JSON
async def test_a_damaged_row_is_left_out_of_the_export_and_named(source: Database, furnished: House) -> None:
    """A byte on the disk has changed, so a JSON column is no longer valid JSON (R9)."""
    where = messages.c.space_id == furnished.alpha, messages.c.seq == 3
    await source.write(Tx.execute, messages.update().where(*where).values(mentions=sa.literal_column("'[broken'")))
    lines, left_out = await exported_with_damage(source)
    assert [(row["type"], row["reason"][:10]) for row in left_out] == [("message", "unexpected")]
    assert len(of_type(lines, "message")) == 9
    assert lines[-1]["counts"]["message"] == 9


async def exported_with_damage(db: Database) -> tuple[list[Said], list[dict[str, Any]]]:
    chunks: list[bytes] = []
    done = await db.snapshot(export, None, chunks.append, Progress("test"), NO_FILES)
    return [orjson.loads(line) for line in b"".join(chunks).splitlines()], done.left_out
