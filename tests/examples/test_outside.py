"""D2: the outside agents of `examples/outside` run as processes of their own, also while the gateway is killed."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from majlis.settings import Settings
from tests.conditions import until
from tests.outside.program import outside
from tests.ports import free_port
from tests.runs.house import House, open_house

ROOT = Path(__file__).parents[2]
OWNER = "owner-token-for-tests-only-0123456789"
UPPER = "import sys; print(sys.stdin.read().count('TRIGGER'), 'trigger')"


@asynccontextmanager
async def running(*arguments: str, **environment: str) -> AsyncIterator[Process]:
    given = {"PATH": "", "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", **environment}
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, env=given, stdout=DEVNULL)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _texts(house: House, space: str, count: int) -> list[tuple[str, str]]:
    async def enough() -> bool:
        return len(await house.texts(space)) >= count

    await until(enough)
    return await house.texts(space)


async def test_d2_the_counter_asks_waits_and_counts(settings: Settings) -> None:
    async with open_house(settings) as house:
        counter = await outside(house, "Counter")
        space = await house.space("Words", counter.agent)
        url = house.world.base_url
        async with running("-m", "examples.outside.counter", MAJLIS_URL=url, MAJLIS_TOKEN=counter.agent.token):
            asked = await house.owner.say(space, "count")
            assert (await _texts(house, space, 2))[-1] == ("Counter", "Which text?")
            await house.owner.say(space, "one two three")
            assert (await _texts(house, space, 4))[-1] == ("Counter", "3 words.")

            async def settled() -> bool:
                return await house.deliveries(asked) == [("Counter", "done")]

            await until(settled)
    assert len((ROOT / "examples/outside/counter.py").read_text("utf-8").splitlines()) <= 50


async def test_d2_a_command_line_program_is_an_agent(settings: Settings) -> None:
    async with open_house(settings) as house:
        scout = await outside(house)
        space = await house.space("Words", scout.agent)
        command = ("-m", "examples.outside.command", sys.executable)
        given = {"MAJLIS_URL": house.world.base_url, "MAJLIS_TOKEN": scout.agent.token}
        async with running(*command, "-c", UPPER, **given):
            await house.owner.say(space, "hello")
            name, text = (await _texts(house, space, 2))[-1]
            assert name == "Scout"
            assert text.endswith("trigger")
        async with running(*command, "-c", "raise SystemExit(3)", **given):
            failed = await house.owner.say(space, "hello again")

            async def settled() -> bool:
                return await house.deliveries(failed) == [("Scout", "failed")]

            await until(settled)
        [run] = await house.runs(scout.agent, status="failed")
        assert "exit code 3" in run["error"]["message"]


async def test_d2_a_killed_gateway_loses_no_event_and_doubles_no_answer(tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    serve = ("-m", "majlis", "serve", "--port", str(port), "--data-dir", str(tmp_path / "data"))
    texts = [" ".join(["word"] * (n + 1)) for n in range(12)]
    headers = {"Authorization": f"Bearer {OWNER}"}
    async with (
        httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as owner,
        running(*serve, MAJLIS_OWNER_TOKEN=OWNER, HOME=str(tmp_path)) as gateway,
    ):
        await until(lambda: _is_up(owner))
        made = (await owner.post("/api/agents", json={"name": "Counter", "config": {"mind": "outside"}})).json()
        token = (await owner.post(f"/api/entities/{made['id']}/tokens", json={})).json()["token"]
        space = (await owner.post("/api/spaces", json={"name": "Words"})).json()["id"]
        await owner.post(f"/api/spaces/{space}/members", json={"entityId": made["id"]})
        async with running("-m", "examples.outside.counter", MAJLIS_URL=url, MAJLIS_TOKEN=token):
            for text in texts:
                response = await owner.post(f"/api/spaces/{space}/messages", json={"text": text})
                assert response.status_code == 201
            await until(lambda: _answers(owner, space, 2))
            gateway.send_signal(signal.SIGKILL)
            await gateway.wait()
            async with running(*serve, MAJLIS_OWNER_TOKEN=OWNER, HOME=str(tmp_path)):
                await until(lambda: _is_up(owner))
                # An event whose response was lost is offered again when its lease has ended.
                await until(lambda: _answers(owner, space, len(texts)), patience=150)
                page = (await owner.get(f"/api/spaces/{space}/messages", params={"limit": 200})).json()
    said = [message["text"] for message in page["messages"] if message["sender"]["name"] == "Counter"]
    assert sorted(said) == sorted(f"{n + 1} words." for n in range(len(texts)))


async def _is_up(owner: httpx.AsyncClient) -> bool:
    try:
        return (await owner.get("/api/health")).is_success
    except httpx.TransportError:
        return False


async def _answers(owner: httpx.AsyncClient, space: str, count: int) -> bool:
    page: Any = (await owner.get(f"/api/spaces/{space}/messages", params={"limit": 200})).json()
    return len([each for each in page["messages"] if each["sender"]["name"] == "Counter"]) >= count
