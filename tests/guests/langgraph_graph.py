"""D2: LangGraph as an outside agent, with `examples/outside/langgraph`."""

from __future__ import annotations

from asyncio.subprocess import Process
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from tests.conditions import until
from tests.gateway_process import LEASE_PATIENCE_SECONDS, GatewayProcess, open_gateway, running
from tests.guests.install import PYTHON
from tests.world import Person


async def test_d2_a_graph_keeps_its_question_while_it_and_the_gateway_are_killed(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as gateway:
        agent = await gateway.world.agent("Herald", mind="outside")
        space = await gateway.owner.create_space("News", agent)
        await gateway.owner.say(space, "Announce the release")
        async with graph(gateway, agent, tmp_path):
            await until(lambda: _count(gateway, space, 2))
        # The graph is gone, too.
        await gateway.kill()
        await gateway.start()
        await gateway.owner.say(space, "1.4")
        async with graph(gateway, agent, tmp_path):
            await gateway.kill()
            await gateway.start()
            await until(lambda: _count(gateway, space, 4), LEASE_PATIENCE_SECONDS)
        assert await gateway.said(space) == [
            ("Owner", "Announce the release"),
            ("Herald", "Which version do you want to announce?"),
            ("Owner", "1.4"),
            ("Herald", "Version 1.4 is out."),
        ]


def graph(gateway: GatewayProcess, agent: Person, folder: Path) -> AbstractAsyncContextManager[Process]:
    # Its own client, not the repository's.
    given = {"PYTHONPATH": "", "MAJLIS_URL": gateway.url, "MAJLIS_TOKEN": agent.token}
    example = "examples/outside/langgraph/agent.py"
    return running(example, python=PYTHON, GRAPH_STATE=str(folder / "graph.db"), **given)


async def _count(gateway: GatewayProcess, space: str, count: int) -> bool:
    return len(await gateway.said(space)) >= count
