"""A post takes a shorter way than other requests, and is answered as on FastAPI's way."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import httpx
import orjson
import pytest

from majlis.api.auth import KnownTokens, RateLimit
from majlis.api.routes import messages
from tests.api.test_bad_input import MESSAGES, UNKNOWN
from tests.world import Person, World

BODIES = [
    *(body for body, *_ in MESSAGES if len(body) < 1000),
    b'{"text": "hello"}',
    b'{"text": "caf\\u00e9 \\ud83d\\ude00", "mentions": [], "sessionId": null}',
    b'{"text": "hello", "clientId": "c"}',
    b'{"text": "a", "text": "b"}',
    b'{"text": "x", "wait": true}',
    b'{"text": "x", "files": ["fil_' + UNKNOWN.encode() + b'"]}',
    b'{"text": "x", "inbox": {"id": "dlv_' + UNKNOWN.encode() + b'", "lease": "l"}}',
    b'{"text": NaN}',
    b'{"text": "x", "wait": {"need": 100000000000000000000}}',
    b'\xef\xbb\xbf{"text": "a byte order mark"}',
    '{"text": "UTF-16"}'.encode("utf-16"),
]
PATHS = ["/api/spaces/{}/messages", "/api/spaces/spc_" + UNKNOWN + "/messages", "/api/spaces/nonsense/messages"]


async def send(person: Person, path: str, body: bytes, kind: str) -> tuple[int, Any, set[str]]:
    answer = await person.http.post(path, content=body, headers={"content-type": kind})
    return answer.status_code, _without_ids(answer), set(answer.headers)


def _without_ids(answer: httpx.Response) -> Any:
    """And without what differs from one message to the next."""
    body = orjson.loads(re.sub(r"\b[a-z]{3}_\w{16}\b", "an id", answer.text))
    return {key: value for key, value in body.items() if key not in ("seq", "createdAt")}


@pytest.mark.parametrize("path", PATHS)
async def test_both_ways_give_the_same_answer(world: World, path: str) -> None:
    short, long = [path.format(await world.owner.create_space(f"Space {n}")) for n in range(2)]
    stranger = await world.person("Sara")
    unknown = await world.anybody("mj_unknown")
    for person in (world.owner, stranger, unknown):
        for body in BODIES:
            quick = await send(person, short, body, "application/json")
            plain = await send(person, long, body, "application/vnd.majlis+json")
            assert quick == plain, body


class Inner:
    """What comes after the short way: reads the request, and has seen what it read."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.seen.append(await receive())
        while self.seen[-1].get("more_body"):
            self.seen.append(await receive())


async def run(world: World, inner: Inner, path: str, parts: list[Any], kind: str = "application/json") -> list[Any]:
    """Returns the answer of the short way."""
    given, sent = list(parts), []

    async def receive() -> Any:
        return given.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    limit = RateLimit("caller", per_second=0, burst=0)
    state = SimpleNamespace(gateway=world.gateway, known_tokens=KnownTokens(), caller_limit=limit)
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(b"authorization", f"Bearer {world.owner.token}".encode()), (b"content-type", kind.encode())],
        "app": SimpleNamespace(state=state),
    }
    await messages.QuickPost(inner)(scope, receive, send)
    return sent


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_a_valid_post_takes_the_short_way(world: World) -> None:
    inner, space = Inner(), await world.owner.create_space()
    path = f"/api/spaces/{space}/messages"
    for kind in ("application/json", "application/json; charset=utf-8"):
        start, body = await run(world, inner, path, [part(b'{"text": "hello"}')], kind)
        assert (start["status"], orjson.loads(body["body"])["text"]) == (201, "hello")
    start, body = await run(world, inner, path, [part(b'{"text": " "}')])
    assert (start["status"], orjson.loads(body["body"])["error"]["code"]) == (422, "empty_text")
    assert inner.seen == []


async def test_any_other_request_takes_the_other_way_as_a_whole(world: World) -> None:
    inner, space = Inner(), await world.owner.create_space()
    path = f"/api/spaces/{space}/messages"
    in_pieces = [part(b'{"te', more=True), part(b'xt": "x"}')]
    invalid = [part(b'{"text": 5}')]
    disconnected = [{"type": "http.disconnect"}]
    for parts in (in_pieces, invalid, disconnected):
        inner.seen.clear()
        assert await run(world, inner, path, parts) == []
        assert inner.seen == parts
    valid = [part(b'{"text": "hello"}')]
    for other, kind in ((f"{path}/", "application/json"), (path, "text/plain"), ("/api/spaces", "application/json")):
        inner.seen.clear()
        assert await run(world, inner, other, valid, kind) == []
        assert inner.seen == valid


async def test_an_unexpected_error_is_answered_with_the_id_of_its_request(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*args: Any) -> Any:
        raise ZeroDivisionError

    space = await world.owner.create_space()
    monkeypatch.setattr(messages, "post", fail)
    answer = await world.owner.post(f"/api/spaces/{space}/messages", {"text": "hello"})
    assert answer.status_code == 500
    assert answer.json()["error"]["details"] == {"requestId": answer.headers["x-request-id"]}
