"""Any command-line program as an outside agent: it gets the timeline on its standard input and prints the answer.

No output means that it has nothing to say. An exit code other than 0 means that it has failed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE

from majlis.client import MajlisClient
from majlis.client.shapes import TakenEventJson
from majlis.errors import Conflict, TooMany, Unavailable

RENEW_SECONDS = 20


async def handle(client: MajlisClient, event: TakenEventJson, command: list[str]) -> None:
    space_id = event["trigger"].get("spaceId")
    if space_id is None:
        await client.settle_event(event, "passed", "Only messages are answered.")
        return
    output, code = await run(client, event, command)
    if code != 0:
        await client.settle_event(event, "failed", f"{command[0]} ended with the exit code {code}.")
    elif not output:
        await client.settle_event(event, "passed")
    else:
        await client.send_for_event(event, space_id, output, client_id=event["id"])
        await client.settle_event(event, "done")


async def run(client: MajlisClient, event: TakenEventJson, command: list[str]) -> tuple[str, int | None]:
    """Renews the lease while the program works. If the lease is lost, the program is stopped."""
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    working = asyncio.create_task(process.communicate(event.get("context", "").encode()))
    try:
        while not (await asyncio.wait({working}, timeout=RENEW_SECONDS))[0]:
            await client.renew_event(event)
        output, _ = await working
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode(errors="replace").strip(), process.returncode


async def main(command: list[str]) -> None:
    async with MajlisClient(os.environ["MAJLIS_URL"], os.environ["MAJLIS_TOKEN"]) as client:
        while True:
            try:
                for event in (await client.take_events(wait_seconds=20))["events"]:
                    await handle(client, event, command)
            except Conflict:
                continue
            except (Unavailable, TooMany):
                await asyncio.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Usage: python -m examples.outside.command PROGRAM [ARGUMENT ...]")
    asyncio.run(main(sys.argv[1:]))
