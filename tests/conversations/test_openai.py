"""Agents and spaces as models, for the official client of OpenAI (D3)."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from majlis.settings import Settings
from tests.conditions import until
from tests.conversations.conftest import Client
from tests.model_server import Asked, ModelServer, Reply, call, calls, say, silent
from tests.runs.house import House, once, says
from tests.world import Person, serve_world


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


async def ask(client: AsyncOpenAI, text: str, model: str = "agent:Helper", **body: Any) -> str:
    made = await client.chat.completions.create(model=model, messages=[user(text)], extra_body=body)
    assert made.choices[0].finish_reason == "stop"
    return str(made.choices[0].message.content)


async def chats(person: Person) -> list[Any]:
    """The person's spaces, oldest first."""
    return sorted(await person.ok("GET", "/api/spaces"), key=lambda space: str(space["id"]))


async def texts(person: Person, space: Any) -> list[tuple[str, str]]:
    page = await person.history(space["id"], limit=200)
    return [(message["sender"]["name"], message["text"]) for message in page["messages"]]


async def test_agents_and_spaces_are_models(house: House, client: Client) -> None:
    """D3: by name and by id, of what the token may see."""
    sara, helper = await house.person("Sara"), await house.agent("Helper")
    await house.agent("Roamer", actsFor="itself")
    lobby, other = await house.space("Team", sara, helper), await house.space("Other")
    own = client(sara)
    listed = [model.id async for model in own.models.list()]
    assert listed == ["agent:Helper", "space:Team"]
    assert (await own.models.retrieve(f"agent:{helper.id}")).owned_by == "majlis"
    assert (await own.models.retrieve(f"space:{lobby}")).object == "model"
    for unknown in ("agent:Nobody", "agent:Roamer", f"space:{other}", "gpt-4o", "agent:"):
        with pytest.raises(openai.NotFoundError) as refused:
            await ask(own, "hello", unknown)
        assert refused.value.code == "model_not_found"
    assert [space["name"] for space in await chats(sara)] == ["Team"]


async def test_an_agent_returns_all_that_its_run_says(house: House, client: Client) -> None:
    """D3: one space per request, usage counted."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    house.model.script = once(say("one"), say("two"))
    made = await client(sara).chat.completions.create(model="agent:helper", messages=[user("count")])
    assert made.choices[0].message.content == "one\n\ntwo"
    assert made.usage is not None
    assert (made.usage.prompt_tokens, made.usage.completion_tokens, made.usage.total_tokens) == (300, 30, 330)
    await ask(client(sara), "again")
    first, second = await chats(sara)
    assert await texts(sara, first) == [("Sara", "count"), ("Helper", "one"), ("Helper", "two")]
    assert [member["name"] for member in second["members"]] == ["Sara", "Helper"]


async def test_silence_is_empty_text(house: House, client: Client) -> None:
    """D3."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    house.model.script = once()
    assert await ask(client(sara), "anything?") == ""


@pytest.mark.parametrize("how", ["conversation", "object", "header", "open-webui", "user"])
async def test_a_conversation_goes_on_in_its_space(house: House, client: Client, how: str) -> None:
    """D3: by `conversation` in the body, a header or `user`."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    house.model.script = lambda asked: silent() if asked.step else say(f"re: {asked.trigger_text}")
    ways: dict[str, dict[str, Any]] = {
        "conversation": {"extra_body": {"conversation": "c1"}},
        "object": {"extra_body": {"conversation": {"id": "c1"}}},
        "header": {"extra_headers": {"X-Conversation-Id": "c1"}},
        "open-webui": {"extra_headers": {"X-OpenWebUI-Chat-Id": "c1"}},
        "user": {"user": "c1"},
    }
    given = ways[how]
    create = client(sara).chat.completions.create
    await create(model="agent:Helper", messages=[user("hi")], **given)
    history = [user("hi"), assistant("re: hi"), user("hi")]
    again = await create(model="agent:Helper", messages=history, **given)
    assert again.choices[0].message.content == "re: hi"
    [space] = await chats(sara)
    assert await texts(sara, space) == [("Sara", "hi"), ("Helper", "re: hi")] * 2


async def test_a_retry_is_recognised_by_conversation_position_and_text(house: House, client: Client) -> None:
    """D3: the last user message is posted once."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    house.model.script = lambda asked: silent() if asked.step else say(f"re: {asked.trigger_text}")
    own = client(sara)
    for text in ("on", "on", "off", "off", "on"):
        assert await ask(own, text, conversation="lamp") == f"re: {text}"
    [space] = await chats(sara)
    assert [text for name, text in await texts(sara, space) if name == "Sara"] == ["on", "off", "on"]
    history: Any = [user("on"), assistant("re: on"), user("yes")]
    for _ in range(2):
        made = await own.chat.completions.create(
            model="agent:Helper", messages=history, extra_body={"conversation": "lamp"}
        )
        assert made.choices[0].message.content == "re: yes"
    keyed = [
        await own.chat.completions.create(
            model="agent:Helper",
            messages=[user("yes")],
            extra_body={"conversation": "lamp"},
            extra_headers={"Idempotency-Key": key},
        )
        for key in ("a", "a", "b")
    ]
    assert len({made.id for made in keyed}) == 2
    # The answer to one question is not the answer to another one.
    with pytest.raises(openai.BadRequestError) as error:
        await own.chat.completions.create(
            model="agent:Helper",
            messages=[user("no")],
            extra_body={"conversation": "lamp"},
            extra_headers={"Idempotency-Key": "a"},
        )
    assert error.value.code == "idempotency_key_used"
    said = [text for name, text in await texts(sara, space) if name == "Sara"]
    assert said == ["on", "off", "on", "yes", "yes", "yes"]


