"""The commands: their output and exit codes, next to a running server, and killed in the middle."""

from __future__ import annotations

import json
import stat
from asyncio import timeout
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from majlis.cli.main import execute
from majlis.settings import Settings
from majlis.store.tables import messages
from majlis.store.transactions import Database, Tx
from majlis.transfer.file import BATCH_LINES
from tests.cli.command import PATIENCE_SECONDS, Command
from tests.cli.processes import Commands
from tests.transfer.sample_gateway import Said, exported, imported, of_type, written
from tests.world import World


@pytest.mark.parametrize("engine", ["sqlite"])  # where a reader could block a writer
async def test_an_export_is_written_beside_a_running_server(
    world: World, settings: Settings, target: Database, tmp_path: Path, commands: Commands
) -> None:
    space = await world.owner.create_space("Lobby")
    await world.owner.say(space, "hello")
    file = tmp_path / "lobby.jsonl"
    command = Command(tmp_path, commands, MAJLIS_DATABASE_URL=settings.database_url)
    ran = await command.ok("export", "-o", str(file), "--json")
    assert ran.json["counts"] == {"entity": 1, "space": 1, "cause": 1, "member": 1, "message": 1}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not file.with_name("lobby.jsonl.part").exists()
    assert (await imported(target, file.read_bytes(), tmp_path))[0].clean


def many_messages(lines: list[Said], count: int) -> list[Said]:
    """The same gateway with enough messages in its last space for several batches."""
    message = of_type(lines, "message")[-1]
    at = lines.index(message) + 1
    more = [
        {**message, "id": f"msg_{n:016d}", "causedBy": None, "clientId": None, "seq": n}
        for n in range(message["seq"] + 1, count + 1)
    ]
    grown = [{**line, "headSeq": count} if line.get("id") == message["spaceId"] else line for line in lines]
    counts: dict[str, Any] = {**lines[-1]["counts"], "message": lines[-1]["counts"]["message"] + len(more)}
    return [*grown[:at], *more, *grown[at:-1], {"type": "end", "counts": counts}]


async def test_an_import_that_is_killed_in_the_middle_can_simply_be_repeated(
    lines: list[Said],
    target: Database,
    engine: str,
    room_urls: dict[str, list[str]],
    tmp_path: Path,
    commands: Commands,
) -> None:
    whole = many_messages(lines, 3 * BATCH_LINES)
    content = written(whole)
    command = Command(tmp_path, commands, MAJLIS_DATABASE_URL=room_urls[engine][1])
    child = await command.start("import", "-")
    child.stdin.write(content[: len(content) * 3 // 4])
    async with timeout(PATIENCE_SECONDS):
        while await count_messages(target) == 0:
            pass
    child.kill()
    await child.communicate()
    assert 0 < await count_messages(target) < len(of_type(whole, "message"))

    summary, _ = await imported(target, content, tmp_path)
    assert summary.clean
    after = await exported(target)
    assert after[-1] == whole[-1]
    assert of_type(after, "message") == of_type(whole, "message")
    assert of_type(after, "member") == of_type(whole, "member")


async def count_messages(db: Database) -> int:
    row = await db.read(Tx.one, sa.select(sa.func.count()).select_from(messages))
    assert row is not None
    return int(row[0])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run commands in. They run in this process and must not set up its log."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("majlis.logs.set_up_logging", lambda settings: None)
    return tmp_path


@pytest.mark.parametrize("engine", ["sqlite"])
def test_an_import_says_what_it_did_and_rejects_bad_lines(
    lines: list[Said], target_url: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def majlis(*arguments: str) -> tuple[int, str, list[str]]:
        code = execute([*arguments, "--database-url", target_url])
        out, err = capfd.readouterr()
        return code, out, err.splitlines()

    of_type(lines, "message")[2]["text"] = 7
    (here / "all.jsonl").write_bytes(written(lines))
    (here / "all.jsonl.rejected.jsonl").write_text("of an earlier import")
    code, out, err = majlis("import", "all.jsonl", "--dry-run")
    assert (code, out) == (1, "")
    assert "message    9 would be imported, 1 rejected" in err
    assert err[-1] == "Rejected lines: 1. all.jsonl.rejected.jsonl has the number and the reason of each."
    aside = json.loads((here / "all.jsonl.rejected.jsonl").read_text())
    assert (aside["type"], aside["reason"]) == ("message", "text: input should be a valid string")
    assert orjson.loads(aside["content"]) == lines[aside["line"] - 1]

    code, out, _ = majlis("import", "all.jsonl", "--json", "--rejected", "bad.jsonl")
    assert code == 1
    assert json.loads(out)["types"]["message"] == {"imported": 9, "present": 0, "updated": 0, "setAside": 1}
    assert json.loads(out)["placeholders"] == 1
    assert (here / "bad.jsonl").exists()

    code, out, err = majlis("export", "--space", "Beta")
    assert code == 0
    assert [json.loads(line)["type"] for line in out.splitlines()][::8] == ["majlis-export", "message", "delivery"]
    assert "message    5" in err


@pytest.mark.parametrize("engine", ["sqlite"])
def test_bad_usage_is_one_line_and_exit_code_2(
    database_url: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "notes.txt").write_text("hello\n")
    (here / "all.jsonl").write_text("of an earlier export")
    for url, arguments, code, problem in (
        (database_url, ("import", "notes.txt"), 2, "notes.txt is not a Majlis export"),
        (database_url, ("import", "missing.jsonl"), 2, "Cannot read missing.jsonl"),
        (database_url, ("export", "--space", "Nowhere", "-o", "all.jsonl"), 2, 'There is no space "Nowhere"'),
        ("sqlite:///none.db", ("export",), 2, "There is no database"),
        (database_url, ("export", "-o", "no/such/folder"), 1, "Cannot write no/such/folder"),
    ):
        assert execute([*arguments, "--database-url", url]) == code, arguments
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert problem in err
    assert not (here / "none.db").exists()
    assert (here / "all.jsonl").read_text() == "of an earlier export"
