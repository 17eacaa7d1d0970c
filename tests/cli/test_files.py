"""L4: `majlis send --file`, `majlis file list` and `majlis file get`, over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


async def test_l4_files_are_sent_listed_and_downloaded(majlis: Command, world: World, tmp_path: Path) -> None:
    await world.owner.create_space("Lobby")
    first, second, copy = tmp_path / "report.csv", tmp_path / "notes.txt", tmp_path / "copy.csv"
    first.write_bytes(b"a,b\n1,2\n")
    second.write_bytes(b"hello")
    message = (await majlis.ok("send", "Lobby", "--file", str(first), "-f", str(second), "--json")).json
    assert (message["text"], [each["name"] for each in message["files"]]) == ("", ["report.csv", "notes.txt"])
    page = (await majlis.ok("file", "list", "Lobby", "--json")).json
    assert [each["name"] for each in page["files"]] == ["notes.txt", "report.csv"]
    assert "report.csv" in (await majlis.ok("file", "list", "Lobby")).out
    file = message["files"][0]["id"]
    got = await majlis.ok("file", "get", file, "-o", str(copy), "--json")
    assert got.json == {"id": file, "file": str(copy), "bytes": copy.stat().st_size}
    assert "--output" in await majlis.line("file", "get", file, "--json", code=2)
    assert copy.read_bytes() == b"a,b\n1,2\n"
    assert "There is no file" in await majlis.line("file", "get", "fil_1m7r60pfq81na0q7", "-o", str(copy), code=1)
    assert "Cannot read" in await majlis.line("send", "Lobby", "x", "--file", str(tmp_path / "none"), code=1)
