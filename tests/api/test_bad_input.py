"""Bad input gets the error shape with a stable code, and changes nothing."""

from __future__ import annotations

import json
from typing import Any

import httpx
import sqlalchemy as sa

from majlis.store.tables import metadata
from majlis.store.transactions import Tx
from tests.world import World

UNKNOWN = "0000000000000000"


def assert_error(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message", "details"}
    assert body["error"]["code"] == code, body
    assert body["error"]["message"]
    details: dict[str, Any] = body["error"]["details"]
    return details


def everything(tx: Tx) -> dict[str, list[tuple[Any, ...]]]:
    return {table.name: sorted(map(tuple, tx.all(sa.select(table))), key=repr) for table in metadata.sorted_tables}


MESSAGES = [
    (b'{"text": "hel', 400, "malformed_json"),
    (b"\xff\xfe", 400, "malformed_json"),
    (b"[" * 100_000, 400, "malformed_json"),
    (b"", 422, "invalid_request"),
    (b"[]", 422, "invalid_request"),
    (b'"text"', 422, "invalid_request"),
    (b"null", 422, "invalid_request"),
    (b"{}", 422, "invalid_request"),
    (b'{"text": 5}', 422, "invalid_request"),
    (b'{"text": null}', 422, "invalid_request"),
    (b'{"text": ""}', 422, "empty_text"),
    (b'{"text": "  \\n "}', 422, "empty_text"),
    (b'{"text": "a\\u0000b"}', 422, "control_characters"),
    (b'{"text": "a\\ud800b"}', 422, "invalid_request"),
    (b'{"text": "x", "sender": "ent_1"}', 422, "invalid_request"),
    (b'{"text": "x", "senderId": "ent_1"}', 422, "invalid_request"),
    (b'{"text": "x", "client_id": "c"}', 422, "invalid_request"),
    (b'{"text": "x", "clientId": ""}', 422, "invalid_request"),
    (b'{"text": "x", "clientId": "' + b"c" * 129 + b'"}', 422, "invalid_request"),
    (b'{"text": "x", "clientId": "a\\u0000"}', 422, "invalid_request"),
    (b'{"text": "x", "replyTo": "nonsense"}', 422, "invalid_request"),
    (b'{"text": "x", "replyTo": "msg_' + UNKNOWN.encode() + b'"}', 422, "unknown_reply_to"),
    (b'{"text": "x", "mentions": "ent_1"}', 422, "invalid_request"),
    (b'{"text": "x", "mentions": ["ent_' + UNKNOWN.encode() + b'"]}', 422, "unknown_mention"),
    (b'{"text": "x", "seq": 7}', 422, "invalid_request"),
    (b'{"text": "x", "chainDepth": 0}', 422, "invalid_request"),
    (json.dumps({"text": "x" * 65_537}).encode(), 422, "text_too_long"),
    (json.dumps({"text": "x" * 1_100_000}).encode(), 413, "body_too_large"),
]


async def test_a_bad_message_is_refused_and_changes_nothing(world: World) -> None:
    space = await world.owner.create_space()
    before = await world.gateway.db.read(everything)
    for body, status, code in MESSAGES:
        headers = {"content-type": "application/json"}
        answer = await world.owner.http.post(f"/api/spaces/{space}/messages", content=body, headers=headers)
        assert_error(answer, status, code)
    assert await world.gateway.db.read(everything) == before


async def test_a_chunked_body_that_never_says_its_size_is_limited_too(world: World) -> None:
    space = await world.owner.create_space()

    async def endless() -> Any:
        for _ in range(40):
            yield b"x" * 65_536

    headers = {"content-type": "application/json"}
    path = f"/api/spaces/{space}/messages"
    assert_error(await world.owner.http.post(path, content=endless(), headers=headers), 413, "body_too_large")

    async def small() -> Any:
        yield b'{"text": '
        yield b'"in two parts"}'

    answer = await world.owner.http.post(path, content=small(), headers=headers)
    assert answer.status_code == 201


OTHERS: list[tuple[str, str, Any, int, str]] = [
    ("POST", "/api/spaces", {"name": ""}, 422, "invalid_request"),
    ("POST", "/api/spaces", {"name": 'He said "hi"'}, 422, "invalid_name"),
    ("POST", "/api/spaces", {"name": "x" * 65}, 422, "invalid_name"),
    ("POST", "/api/spaces", {"name": "x", "triggers": "nobody"}, 422, "invalid_request"),
    ("POST", "/api/spaces", {"name": "x", "triggers": "orchestrated"}, 422, "orchestrator_missing"),
    ("POST", "/api/spaces", {"name": "x", "description": "a\x00"}, 422, "control_characters"),
    ("POST", "/api/entities", {"type": "agent", "name": "Bot"}, 422, "invalid_request"),
    ("POST", "/api/entities", {"type": "human", "name": "Husam\n[NEW]"}, 422, "invalid_name"),
    ("POST", "/api/entities", {"type": "human", "name": "OWNER"}, 409, "name_taken"),
    ("POST", "/api/entities", {"type": "human", "name": "ｏｗｎｅｒ"}, 409, "name_taken"),
    ("POST", "/api/agents", {"name": "Bot", "config": {"mind": "blank"}}, 422, "invalid_config"),
    ("POST", "/api/agents", {"name": "Bot", "config": {"tools": [{"name": "x"}]}}, 422, "invalid_config"),
    ("POST", "/api/agents", {"name": "Bot", "config": {"apiKey": "sk-1"}}, 422, "invalid_config"),
    ("POST", "/api/agents", {"name": "Bot", "config": []}, 422, "invalid_request"),
    ("GET", f"/api/entities/ent_{UNKNOWN}", None, 404, "unknown_entity"),
    ("GET", "/api/entities/%00", None, 404, "not_found"),
    ("GET", "/api/entities/..%2f..%2fetc", None, 404, "unknown_route"),
    ("DELETE", f"/api/tokens/tok_{UNKNOWN}", None, 404, "unknown_token"),
    ("GET", f"/api/spaces/spc_{UNKNOWN}", None, 404, "unknown_space"),
    ("PATCH", f"/api/spaces/spc_{UNKNOWN}", {"name": "x"}, 404, "unknown_space"),
    ("DELETE", f"/api/spaces/spc_{UNKNOWN}", None, 404, "unknown_space"),
    ("POST", f"/api/spaces/spc_{UNKNOWN}/messages", {"text": "x"}, 404, "unknown_space"),
    ("POST", f"/api/spaces/spc_{UNKNOWN}/read", {"lastMessageId": f"msg_{UNKNOWN}"}, 404, "unknown_space"),
    ("POST", f"/api/spaces/spc_{UNKNOWN}/phase", {"phase": "x"}, 404, "unknown_space"),
    ("GET", f"/api/messages/msg_{UNKNOWN}", None, 404, "unknown_message"),
    ("GET", f"/api/agents/ent_{UNKNOWN}", None, 404, "unknown_agent"),
    ("GET", "/api/search?q=", None, 422, "invalid_request"),
    ("GET", "/api/search?q=%22", None, 422, "empty_query"),
    ("GET", f"/api/search?q=x&spaceId=spc_{UNKNOWN}", None, 404, "unknown_space"),
    ("GET", "/api/nothing/here", None, 404, "unknown_route"),
    ("PUT", "/api/spaces", {}, 405, "method_not_allowed"),
]


async def test_a_bad_request_of_any_kind_is_refused_and_changes_nothing(world: World) -> None:
    before = await world.gateway.db.read(everything)
    for method, path, body, status, code in OTHERS:
        assert_error(await world.owner.http.request(method, path, json=body), status, code)
    assert await world.gateway.db.read(everything) == before


async def test_bad_cursors_and_limits_are_refused(world: World) -> None:
    space, other = await world.owner.create_space("Here"), await world.owner.create_space("There")
    foreign = await world.owner.say(other, "x")
    path = f"/api/spaces/{space}/messages"
    for query, code in (
        ("before=nonsense", "invalid_request"),
        (f"before=msg_{UNKNOWN}", "bad_cursor"),
        (f"after={foreign['id']}", "bad_cursor"),
        (f"before={foreign['id']}&after={foreign['id']}", "bad_cursor"),
        ("limit=0", "invalid_request"),
        ("limit=201", "invalid_request"),
        ("limit=x", "invalid_request"),
    ):
        assert_error(await world.owner.get(f"{path}?{query}"), 422, code)


async def test_an_invalid_config_names_the_path_of_the_offender(world: World) -> None:
    config = {"tools": [{"name": "t", "type": "static", "execution": {"output": 1}, "inputSchema": {"type": 7}}]}
    answer = await world.owner.post("/api/agents", {"name": "Bot", "config": config})
    details = assert_error(answer, 422, "invalid_config")
    assert details["errors"][0]["path"].startswith("tools.0.inputSchema")
