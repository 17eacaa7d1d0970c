"""The gateway is killed while programs use its doors. They try again, nothing is lost, and nothing is done twice."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any

import httpx
from openai import APIConnectionError, AsyncOpenAI

from tests.acceptance.processes import OWNER_TOKEN
from tests.acceptance.workers import WorkerProcess, Workers
from tests.asks.asking import DECISION
from tests.conditions import until
from tests.model_server import Asked, ModelServer, Reply, silent
from tests.webhooks.receiver import open_receiver
from tests.world import Person

COUNT = 12


async def restarted(workers: Workers, killed: WorkerProcess) -> Person:
    killed.kill()
    await killed.until_gone()
    return await (await workers.start()).owner()


async def said(owner: Person, space: str) -> list[str]:
    return [message["text"] for message in (await owner.history(space, limit=200))["messages"]]


async def test_d3_a_chat_completion_that_is_tried_again_after_a_kill_is_one_question_with_one_answer(
    workers: Workers, model: ModelServer
) -> None:
    thinking, gate = asyncio.Event(), asyncio.Event()

    def answer(asked: Asked) -> Reply:
        thinking.set()
        return silent() if asked.step else Reply([("send_message", {"text": "It is ready."})], gate=gate)

    model.script = answer
    worker = await workers.start()
    owner = await worker.owner()
    await owner.ok("POST", "/api/agents", {"name": "Helper", "config": {"model": model.model}})
    asking = asyncio.create_task(complete(owner))
    await until(thinking.is_set)
    owner = await restarted(workers, worker)
    with suppress(APIConnectionError):
        await asking
    gate.set()
    assert await complete(owner) == "It is ready."
    assert await complete(owner) == "It is ready."
    [space] = await owner.ok("GET", "/api/spaces")
    assert await said(owner, space["id"]) == ["Is it ready?", "It is ready."]


async def complete(person: Person) -> str:
    async with AsyncOpenAI(base_url=f"{person.base_url}/v1", api_key=OWNER_TOKEN, max_retries=0, timeout=60) as client:
        made = await client.chat.completions.create(
            model="agent:Helper",
            messages=[{"role": "user", "content": "Is it ready?"}],
            extra_headers={"Idempotency-Key": "release-42"},
        )
    return str(made.choices[0].message.content)


async def test_d4_events_that_other_programs_send_again_after_a_kill_are_posted_once(workers: Workers) -> None:
    worker = await workers.start()
    owner = await worker.owner()
    space = await owner.create_space("Builds")
    body = {"name": "CI", "spaceId": space, "verify": {"scheme": "none"}, "template": "Build {{payload.n}}"}
    address = httpx.URL((await owner.ok("POST", "/api/incoming-webhooks", body))["url"]).path
    enough = random.randint(1, COUNT // 2)
    accepted: list[int] = []
    sending = asyncio.create_task(send_all(owner, address, accepted))
    await until(lambda: len(accepted) >= enough)
    owner = await restarted(workers, worker)
    await sending
    again: list[int] = []
    await send_all(owner, address, again)
    assert sorted(again) == list(range(COUNT))
    assert sorted(await said(owner, space)) == sorted(f"Build {n}" for n in range(COUNT))


async def send_all(owner: Person, address: str, accepted: list[int]) -> None:
    async def send(http: httpx.AsyncClient, n: int) -> None:
        with suppress(httpx.TransportError):
            sent = await http.post(address, json={"n": n}, headers={"Idempotency-Key": f"build-{n}"})
            assert sent.is_success
            accepted.append(n)

    async with httpx.AsyncClient(base_url=owner.base_url, timeout=60) as http:
        await asyncio.gather(*(send(http, n) for n in range(COUNT)))


async def test_d4_events_for_other_programs_are_sent_after_a_kill_with_the_same_ids(workers: Workers) -> None:
    async with open_receiver() as receiver:
        workers.more = {"tool_private_hosts": [receiver.host]}
        worker = await workers.start()
        owner = await worker.owner()
        space = await owner.create_space("Builds")
        body = {"url": receiver.url, "spaceId": space, "events": ["space.message"]}
        hook = await owner.ok("POST", "/api/outgoing-webhooks", body)
        texts = [f"Build {n}" for n in range(COUNT)]
        for text in texts:
            await owner.say(space, text)
        owner = await restarted(workers, worker)
        # One that the killed gateway had begun to send is sent again when its lease of a minute has ended.
        await until(lambda: {each.text for each in receiver.got} == set(texts), patience=150)
        log = await owner.ok("GET", f"/api/outgoing-webhooks/{hook['id']}/deliveries")
        for each in receiver.got:
            each.verify(hook["secret"])
        # A receiver that drops ids it has seen does nothing twice.
        assert {each.id for each in receiver.got} == {entry["id"] for entry in log}
        assert len(log) == COUNT


async def test_d2_events_that_are_sent_to_an_outside_agent_are_answered_once_after_a_kill(workers: Workers) -> None:
    async with open_receiver() as receiver:
        workers.more = {"tool_private_hosts": [receiver.host]}
        worker = await workers.start()
        owner = await worker.owner()
        made = await owner.ok("POST", "/api/agents", {"name": "Echo", "config": {"mind": "outside"}})
        token = (await owner.ok("POST", f"/api/entities/{made['id']}/tokens", {}))["token"]
        space = await owner.create_space("Words")
        await owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": made["id"]})
        await owner.ok("POST", "/api/outgoing-webhooks", {"url": receiver.url, "agentId": made["id"]})
        texts = [f"word {n}" for n in range(COUNT)]
        for text in texts:
            await owner.say(space, text)
        # The program holds some events, others are on their way or wait.
        await receiver.until_got(1)
        owner = await restarted(workers, worker)
        answered = 0

        async def all_are_answered() -> bool:
            nonlocal answered
            for received in receiver.got[answered:]:
                await answer_event(owner, token, space, received.event["data"])
                answered += 1
            return len(await said(owner, space)) == 2 * COUNT

        await until(all_are_answered, patience=150)
        assert sorted(await said(owner, space)) == sorted([*texts, *(text.upper() for text in texts)])


async def answer_event(owner: Person, token: str, space: str, event: Any) -> None:
    """Does nothing if the lease has ended: then the event comes again."""
    held = {"id": event["id"], "lease": event["lease"]}
    body = {"text": event["trigger"]["text"].upper(), "clientId": event["id"], "inbox": held}
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=owner.base_url, headers=headers, timeout=60) as http:
        sent = await http.post(f"/api/spaces/{space}/messages", json=body)
        assert sent.is_success or sent.status_code == 409, sent.text
        if sent.is_success:
            settled = await http.post(
                f"/api/inbox/{event['id']}/settle", json={"lease": event["lease"], "state": "done"}
            )
            assert settled.is_success or settled.status_code == 409, settled.text


async def test_d5_a_question_that_is_asked_again_after_a_kill_is_one_question_with_one_answer(workers: Workers) -> None:
    worker = await workers.start()
    owner = await worker.owner()
    space = await owner.create_space("Releases")
    question = {"spaceId": space, **DECISION, "clientId": "ship-42"}
    asked = await owner.ok("POST", "/api/asks", question)
    waiting = asyncio.create_task(owner.get(f"/api/asks/{asked['id']}", waitSeconds=30))
    again = asyncio.create_task(owner.post("/api/asks", question))
    owner = await restarted(workers, worker)
    await asyncio.gather(waiting, again, return_exceptions=True)
    assert (await owner.ok("POST", "/api/asks", question))["id"] == asked["id"]
    waiting = asyncio.create_task(owner.get(f"/api/asks/{asked['id']}", waitSeconds=30))
    for _ in range(2):
        await owner.post(f"/api/asks/{asked['id']}/answers", {"result": "yes"})
    ended: Any = (await waiting).json()
    assert (ended["status"], [each["result"] for each in ended["answers"]]) == ("answered", [{"choice": "yes"}])
    assert len([text for text in await said(owner, space) if "Ship it?" in text]) == 1