async def test_two_requests_at_once_post_one_message(house: House, client: Client) -> None:
    """D3: the same new conversation from two connections has one space, and its message is posted once."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    house.model.script = says("here")
    answers = await asyncio.gather(*(ask(client(sara), "hi", conversation="c") for _ in range(5)))
    assert answers == ["here"] * 5
    [space] = await chats(sara)
    assert await texts(sara, space) == [("Sara", "hi"), ("Helper", "here")]


async def test_a_question_ends_the_answer_and_the_next_request_answers_it(house: House, client: Client) -> None:
    """D3: in the same run."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    answered = once(say("Blue it is."))
    house.model.script = lambda asked: (
        answered(asked) if "RESUME" in asked.text else once(say("Which one?", wait=True))(asked)
    )
    own = client(sara)
    assert await ask(own, "Paint it", conversation="c") == "Which one?"
    assert await ask(own, "Paint it", conversation="c") == "Which one?"
    assert await ask(own, "Blue", conversation="c") == "Blue it is."
    [run] = (await sara.ok("GET", "/api/runs"))["runs"]
    assert run["status"] == "completed"


async def test_chunks_arrive_while_the_agent_writes(house: House, client: Client) -> None:
    """D3: streaming with the official client, with usage at the end."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    rest = asyncio.Event()
    long = "The answer is long enough for several pieces, and it is written slowly."
    first = Reply(calls=[("send_message", {"text": long})], gate_mid=rest)
    house.model.script = once(first, calls(("send_message", {"text": "a"}), ("send_message", {"text": "b"})))
    stream = await client(sara).chat.completions.create(
        model="agent:Helper", messages=[user("go")], stream=True, stream_options={"include_usage": True}
    )
    parts: list[str] = []
    used = None
    async for chunk in stream:
        used = chunk.usage or used
        parts += [choice.delta.content for choice in chunk.choices if choice.delta.content]
        if parts:
            # Half of the text has arrived, and the model has not finished.
            assert rest.is_set() or (long.startswith("".join(parts)) and len("".join(parts)) < len(long))
            rest.set()
    assert "".join(parts) == f"{long}\n\na\n\nb"
    assert len(parts) > 2
    assert used is not None
    assert used.prompt_tokens == 300


async def test_a_withdrawn_text_is_not_doubled(house: House, client: Client) -> None:
    """D3: the model breaks off in the middle. The stream ends with an error, and the next try gets the answer."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    heard = asyncio.Event()

    def script(asked: Asked) -> Reply:
        if not heard.is_set():
            return Reply(calls=[("send_message", {"text": "half of it " * 20})], gate_mid=heard, hang_up=True)
        return silent() if asked.step else say("whole")

    house.model.script = script
    own = client(sara)
    stream = await own.chat.completions.create(
        model="agent:Helper", messages=[user("go")], stream=True, extra_body={"conversation": "c"}
    )

    async def read() -> None:
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                heard.set()

    with pytest.raises(openai.APIError, match="withdrew"):
        await read()
    assert await ask(own, "go", conversation="c") == "whole"
    [space] = await chats(sara)
    assert await texts(sara, space) == [("Sara", "go"), ("Helper", "whole")]


