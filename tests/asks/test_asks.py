"""D5: a program asks a space, members answer, and the program reads the answers later."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from majlis import clock
from majlis.asks.ask import MAX_OPEN
from majlis.asks.close import expire_asks
from majlis.settings import Settings
from tests.api.test_bad_input import assert_error
from tests.asks.asking import DECISION, asked, give, message_of, read
from tests.conditions import until
from tests.world import Person, World, serve_world

FORM = {
    "type": "object",
    "properties": {"version": {"type": "string", "pattern": "^[0-9.]+$"}, "hosts": {"type": "integer", "minimum": 1}},
    "required": ["version"],
    "additionalProperties": False,
}


@pytest.fixture
async def ci(world: World) -> Person:
    return await world.person("CI", "service")


async def test_d5_a_program_asks_and_reads_the_answer(world: World, ci: Person) -> None:
    """The message shows the question with its card; the answer completes both."""
    sara = await world.person("Sara")
    space = await world.owner.create_space("Releases", ci, sara)
    async with sara.follow(space) as stream:
        ask = await asked(ci, space, within="2 hours")
        told = (await stream.until("space.message")).data["message"]
        opened = (await stream.until("wait.updated")).data
        assert (ask["status"], ask["answers"], ask["need"], ask["from"]) == ("open", [], 1, [])
        assert clock.parse_iso(ask["expiresAt"]) - clock.parse_iso(ask["createdAt"]) == 2 * 3_600_000
        assert (told["id"], told["text"], told["sender"]["name"], told["kind"]) == (
            ask["messageId"],
            "Ship it?",
            "CI",
            "tool",
        )
        tool = told["tool"]
        assert (tool["ui"], tool["status"], tool["purpose"], tool["ask"]["id"]) == (
            "choice",
            "running",
            "answer",
            ask["id"],
        )
        assert (opened["id"], opened["open"], opened["answered"]) == (ask["id"], True, [])
        response = await give(sara, ask, "yes")
        assert response.status_code == 200, response.text
        closed = (await stream.until("wait.updated")).data
        assert (closed["open"], [each["entityId"] for each in closed["answered"]]) == (False, [sara.id])
    found = await read(ci, ask)
    assert found == response.json()
    [answer] = found["answers"]
    assert (found["status"], answer["entityId"], answer["result"], answer["late"]) == (
        "answered",
        sara.id,
        {"choice": "yes"},
        False,
    )
    shown = (await message_of(sara, ask))["tool"]
    assert (shown["status"], shown["output"], shown["answeredBy"]["name"]) == ("complete", {"choice": "yes"}, "Sara")


@pytest.mark.parametrize(
    ("body", "wrong", "right", "kept"),
    [
        ({"kind": "text", "question": "Why?"}, [{"text": ""}, 7, {"said": "x"}], "So.", {"text": "So."}),
        ({"kind": "approval", "question": "Ship?"}, ["yes", {}], True, {"approved": True}),
        (DECISION, ["maybe", {"choice": "Yes"}], {"choice": "no"}, {"choice": "no"}),
        (
            {"kind": "form", "question": "Which?", "schema": FORM},
            [{}, {"version": "x"}, {"version": "1", "more": 1}, [], None],
            {"version": "1.4", "hosts": 2},
            {"version": "1.4", "hosts": 2},
        ),
    ],
    ids=["text", "approval", "choice", "form"],
)
async def test_d5_answers_match_the_schema(
    world: World, ci: Person, body: dict[str, Any], wrong: list[Any], right: Any, kept: Any
) -> None:
    space = await world.owner.create_space("Releases", ci)
    ask = await ci.ok("POST", "/api/asks", {"spaceId": space, **body})
    for each in wrong:
        assert_error(await give(world.owner, ask, each), 422, "invalid_result")
    assert (await read(ci, ask))["status"] == "open"
    assert (await give(world.owner, ask, right)).status_code == 200
    found = await read(ci, ask)
    assert (found["status"], [each["result"] for each in found["answers"]]) == ("answered", [kept])


async def test_d5_a_senseless_wait_is_refused_and_posts_nothing(world: World, ci: Person) -> None:
    sara = await world.person("Sara")
    viewer = await world.person("Vera")
    space = await world.owner.create_space("Releases", ci, sara)
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": viewer.id, "role": "viewer"})
    stranger = await world.person("Bob")
    wrong: list[tuple[dict[str, Any], int, str]] = [
        ({"kind": "riddle"}, 422, "invalid_request"),
        ({"question": " "}, 422, "empty_text"),
        ({"options": []}, 422, "invalid_ask"),
        ({"options": ["yes", "YES"]}, 422, "invalid_ask"),
        ({"kind": "text"}, 422, "invalid_ask"),
        ({"schema": FORM}, 422, "invalid_ask"),
        ({"kind": "form", "options": None}, 422, "invalid_ask"),
        ({"kind": "form", "options": None, "schema": {"type": "string"}}, 422, "invalid_schema"),
        (
            {
                "kind": "form",
                "options": None,
                "schema": {"type": "object", "properties": {"pin": {"type": "string", "writeOnly": True}}},
            },
            422,
            "invalid_schema",
        ),
        ({"from": ["Bob"]}, 422, "invalid_wait"),
        ({"from": ["Vera"]}, 422, "invalid_wait"),
        ({"from": ["CI"]}, 422, "invalid_wait"),
        ({"from": [stranger.id]}, 422, "invalid_wait"),
        ({"need": "all"}, 422, "invalid_wait"),
        ({"need": 3, "from": ["Sara", "Owner"]}, 422, "invalid_wait"),
        ({"need": 3}, 422, "invalid_wait"),
        ({"within": "8 days"}, 422, "invalid_wait"),
        ({"within": "soon"}, 422, "invalid_wait"),
        ({"spaceId": "spc_0000000000000000"}, 404, "unknown_space"),
    ]
    for more, status, code in wrong:
        response = await ci.post("/api/asks", {"spaceId": space, **DECISION, **more})
        assert_error(response, status, code)
    assert_error(await viewer.post("/api/asks", {"spaceId": space, **DECISION}), 403, "viewer")
    assert_error(await stranger.post("/api/asks", {"spaceId": space, **DECISION}), 404, "unknown_space")
    assert (await world.owner.history(space))["total"] == 0
    assert (await world.owner.ok("GET", "/api/waits"))["waits"] == []


async def test_d5_only_members_who_are_asked_may_answer(world: World, ci: Person) -> None:
    sara, vera, bob = [await world.person(name) for name in ("Sara", "Vera", "Bob")]
    space = await world.owner.create_space("Releases", ci, sara)
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": vera.id, "role": "viewer"})
    ask = await asked(ci, space, **{"from": ["@sara"]})
    assert (ask["from"], ask["fromNames"]) == ([sara.id], ["Sara"])
    assert_error(await give(world.owner, ask, "yes"), 403, "not_asked")
    assert_error(await give(vera, ask, "yes"), 403, "viewer")
    assert_error(await give(bob, ask, "yes"), 404, "unknown_ask")
    assert_error(await bob.get(f"/api/asks/{ask['id']}"), 404, "unknown_ask")
    assert_error(await give(ci, ask, "yes"), 403, "own_question")
    assert (await read(vera, ask))["status"] == "open"
    assert (await give(sara, ask, "yes")).status_code == 200
    assert_error(await give(sara, ask, "no"), 409, "answered_already")


async def test_d5_several_answers_complete_it_and_later_ones_are_marked(world: World, ci: Person) -> None:
    people = [await world.person(name) for name in ("Sara", "Bob", "Cleo")]
    sara, bob, cleo = people
    space = await world.owner.create_space("Releases", ci, *people)
    ask = await asked(ci, space, need=2)
    await give(sara, ask, "yes")
    assert_error(await give(sara, ask, "no"), 409, "answered_already")
    found = await read(ci, ask)
    assert (found["status"], len(found["answers"])) == ("open", 1)
    tool = (await message_of(sara, ask))["tool"]
    assert (tool["status"], [each["by"]["name"] for each in tool["ask"]["answers"]]) == ("running", ["Sara"])
    await give(bob, ask, "no")
    assert (await give(cleo, ask, "yes")).status_code == 200
    found = await read(ci, ask)
    assert [(each["name"], each["result"]["choice"], each["late"]) for each in found["answers"]] == [
        ("Sara", "yes", False),
        ("Bob", "no", False),
        ("Cleo", "yes", True),
    ]
    assert found["status"] == "answered"
    shown = (await message_of(sara, ask))["tool"]
    assert [each["name"] for each in shown["output"]] == ["Sara", "Bob"]


async def test_d5_all_of_the_named_members(world: World, ci: Person) -> None:
    sara, bob = [await world.person(name) for name in ("Sara", "Bob")]
    space = await world.owner.create_space("Releases", ci, sara, bob)
    ask = await asked(ci, space, need="all", **{"from": ["Sara", bob.id]})
    assert ask["need"] == 2
    await give(sara, ask, "yes")
    assert (await read(ci, ask))["status"] == "open"
    await give(bob, ask, "no")
    assert (await read(ci, ask))["status"] == "answered"


async def test_d5_w9_a_member_who_leaves_is_struck(world: World, ci: Person) -> None:
    """The ask completes without it, or ends when too few are left. An answer given before counts."""
    sara, bob = [await world.person(name) for name in ("Sara", "Bob")]
    space = await world.owner.create_space("Releases", ci, sara, bob)
    both = await asked(ci, space, need="all", **{"from": ["Sara", "Bob"]})
    two = await asked(ci, space, need=2, **{"from": ["Sara", "Bob"]})
    only = await asked(ci, space, **{"from": ["Bob"]})
    for each in (both, two):
        await give(sara, each, "yes")
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{bob.id}")
    found = [await read(ci, each) for each in (both, two, only)]
    assert [(each["status"], each["reason"]) for each in found] == [
        ("answered", None),
        ("expired", "left"),
        ("expired", "left"),
    ]
    assert_error(await give(bob, only, "yes"), 404, "unknown_ask")
    later = await asked(ci, space, need="all", **{"from": ["Sara"]})
    await world.owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": sara.id, "role": "viewer"})
    assert (await read(ci, later))["reason"] == "left"


async def test_d5_the_asks_of_a_removed_program_end(world: World, ci: Person) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Releases", ci, sara)
    ask = await asked(ci, space)
    await world.owner.ok("DELETE", f"/api/spaces/{space}/members/{ci.id}")
    assert_error(await ci.get(f"/api/asks/{ask['id']}"), 404, "unknown_ask")
    assert ((await read(sara, ask))["status"], (await read(sara, ask))["reason"]) == ("expired", "withdrawn")
    assert_error(await give(sara, ask, "yes"), 409, "withdrawn")


async def test_d5_it_expires_once_on_any_number_of_nodes(settings: Settings) -> None:
    """Also if the server was down at the deadline; an answer after it is kept as late."""
    async with serve_world(settings) as world:
        ci, sara = await world.person("CI", "service"), await world.person("Sara")
        space = await world.owner.create_space("Releases", ci, sara)
        ask = await asked(ci, space, within="1 hour")
        tokens = ci.token, sara.token
    clock.advance(3_600_000)
    async with serve_world(settings) as world:
        ci, sara = [await world.anybody(token) for token in tokens]
        assert (await read(ci, ask))["status"] == "expired"
        db = world.gateway.db
        await asyncio.gather(*(db.write(expire_asks) for _ in range(4)))

        async def card() -> Any:
            return (await message_of(sara, ask))["tool"]

        assert ((await card())["status"], (await card())["output"]) == ("error", {"status": "timeout"})
        assert (await message_of(sara, ask))["revision"] == 1
        assert (await give(sara, ask, "yes")).status_code == 200
        found = await read(ci, ask)
        assert (found["status"], found["reason"], [each["late"] for each in found["answers"]]) == (
            "expired",
            "timeout",
            [True],
        )
        assert (await message_of(sara, ask))["revision"] == 1


async def test_d5_the_worker_ends_it_at_its_deadline(world: World, ci: Person) -> None:
    space = await world.owner.create_space("Releases", ci)
    ask = await asked(ci, space, within="1 minute")
    clock.advance(61_000)

    async def over() -> bool:
        return bool((await message_of(ci, ask))["tool"]["status"] == "error")

    await until(over)


async def test_d5_a_repeated_request_returns_the_first_ask(world: World, ci: Person) -> None:
    space = await world.owner.create_space("Releases", ci)
    body = {"spaceId": space, **DECISION, "clientId": "build-7"}
    answers = await asyncio.gather(*(ci.post("/api/asks", body) for _ in range(5)))
    assert sorted(each.status_code for each in answers) == [200] * 4 + [201]
    assert len({each.json()["id"] for each in answers}) == 1
    headers = {"Idempotency-Key": "build-7"}
    again = await ci.http.post("/api/asks", json={"spaceId": space, **DECISION, "need": 3}, headers=headers)
    assert (again.status_code, again.json()["id"]) == (200, answers[0].json()["id"])
    assert (await world.owner.history(space))["total"] == 1
    # An answer to one question is not an answer to another one.
    for other in ({"question": "Delete it?"}, {"options": ["no", "yes"]}, {"kind": "text", "options": None}):
        assert_error(await ci.post("/api/asks", {**body, **other}), 409, "client_id_used")
    await ci.say(space, "x", clientId="taken")
    assert_error(await ci.post("/api/asks", {**body, "clientId": "taken"}), 409, "client_id_used")


async def test_d5_waiting_for_the_end(world: World, ci: Person) -> None:
    """The request returns as soon as the ask has ended, and at the latest after `waitSeconds`."""
    space = await world.owner.create_space("Releases", ci)
    ask = await asked(ci, space)
    assert (await read(ci, ask, waitSeconds=0.01))["status"] == "open"
    waiting = asyncio.create_task(read(ci, ask, waitSeconds=30))
    await until(lambda: bool(world.gateway.ask_polls._woken))
    await give(world.owner, ask, "yes")
    assert (await waiting)["status"] == "answered"
    assert (await read(ci, ask, waitSeconds=30))["status"] == "answered"
    assert_error(await ci.get(f"/api/asks/{ask['id']}", waitSeconds=31), 422, "invalid_request")


async def test_d5_w10_asks_are_listed_as_waits(world: World, ci: Person) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Releases", ci, sara)
    ask = await asked(ci, space, need="all", **{"from": ["Sara", "Owner"]})
    [wait] = (await sara.ok("GET", "/api/waits", **{"for": "me"}))["waits"]
    assert (wait["id"], wait["kind"], wait["askerName"], wait["question"], wait["need"]) == (
        ask["id"],
        "ask",
        "CI",
        "Ship it?",
        2,
    )
    assert (wait["from"], wait["fromNames"], wait["answered"]) == ([sara.id, world.owner.id], ["Sara", "Owner"], [])
    await give(sara, ask, "yes")
    assert (await sara.ok("GET", "/api/waits", **{"for": "me"}))["waits"] == []
    [wait] = (await sara.ok("GET", "/api/waits", spaceId=space))["waits"]
    assert wait["answered"] == [{"entityId": sara.id, "messageId": None}]
    assert (await ci.ok("GET", "/api/waits", **{"for": "me"}))["waits"] == []
    assert len((await world.owner.ok("GET", "/api/waits", **{"for": "me"}))["waits"]) == 1
    await give(world.owner, ask, "yes")
    assert (await sara.ok("GET", "/api/waits"))["waits"] == []


async def test_d5_g5_the_asker_may_not_approve_its_own_ask(world: World, ci: Person) -> None:
    """Unless it administers the gateway. Only people approve, with a token that may."""
    sara, bob = [await world.person(name) for name in ("Sara", "Bob")]
    space = await world.owner.create_space("Releases", ci, sara, bob)
    question = {"kind": "approval", "question": "Ship it?", "options": None}
    ask = await asked(sara, space, **question)
    assert_error(await give(sara, ask, True), 403, "own_question")
    assert_error(await give(ci, ask, True), 403, "people_only")
    writer = await world.with_token(bob.id, "Bob", scopes=["read", "write"])
    assert_error(await give(writer, ask, True), 403, "missing_scope")
    approver = await world.with_token(bob.id, "Bob", scopes=["read", "approve"])
    assert_error(await give(approver, await asked(ci, space), "yes"), 403, "missing_scope")
    assert (await give(approver, ask, {"approved": True, "comment": "Go"})).status_code == 200
    own = await asked(world.owner, space, **question)
    assert (await give(world.owner, own, True)).status_code == 200
    assert_error(
        await ci.post("/api/asks", {"spaceId": space, **question, "need": 4, "options": None}), 422, "invalid_wait"
    )
    alone = await sara.create_space("Alone", ci)
    assert_error(await sara.post("/api/asks", {"spaceId": alone, **question}), 422, "invalid_wait")
    # Her own answer to a question that her program asked counts.
    assert (await give(sara, await asked(sara, alone), "yes")).status_code == 200
    entries = (await world.owner.ok("GET", "/api/audit", action="ask.answered"))["entries"]
    assert [each["actor"]["name"] if isinstance(each["actor"], dict) else each["actor"] for each in entries]


async def test_d5_a_reply_answers_a_text_or_a_choice(world: World, ci: Person) -> None:
    sara, bob = [await world.person(name) for name in ("Sara", "Bob")]
    space = await world.owner.create_space("Releases", ci, sara, bob)
    text = await asked(ci, space, kind="text", question="Why?", options=None)
    choice = await asked(ci, space)
    approval = await asked(ci, space, kind="approval", options=None)
    await sara.say(space, "not a reply")
    await sara.say(space, "perhaps", replyTo=choice["messageId"])
    await sara.say(space, "yes", replyTo=approval["messageId"])
    assert [(await read(ci, each))["status"] for each in (text, choice, approval)] == ["open"] * 3
    why = await sara.say(space, "Because.", replyTo=text["messageId"])
    chosen = await sara.say(space, " YES. ", replyTo=choice["messageId"])
    late = await bob.say(space, "no", replyTo=choice["messageId"])
    found = await read(ci, text)
    assert (found["status"], found["answers"][0]["result"], found["answers"][0]["messageId"]) == (
        "answered",
        {"text": "Because."},
        why["id"],
    )
    found = await read(ci, choice)
    assert [(each["result"]["choice"], each["messageId"], each["late"]) for each in found["answers"]] == [
        ("yes", chosen["id"], False),
        ("no", late["id"], True),
    ]
    # CI's own reply is not an answer.
    own = await asked(ci, space, kind="text", question="Hm?", options=None)
    await ci.say(space, "Hm.", replyTo=own["messageId"])
    assert (await read(ci, own))["answers"] == []


async def test_d5_a_program_cannot_flood_a_space(world: World, ci: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_OPEN >= 100
    monkeypatch.setattr("majlis.asks.ask.MAX_OPEN", 2)
    space = await world.owner.create_space("Releases", ci)
    first = await asked(ci, space)
    await asked(ci, space)
    assert_error(await ci.post("/api/asks", {"spaceId": space, **DECISION}), 409, "too_many_asks")
    await give(world.owner, first, "yes")
    await asked(ci, space)


async def test_d5_a_deleted_space_takes_its_asks_along(world: World, ci: Person) -> None:
    space = await world.owner.create_space("Releases", ci)
    ask = await asked(ci, space, within="1 minute")
    await world.owner.ok("DELETE", f"/api/spaces/{space}")
    assert_error(await ci.get(f"/api/asks/{ask['id']}"), 404, "unknown_ask")
    clock.advance(61_000)
    await world.gateway.db.write(expire_asks)
    assert (await ci.ok("GET", "/api/waits"))["waits"] == []
