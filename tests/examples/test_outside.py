"""D2: the outside agents of `examples/outside` run as processes of their own, also while the gateway is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from majlis.settings import Settings
from tests.conditions import until
from tests.gateway_process import LEASE_PATIENCE_SECONDS, ROOT, open_gateway, running
from tests.outside.program import outside
from tests.runs.house import House, open_house

UPPER = "import sys; print(sys.stdin.read().count('TRIGGER'), 'trigger')"


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
    texts = [" ".join(["word"] * (n + 1)) for n in range(12)]
    async with open_gateway(tmp_path) as gateway:
        agent = await gateway.world.agent("Counter", mind="outside")
        space = await gateway.owner.create_space("Words", agent)

        async def answers() -> list[str]:
            return [text for name, text in await gateway.said(space) if name == "Counter"]

        async def enough(count: int) -> bool:
            return len(await answers()) >= count

        async with running("-m", "examples.outside.counter", MAJLIS_URL=gateway.url, MAJLIS_TOKEN=agent.token):
            for text in texts:
                await gateway.owner.say(space, text)
            await until(lambda: enough(2))
            await gateway.kill()
            await gateway.start()
            await until(lambda: enough(len(texts)), LEASE_PATIENCE_SECONDS)
        assert sorted(await answers()) == sorted(f"{n + 1} words." for n in range(len(texts)))
