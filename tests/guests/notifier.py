"""D4: Apprise, a program for notifications, posts through an incoming webhook."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.conditions import until
from tests.gateway_process import open_gateway
from tests.guests.install import program

COUNT = 6


async def test_d4_notifications_that_are_sent_again_after_a_kill_are_posted_once(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as gateway:
        space = await gateway.owner.create_space("Builds")
        hook = await gateway.owner.ok(
            "POST",
            "/api/incoming-webhooks",
            {
                "name": "Apprise",
                "spaceId": space,
                "verify": {"scheme": "none"},
                "template": "{{payload.title}}: {{payload.message}}",
            },
        )
        address = hook["url"].replace("http://", "json://")

        async def notify(n: int) -> bool:
            body = ("--title", f"Build {n}", "--body", "passed", f"{address}?+Idempotency-Key=build-{n}")
            process = await asyncio.create_subprocess_exec(program("apprise"), *body, env={"HOME": str(tmp_path)})
            return await process.wait() == 0

        async def some_are_posted() -> bool:
            return bool(await gateway.said(space))

        sending = asyncio.gather(*map(notify, range(COUNT)))
        await until(some_are_posted)
        await gateway.kill()
        await sending
        await gateway.start()
        assert all(await asyncio.gather(*map(notify, range(COUNT))))
        assert sorted(await gateway.said(space)) == [("Apprise", f"Build {n}: passed") for n in range(COUNT)]
