"""`majlis doctor`: every problem has advice, and the checks change nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from majlis import clock
from majlis.cli.checks import database as database_checks
from majlis.cli.checks import environment as environment_checks
from majlis.settings import Settings
from majlis.store.open import open_database
from majlis.store.tables import events
from tests.cli.command import Command, Ran
from tests.nats_servers import NatsServer
from tests.ports import free_port
from tests.world import World


def found(ran: Ran, area: str, level: str) -> list[dict[str, Any]]:
    every = ran.json["findings"]
    assert all(finding["advice"] for finding in every if finding["level"] != "ok")
    assert ran.code == (1 if any(finding["level"] == "problem" for finding in every) else 0)
    return [finding for finding in every if (finding["area"], finding["level"]) == (area, level)]


async def test_a_served_gateway_is_well_in_every_part(local: Command, world: World) -> None:
    space = await world.owner.create_space()
    await world.owner.say(space, "hello")
    port = world.base_url.rpartition(":")[2]
    ran = await local("doctor", "--port", port, "--json")
    assert (ran.code, ran.json["problems"], ran.json["warnings"]) == (0, 0, 0)
    areas = [finding["area"] for finding in ran.json["findings"]]
    assert set(areas) == {"configuration", "database", "bus", "disk", "clock", "port"}
    [served] = found(ran, "port", "ok")
    assert f"runs at {world.base_url} (database {world.gateway.db.dialect}" in served["message"]
    told = await local.ok("doctor", "--port", port)
    assert told.out.endswith("\nno problems, no warnings.\n")
    assert len(told.out.splitlines()) == len(areas) + 2


async def test_an_empty_folder_is_ready_for_a_first_start_and_stays_empty(bare: Command, tmp_path: Path) -> None:
    ran = await bare("doctor", "--json")
    assert (ran.code, ran.json["problems"]) == (0, 0)
    assert "majlis-data/majlis.db does not exist yet." in found(ran, "database", "warning")[0]["message"]
    assert "is free" in found(ran, "port", "ok")[0]["message"]
    assert list((tmp_path / "empty").iterdir()) == []


async def test_a_misspelt_variable_is_found_with_what_was_meant(bare: Command) -> None:
    ran = await bare.given(MAJLIS_PROT="1", MAJLIS_TEST_X="1").__call__("doctor", "--json")
    [warned] = found(ran, "configuration", "warning")
    assert (warned["message"][:11], warned["advice"]) == ("MAJLIS_PROT", "Did you mean MAJLIS_PORT?")


async def test_settings_that_do_not_fit_are_a_problem_and_not_a_crash(bare: Command, tmp_path: Path) -> None:
    (tmp_path / "empty" / "majlis.toml").write_text("prot = 1")
    ran = await bare("doctor", "--json")
    [problem] = found(ran, "configuration", "problem")
    assert "unknown key prot" in problem["message"]


async def test_listening_to_the_world_without_https_is_worth_a_warning(bare: Command) -> None:
    assert found(await bare("doctor", "--host", "0.0.0.0", "--json"), "configuration", "warning")
    safe = bare.given(MAJLIS_PUBLIC_URL="https://majlis.example")
    assert not found(await safe("doctor", "--host", "0.0.0.0", "--json"), "configuration", "warning")


async def test_a_key_that_others_can_read_is_a_problem(local: Command, world: World, settings: Settings) -> None:
    (settings.data_dir / "server.key").chmod(0o644)
    [problem] = found(await local("doctor", "--json"), "disk", "problem")
    assert problem["advice"] == f"Run: chmod go= {settings.data_dir}/server.key"


async def test_another_key_or_none_is_a_problem(local: Command, world: World, tmp_path: Path) -> None:
    other = local.given(MAJLIS_SECRET_KEY="k" * 40)
    [problem] = found(await other("doctor", "--json"), "database", "problem")
    assert "another server key" in problem["message"]
    keyless = local.given(MAJLIS_DATA_DIR=str(tmp_path / "keyless"))
    [problem] = found(await keyless("doctor", "--json"), "database", "problem")
    assert "is missing" in problem["message"]
    assert not (tmp_path / "keyless").exists()


async def test_a_database_that_is_behind_ahead_or_away_is_found(
    local: Command, settings: Settings, bare: Command
) -> None:
    await change(settings, "DELETE FROM alembic_version")
    [behind] = found(await local("doctor", "--json"), "database", "warning")
    assert "majlis migrate" in behind["advice"]
    await change(settings, "INSERT INTO alembic_version VALUES ('9999')")
    [ahead] = found(await local("doctor", "--json"), "database", "problem")
    assert "newer version of Majlis" in ahead["message"]
    away = "postgresql://none@127.0.0.1:1/x" if not settings.embedded else f"sqlite:///{settings.data_dir}"
    [unreachable] = found(await bare("doctor", "--database-url", away, "--json"), "database", "problem")
    assert "--database-url" in unreachable["advice"]


async def test_a_damaged_file_is_found(bare: Command, tmp_path: Path) -> None:
    await bare.ok("migrate", "--data-dir", str(tmp_path))
    file = tmp_path / "majlis.db"
    for offset in range(8 * 4096, file.stat().st_size - 4096, 4096):
        with file.open("r+b") as opened:
            opened.seek(offset)
            opened.write(b"\xff" * 2048)
    problems = found(await bare("doctor", "--data-dir", str(tmp_path), "--json"), "database", "problem")
    assert any("restore a backup" in problem["advice"] for problem in problems)


async def test_an_entry_from_the_future_is_found(local: Command, world: World) -> None:
    tomorrow = clock.now() + 86_400_000
    row = {"topic": "spc_x", "seq": 1, "type": "x", "data": "{}", "at": tomorrow}
    await world.gateway.db.write(lambda tx: tx.execute(events.insert(), row))
    [problem] = found(await local("doctor", "--json"), "clock", "problem")
    assert clock.iso(tomorrow) in problem["message"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_a_bus_is_asked(local: Command, nats_server: NatsServer) -> None:
    assert "NATS 2" in found(await local("doctor", "--bus-url", nats_server.url, "--json"), "bus", "ok")[0]["message"]
    nats_server.stop()
    assert found(await local("doctor", "--bus-url", nats_server.url, "--json"), "bus", "problem")


async def test_a_port_that_is_not_ours_to_have_is_a_problem(bare: Command) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as other:
        port = str(other.sockets[0].getsockname()[1])
        [problem] = found(await bare("doctor", "--port", port, "--json"), "port", "problem")
        assert "not Majlis" in problem["message"]
    foreign = await bare("doctor", "--host", "192.0.2.1", "--port", str(free_port()), "--json")
    assert "--host" in found(foreign, "port", "problem")[0]["advice"]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_an_old_postgresql_and_a_wrong_clock_are_problems(
    world: World, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = world.gateway.db
    monkeypatch.setattr(database_checks, "_OLDEST_POSTGRES", 99)
    assert (await database_checks.check_connection(db, settings)).level == "problem"
    monkeypatch.setattr(clock, "now", lambda: 1_000_000_000_000)
    assert [finding.level async for finding in database_checks.check_clock(db)] == ["warning", "ok"]


def test_a_full_disk_and_a_folder_that_cannot_be_written_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = []
    for enough in (0, 2**62):
        monkeypatch.setattr(environment_checks, "_LITTLE", 2**62)
        monkeypatch.setattr(environment_checks, "_TOO_LITTLE", enough)
        [_, space, *_] = environment_checks.check_disk(Settings(data_dir=tmp_path / "new"))
        levels.append(space.level)
    assert levels == ["warning", "problem"]
    (tmp_path / "file").write_text("")
    [blocked, *_] = environment_checks.check_disk(Settings(data_dir=tmp_path / "file"))
    assert blocked.level == "problem"


async def change(settings: Settings, statement: str) -> None:
    db = open_database(settings.database)
    await db.write(lambda tx: tx.execute(sa.text(statement)))
    await db.close()
