"""Starting a gateway: the first owner, the server key, and reasons to refuse to start."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from majlis.errors import ConfigurationError
from majlis.gateway import open_gateway
from majlis.settings import Settings
from majlis.store.tables import entities


async def test_the_first_start_makes_one_owner_and_the_next_finds_it(settings: Settings) -> None:
    named = settings.model_copy(update={"owner_name": "Husam"})
    first = await open_gateway(named)
    await first.close()
    again = await open_gateway(settings)
    names = await again.db.read(lambda tx: [tuple(row) for row in tx.all(sa.select(entities.c.name, entities.c.role))])
    assert sorted(names) == [("Husam", "owner"), ("Majlis", "member")]
    assert again.owner_id == first.owner_id
    await again.close()


async def test_two_nodes_that_start_at_once_agree_on_the_owner(settings: Settings) -> None:
    both = await asyncio.gather(open_gateway(settings), open_gateway(settings))
    assert both[0].owner_id == both[1].owner_id
    for gateway in both:
        await gateway.close()


async def test_a_node_with_another_key_refuses_to_start(settings: Settings) -> None:
    first = await open_gateway(settings)
    await first.close()
    other = settings.model_copy(update={"secret_key": SecretStr("k" * 40)})
    with pytest.raises(ConfigurationError, match="another server key"):
        await open_gateway(other)


@pytest.mark.parametrize(
    "url", ["postgresql://nobody@127.0.0.1:1/none", "sqlite:////proc/nowhere/majlis.db"], ids=["postgresql", "sqlite"]
)
async def test_a_database_that_cannot_be_opened_is_one_clear_line(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        await open_gateway(Settings(database_url=url, data_dir=tmp_path))
    assert "\n" not in refused.value.message