async def test_a_client_that_goes_away_loses_nothing(house: House, client: Client) -> None:
    """D3: the run goes on, and the same request gets its answer."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    gate = asyncio.Event()
    house.model.script = lambda asked: (
        silent() if asked.step else Reply(calls=[("send_message", {"text": "here"})], gate=gate)
    )
    own = client(sara)
    with pytest.raises(openai.APITimeoutError):
        await own.with_options(timeout=0.5).chat.completions.create(
            model="agent:Helper", messages=[user("hi")], extra_body={"conversation": "c"}
        )
    await until(lambda: house.world.gateway.hub.open_streams == 0)
    gate.set()
    assert await ask(own, "hi", conversation="c") == "here"
    assert len((await sara.ok("GET", "/api/runs"))["runs"]) == 1


async def test_a_client_that_hangs_up_in_the_middle_gets_the_whole_answer_later(house: House, client: Client) -> None:
    """D3: with the same Idempotency-Key, streamed or not, and no message is posted twice."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    rest = asyncio.Event()
    long = "The answer is long enough for several pieces, and it is written slowly."
    house.model.script = once(Reply(calls=[("send_message", {"text": long})], gate_mid=rest))
    given: Any = {
        "model": "agent:Helper",
        "messages": [user("go")],
        "extra_body": {"conversation": "c"},
        "extra_headers": {"Idempotency-Key": "k1"},
    }
    own = client(sara)
    stream = await own.chat.completions.create(**given, stream=True)
    async for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    await stream.close()
    await until(lambda: house.world.gateway.hub.open_streams == 0)
    again = await own.chat.completions.create(**given, stream=True)
    parts = []
    async for chunk in again:
        parts.append(chunk.choices[0].delta.content or "")
        # The second stream begins with the text so far.
        if "".join(parts):
            rest.set()
    assert "".join(parts) == long
    assert (await own.chat.completions.create(**given)).choices[0].message.content == long
    [space] = await chats(sara)
    assert await texts(sara, space) == [("Sara", "go"), ("Helper", long)]
    assert len((await sara.ok("GET", "/api/runs"))["runs"]) == 1


async def test_a_gateway_that_ends_in_the_middle_doubles_nothing(settings: Settings, client: Client) -> None:
    """D3: the stream breaks off with an error, and the same request gets the answer from the next gateway."""
    rest = asyncio.Event()
    given: Any = {"model": "agent:Helper", "messages": [user("go")], "extra_body": {"conversation": "c"}}
    async with ModelServer() as model:
        model.script = lambda asked: (
            silent() if asked.step else Reply(calls=[("send_message", {"text": "here it is " * 9})], gate_mid=rest)
        )
        async with serve_world(settings) as world:
            house = House(world, model)
            sara = await house.person("Sara")
            await house.agent("Helper")
            stream = await client(sara).chat.completions.create(**given, stream=True)
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    break
        with pytest.raises(openai.APIError):
            async for _ in stream:
                pass
        rest.set()
        async with serve_world(settings) as world:
            again = await world.with_token(sara.id, "Sara")
            made = await client(again).chat.completions.create(**given)
            assert str(made.choices[0].message.content) == "here it is " * 9
            [space] = await chats(again)
            assert await texts(again, space) == [("Sara", "go"), ("Helper", "here it is " * 9)]


async def test_names_of_conversations_belong_to_a_member(house: House, client: Client) -> None:
    """D3: and a member who may no longer bring the agent into a space cannot talk with it."""
    sara, ben = await house.person("Sara"), await house.person("Ben")
    helper = await house.agent("Helper")
    house.model.script = lambda asked: silent() if asked.step else say(f"re: {asked.trigger_text}")
    for person in (sara, ben):
        assert await ask(client(person), "hi", conversation="c") == "re: hi"
    [space], [other] = await chats(sara), await chats(ben)
    assert space["id"] != other["id"]
    direct = await sara.ok("POST", "/api/direct", {"entityId": helper.id})
    assert direct["id"] not in (space["id"], other["id"])
    assert [model.id async for model in client(ben).models.list()] == ["agent:Helper"]
    await house.owner.ok(
        "PATCH", f"/api/agents/{helper.id}", {"config": {"model": house.model.model, "addableBy": "admins"}}
    )
    with pytest.raises(openai.NotFoundError):
        await ask(client(sara), "more", conversation="c")
    assert [text for _, text in await texts(sara, space)] == ["hi", "re: hi"]


async def test_a_conversation_goes_on_in_a_new_space_if_its_own_is_gone(house: House, client: Client) -> None:
    """D3: deleted, or without the agent."""
    sara = await house.person("Sara")
    helper = await house.agent("Helper")
    house.model.script = lambda asked: silent() if asked.step else say(f"re: {asked.trigger_text}")
    own = client(sara)
    await ask(own, "one", conversation="c")
    [first] = await chats(sara)
    await sara.ok("DELETE", f"/api/spaces/{first['id']}/members/{helper.id}")
    assert await ask(own, "two", conversation="c") == "re: two"
    [_, second] = await chats(sara)
    await sara.ok("DELETE", f"/api/spaces/{second['id']}")
    assert await ask(own, "three", conversation="c") == "re: three"
    [kept, third] = await chats(sara)
    assert kept["id"] == first["id"]
    assert third["id"] != second["id"]


