"""L8: export and import keep direct conversations, and an import adds no third member."""

from __future__ import annotations

from pathlib import Path

from majlis.entities.entities import add_entity
from majlis.foundation import owner_caller
from majlis.spaces.direct import open_direct
from majlis.store.transactions import Database
from tests.transfer.sample_gateway import House, exported, imported, of_type


async def test_l8_a_direct_conversation_is_exported_and_stays_the_one_of_its_pair(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    owner = await source.read(owner_caller, furnished.owner)
    space, new = await source.write(open_direct, owner, furnished.sara)
    assert new
    lines = await exported(source)
    [line] = [line for line in of_type(lines, "space") if line["id"] == space["id"]]
    assert line["directKey"] == ":".join(sorted((furnished.owner, furnished.sara)))
    assert (await imported(target, lines, tmp_path))[0].clean
    again, new = await target.write(open_direct, await target.read(owner_caller, furnished.owner), furnished.sara)
    assert (again["id"], new) == (space["id"], False)


async def test_l8_an_import_rejects_a_third_member_a_wrong_key_and_a_second_space_of_the_pair(
    source: Database, furnished: House, target: Database, tmp_path: Path
) -> None:
    stranger = (await source.write(add_entity, "human", "Stranger"))["id"]
    space, _ = await source.write(open_direct, await source.read(owner_caller, furnished.owner), furnished.sara)
    lines = await exported(source)
    [line] = [line for line in of_type(lines, "space") if line["id"] == space["id"]]
    [mine, _] = [line for line in of_type(lines, "member") if line["spaceId"] == space["id"]]
    forged = [
        {**mine, "entityId": stranger},
        {**line, "id": "spc_0000000000000001", "directKey": ":".join(reversed(line["directKey"].split(":")))},
        {**line, "id": "spc_0000000000000002"},
    ]
    _, rejected = await imported(target, [*lines[:-1], *forged, lines[-1]], tmp_path)
    assert len(rejected) == 3
    reasons = " ".join(each["reason"] for each in rejected)
    assert "direct conversation of two others" in reasons
    assert "directKey should be two different ids" in reasons
    again, new = await target.write(open_direct, await target.read(owner_caller, furnished.owner), furnished.sara)
    assert (again["id"], new, len(again["members"])) == (space["id"], False, 2)
