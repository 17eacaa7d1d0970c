"""A cancel does not interrupt the engine's transactions: it is raised after they have ended."""

from __future__ import annotations

import asyncio
import gc

import pytest

from majlis.runs.journal import Fenced
from majlis.store.transactions import Tx
from tests.runs.house import House


async def test_j3_a_run_that_is_canceled_twice_still_waits_for_its_transaction(house: House) -> None:
    """The bus reported a cancel, and the worker's own poll a moment later: the second one used to interrupt the
    transaction."""
    ended: list[bool] = []
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    def lost(tx: Tx) -> None:
        ended.append(True)
        raise Fenced

    writing = asyncio.create_task(house.world.gateway.engine.write(lost))
    await asyncio.sleep(0)
    for _ in range(3):
        writing.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert ended == [True]
    gc.collect()
    assert complaints == []