async def test_a_deadline_ends_a_request_but_not_the_run(house: House, client: Client) -> None:
    """D3."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    gate = asyncio.Event()
    house.model.script = lambda asked: (
        silent() if asked.step else Reply(calls=[("send_message", {"text": "here"})], gate=gate)
    )
    with pytest.raises(openai.InternalServerError) as refused:
        await ask(client(sara), "hi", conversation="c", deadline=0.1)
    assert refused.value.status_code == 504
    gate.set()
    assert await ask(client(sara), "hi", conversation="c") == "here"


async def test_a_failed_run_is_an_error(house: House, client: Client) -> None:
    """D3: not an empty answer."""
    house.try_models_once()
    sara = await house.person("Sara")
    await house.agent("Helper", limits={"attempts": 1})
    house.model.script = lambda _: Reply(status=400, text="no")
    with pytest.raises(openai.InternalServerError) as refused:
        await ask(client(sara), "hi")
    assert refused.value.code == "agent_failed"


async def test_a_card_ends_the_answer(house: House, client: Client) -> None:
    """D3: the run waits for a decision in the conversation's space."""
    sara = await house.person("Sara")
    await house.agent("Helper", tools=[{"name": "choose", "type": "space", "ui": "choice"}])
    house.model.script = once(say("Wait."), call("choose", question="Red or blue?", options=["red", "blue"]))
    assert await ask(client(sara), "Paint") == "Wait.\n\nRed or blue?"


async def test_a_space_returns_the_first_answer_of_anyone(house: House, client: Client) -> None:
    """D3: also a person's."""
    sara, ben = await house.person("Sara"), await house.person("Ben")
    space = await house.space("Team", sara, ben)
    asked = asyncio.create_task(ask(client(sara), "Lunch?", "space:team", conversation="c"))
    await until(lambda: _has(sara, space, "Lunch?"))
    await ben.say(space, "At noon")
    assert await asked == "At noon"
    await ben.say(space, "Or at one")
    assert await ask(client(sara), "Lunch?", f"space:{space}", conversation="c") == "At noon"
    assert await ask(client(sara), "Anyone?", "space:Team", deadline=0.2) == ""
    helper = await house.agent("Helper")
    quiet = await sara.create_space("Desk", helper)
    house.model.script = once(silent())
    assert await ask(client(sara), "Hello?", f"space:{quiet}") == ""
    house.model.script = says("yes")
    assert await ask(client(sara), "Really?", f"space:{quiet}") == "yes"


async def _has(person: Person, space: str, text: str) -> bool:
    page = await person.history(space)
    return any(message["text"] == text for message in page["messages"])


async def test_bad_requests_have_openais_error_shape(house: House, client: Client) -> None:
    """D3: the caller's tools are refused clearly, and nothing is posted."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    create: Any = client(sara).chat.completions.create
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    picture = {"type": "image_url", "image_url": {"url": "data:"}}
    for param, code, given in (
        ("tools", "tools_not_supported", {"tools": [tool]}),
        ("n", "n_not_supported", {"n": 2}),
        ("messages.0", "last_message_not_user", {"messages": [assistant("x")]}),
        ("messages.0", "content_not_supported", {"messages": [{"role": "user", "content": [picture]}]}),
        ("text", "empty_text", {"messages": [user(" ")]}),
        (None, "invalid_request", {"messages": []}),
    ):
        with pytest.raises(openai.BadRequestError) as refused:
            await create(**{"model": "agent:Helper", "messages": [user("hi")], **given})
        error = refused.value
        assert (error.code, error.param, error.type) == (code, param, "invalid_request_error")
    with pytest.raises(openai.AuthenticationError):
        await ask(client(sara, "mj_wrong"), "hi")
    assert await chats(sara) == []


async def test_posting_needs_the_scopes_write_and_read(house: House, client: Client) -> None:
    """D3: nothing is posted without them."""
    sara = await house.person("Sara")
    await house.agent("Helper")
    for scope in ("read", "write"):
        limited = await house.world.with_token(sara.id, "Sara", scopes=[scope])
        with pytest.raises(openai.PermissionDeniedError) as refused:
            await ask(client(limited), "hi")
        assert refused.value.code == "missing_scope"
    assert await chats(sara) == []
