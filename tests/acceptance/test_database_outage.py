"""While the database is away: clients get a clear, retryable error, runs go on afterwards, and nothing spins."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog

from majlis import clock, erase
from majlis.api.app import openapi_document
from majlis.api.error_responses import DATABASE
from majlis.live import hub
from majlis.settings import Settings
from majlis.store.open import open_database
from majlis.store.passing_faults import is_passing
from majlis.store.tables import agents
from majlis.webhooks import send
from tests.conditions import until
from tests.database_proxy import DatabaseProxy
from tests.model_server import Reply, say, sequence, silent
from tests.runs.house import House, open_house

pytestmark = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)

# These do not need the database.
WITHOUT_DATABASE = {"/api/openapi.json", "/api/health/live"}
# An empty body is invalid nearly everywhere; the caller is looked up before that is said.
_PARTS = ("polling the event log", "removing copies of deleted messages", "sending webhooks")
BODIES = {"/api/session": {"code": "not-a-code"}}


@pytest.fixture
async def proxy(database_url: str) -> AsyncIterator[DatabaseProxy]:
    async with DatabaseProxy(database_url) as proxy:
        yield proxy


@pytest.fixture
async def house(settings: Settings, proxy: DatabaseProxy) -> AsyncIterator[House]:
    settings = settings.model_copy(update={"database_url": proxy.url, "requests_per_second": 0})
    async with open_house(settings) as house:
        yield house
        # The gateway closes cleanly only with its database.
        proxy.restore()


def routes() -> list[tuple[str, str]]:
    document = openapi_document()
    return [
        (method.upper(), path)
        for path, methods in sorted(document["paths"].items())
        for method in sorted(methods)
        if path not in WITHOUT_DATABASE
    ]


async def test_every_route_answers_with_a_json_503_that_says_when_to_try_again(
    house: House, proxy: DatabaseProxy
) -> None:
    """Database errors reached clients as plain-text 500: the framework's own middleware answered before ours."""
    space = await house.space("Project Alpha")
    proxy.cut()
    odd: list[Any] = []
    for method, path in routes():
        filled = re.sub(r"{space_id}", space, path)
        filled = re.sub(r"{\w+}", "msg_0000000000000000", filled)
        body = None if method in ("GET", "DELETE") else BODIES.get(path, {})
        answer = await house.owner.http.request(method, filled, json=body, headers={"Origin": house.owner.base_url})
        kind = answer.headers["content-type"]
        if (answer.status_code, kind, "retry-after" in answer.headers) != (503, "application/json", True):
            odd.append((method, path, answer.status_code, kind, answer.text[:100]))
    assert odd == []
    assert (await house.owner.get("/api/health/live")).json() == {"status": "ok"}
    proxy.restore()
    assert (await house.owner.get("/api/health/ready")).json() == {"status": "ok"}
    assert (await house.owner.get("/api/spaces")).status_code == 200


async def test_a_write_that_meets_a_dead_connection_is_tried_again_at_once(house: House, proxy: DatabaseProxy) -> None:
    space = await house.space("Project Alpha")
    for n in range(5):
        proxy.cut()
        proxy.restore()
        assert (await house.owner.say(space, f"message {n}"))["seq"] == n + 1


async def test_t12_an_outage_in_the_middle_of_a_run_costs_no_attempt(house: House, proxy: DatabaseProxy) -> None:
    """It counted as a failed attempt, and after `limits.attempts` the event had failed for good."""
    scout = await house.agent("Scout", limits={"attempts": 1})
    space = await house.space("Project Alpha", scout)
    gate = asyncio.Event()
    slow = Reply(calls=say("Here I am.").calls, gate=gate)
    house.model.script = sequence(slow, say("Here I am."), silent())
    message = await house.owner.say(space, "Scout, are you there?")
    await until(lambda: bool(house.model.asked))
    proxy.cut()
    gate.set()
    await until(lambda: proxy.refused >= 3)
    proxy.restore()
    await until(lambda: len(house.model.asked) >= 3)
    await house.until_idle()
    assert await house.texts(space) == [("Owner", "Scout, are you there?"), ("Scout", "Here I am.")]
    assert await house.deliveries(message) == [("Scout", "done")]
    [run] = await house.runs()
    assert (run["status"], run["attempts"]) == ("completed", 1)


async def test_the_worker_backs_off_while_something_is_due(house: House, proxy: DatabaseProxy) -> None:
    """It tried 556 times a second."""
    worker = house.world.gateway.worker
    assert worker is not None
    scout = await house.agent("Scout")
    due = clock.now() + 2_000
    soon = agents.update().where(agents.c.id == scout.id).values(heartbeat_at=due)
    await house.world.gateway.db.write(lambda tx: tx.execute(soon))
    for _ in range(2):
        # The second poll begins when the first has told the worker of the heartbeat.
        known = worker._next_poll
        worker.poll_soon()
        await until(lambda known=known: worker._next_poll > known)  # type: ignore[misc]
    proxy.cut()
    await until(lambda: clock.now() > due)
    before, began = proxy.refused, time.monotonic()
    worker.poll_soon()
    await until(lambda: proxy.refused >= before + 5)
    # 1 s, 2 s, 4 s … after each failure; each poll may open a few connections.
    assert (proxy.refused - before) / (time.monotonic() - began) < 20


async def test_a_database_that_is_starting_up_is_a_passing_fault(house: House, proxy: DatabaseProxy) -> None:
    space = await house.space("Project Alpha")
    proxy.start_up()
    answer = await house.owner.post(f"/api/spaces/{space}/messages", {"text": "Hello"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert int(answer.headers["retry-after"]) > 0
    db = open_database(proxy.url)
    with pytest.raises(Exception, match="starting up") as caught:
        await db.write(lambda tx: None)
    assert is_passing(caught.value)
    await db.close()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs once a second runs a hundred times."""
    for module, name in ((hub, "_POLL_SECONDS"), (erase, "_EVERY_SECONDS"), (send, "_EVERY_SECONDS")):
        monkeypatch.setattr(module, name, 0.01)
    monkeypatch.setattr(DATABASE, "failures", 0)


async def test_an_outage_is_one_line_when_it_begins_and_one_when_it_ends(
    hurried: None, house: House, proxy: DatabaseProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part logged every try: 6 MB per node in 110 s."""
    space = await house.space("Project Alpha")
    parts = {f"{part} failed; trying again": f"{part} works again" for part in _PARTS}
    async with house.owner.follow(space) as stream:
        await stream.next()
        with structlog.testing.capture_logs() as logs:
            proxy.cut()
            await until(lambda: parts.keys() <= {each["event"] for each in logs})
            tries = proxy.refused
            for _ in range(5):
                assert (await house.owner.get("/api/spaces")).status_code == 503
            await until(lambda: proxy.refused >= tries + 50)
            proxy.restore()
            await until_works(house)
            monkeypatch.setattr(DATABASE, "quiet_seconds", 0.0)
            await until_works(house)
            await until(lambda: set(parts.values()) <= {each["event"] for each in logs})
    # On a slow machine also of parts that run every ten seconds.
    count = Counter(each["event"] for each in logs if each["log_level"] != "debug")
    assert {*parts, *parts.values(), "the database failed; trying again", "the database works again"} <= count.keys()
    assert set(count.values()) == {1}, count
    assert all(each["failures"] > 1 for each in logs if each["event"] == "the database works again")


async def until_works(house: House) -> None:
    async def works() -> bool:
        return bool((await house.owner.get("/api/spaces")).is_success)

    await until(works)
