"""How a command finds the server and its token."""

from __future__ import annotations

import asyncio
from pathlib import Path

import sqlalchemy as sa

from majlis import clock
from majlis.cli.local import LABEL, LIFE_MILLIS, renew
from majlis.clock import parse_iso
from majlis.entities.tokens import issue
from majlis.settings import Settings
from majlis.store.tables import tokens
from majlis.store.transactions import Tx
from tests.cli.command import Command
from tests.ports import free_port
from tests.world import World


async def test_a_missing_server_is_reported_in_one_clear_line(bare: Command) -> None:
    port = free_port()
    nobody = bare.given(MAJLIS_PORT=str(port))
    expected = (
        f"Cannot connect to http://127.0.0.1:{port}. Start Majlis with `majlis serve`, or set another URL with --url."
    )
    for arguments in (["space", "list", "--json"], ["send", "Lobby", "hello"]):
        assert await nobody.line(*arguments, code=1) == expected
    assert await nobody.given(MAJLIS_HOST="0.0.0.0").line("tail", "x", code=1) == expected
    assert "http://[::1]:" in await nobody.given(MAJLIS_HOST="::").line("tail", "x", code=1)
    assert "--url" in await nobody.given(MAJLIS_PORT="0").line("tail", "x", code=2)


async def test_a_server_that_is_not_majlis_is_recognized(bare: Command) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as other:
        url = f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}"
        assert "not as a Majlis server" in await bare.line("space", "list", "--url", url, code=1)


async def test_the_token_comes_from_the_variable_that_is_named_first(bare: Command, world: World) -> None:
    sara, shop = await world.person("Sara"), await world.person("Shop", "service")
    await sara.create_space("Saras")
    await shop.create_space("Shops")
    await world.owner.create_space("Owners")
    names = {"MINE": shop.token, "MAJLIS_TOKEN": sara.token, "MAJLIS_OWNER_TOKEN": world.owner.token}
    base = bare.given(MAJLIS_URL=world.base_url)
    assert "Shops" in (await base.given(**names).ok("space", "list", "--token-env", "MINE")).out
    assert "Saras" in (await base.given(**names).ok("space", "list")).out
    assert "Owners" in (await base.given(MAJLIS_OWNER_TOKEN=world.owner.token).ok("space", "list")).out


async def test_a_wrong_token_is_named_with_its_source(majlis: Command) -> None:
    wrong = majlis.given(MAJLIS_TOKEN="mj_wrong", EMPTY="", STRANGE="mj_ü")
    told = await wrong.line("space", "list", code=1)
    assert told == "This token is invalid, expired or revoked. The token is from MAJLIS_TOKEN."
    assert "--token-env names, is not set" in await wrong.line("space", "list", "--token-env", "EMPTY", code=2)
    assert "contains invalid characters" in await wrong.line("space", "list", "--token-env", "STRANGE", code=2)


async def test_beside_the_database_no_token_is_needed_and_none_is_left(local: Command, world: World) -> None:
    command = local.given(MAJLIS_URL=world.base_url)
    await command.ok("space", "create", "Lobby")
    assert [space["name"] for space in (await command.ok("space", "list", "--json")).json] == ["Lobby"]
    assert (await command("space", "show", "Nowhere")).code == 1
    assert await living(world) == []


async def test_the_tokens_life_is_an_hour_and_renewed_while_the_command_runs(world: World) -> None:
    gateway = world.gateway
    made, _ = await gateway.db.write(issue, gateway.hasher, gateway.owner_id, "api", LABEL, clock.now() + 60_000)
    await gateway.db.write(renew, made["id"])
    [expires_at] = await living(world)
    assert 0 <= expires_at - parse_iso(made["createdAt"]) - LIFE_MILLIS < 60_000


async def test_a_database_that_is_not_the_servers_is_noticed(
    local: Command, world: World, tmp_path: Path, bare: Command
) -> None:
    elsewhere = str(tmp_path / "elsewhere")
    other = bare.given(MAJLIS_URL=world.base_url, MAJLIS_DATA_DIR=elsewhere)
    told = await other.line("space", "list", code=2)
    assert told.startswith("There is no token. Set MAJLIS_TOKEN, or run this on the server's machine.")
    assert not (tmp_path / "elsewhere").exists(), "looking must not make anything"
    await other.ok("migrate")
    assert "but the server uses another one" in await other.line("space", "list", code=1)


async def test_without_the_servers_key_the_command_fails_and_creates_none(
    local: Command, world: World, tmp_path: Path, settings: Settings
) -> None:
    keyless = local.given(MAJLIS_URL=world.base_url, MAJLIS_DATA_DIR=str(tmp_path / "keyless"))
    assert "The server key is missing" in await keyless.line("space", "list", code=2)
    assert "The server key is missing" in await keyless.line("token", "create", "Owner", code=2)
    assert not (tmp_path / "keyless").exists()


async def living(world: World) -> list[int]:
    def find(tx: Tx) -> list[int]:
        found = sa.select(tokens.c.expires_at).where(tokens.c.label == LABEL, tokens.c.ended_at.is_(None))
        return list(tx.execute(found).scalars())

    return await world.gateway.db.read(find)
