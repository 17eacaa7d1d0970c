"""J4: `http` tools send the request of their config, filled in and encoded, and turn any response into a result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from majlis.agents.config.config import parse_config
from majlis.agents.config.tools import HttpTool
from majlis.errors import MajlisError
from majlis.tools.http.tool import Http
from majlis.tools.reach.exchange import Exchange
from majlis.tools.reach.reach import Reach
from majlis.tools.reach.secrets import Secrets
from tests.tools.web_server import Answer, Asked, Web, answer, context, serve_web

KEY = "k3y/with+signs&more"
SECRETS = Secrets(["SHOP_KEY", "UNSET"], {"SHOP_KEY": KEY, "OTHER": "not for tools"})


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serve_web() as served:
        yield served


def tool(web: Web, path: str = "/", secrets: Secrets = SECRETS, **execution: Any) -> Http:
    config = parse_config(
        {"tools": [{"name": "shop", "type": "http", "execution": {"url": web.base + path, **execution}}]}
    )
    [made] = config.tools
    assert isinstance(made, HttpTool)
    return Http(made, Exchange(Reach(private_hosts=[f"127.0.0.1:{web.port}"])), secrets)


async def call(web: Web, path: str = "/", input: Any = None, **execution: Any) -> Any:
    made = tool(web, path, **execution)
    return await made.act(context(), made.parse(json.dumps(input or {})))


async def fails(web: Web, path: str = "/", input: Any = None, **execution: Any) -> str:
    with pytest.raises(MajlisError) as refused:
        await call(web, path, input, **execution)
    return refused.value.message


async def test_j4_input_from_the_model_is_encoded_for_its_place(web: Web) -> None:
    given = {"id": "a/b?c#d e", "q": "x&y=1 ü", "note": 'say "hi"', "count": 3, "tags": ["a", "b"], "deep": {"x": None}}
    result = await call(
        web,
        "/orders/{{input.id}}/n{{ input.count }}?plain={{input.q}}",
        given,
        method="POST",
        headers={"X-Note": "<{{input.note}}>"},
        query={"q": "{{input.q}}", "n": "{{input.count}}", "fixed": True, "gone": "{{input.nothing}}"},
        body={"n": "{{input.count}}", "text": "n={{input.count}}, {{input.note}}", "tags": "{{input.tags}}",
              "first": "{{input.tags.0}}", "deep": "{{input.deep}}", "gone": "{{input.nothing}}"},
    )  # fmt: skip
    assert result == {"success": True, "status": 200, "body": {"ok": True}}
    [asked] = web.asked
    assert (asked.method, asked.path) == (
        "POST",
        "/orders/a%2Fb%3Fc%23d%20e/n3?plain=x%26y%3D1%20%C3%BC&q=x%26y%3D1%20%C3%BC&n=3&fixed=true",
    )
    assert asked.headers["x-note"] == '<say "hi">'
    assert asked.headers["content-type"] == "application/json"
    assert json.loads(asked.body) == {
        "n": 3, "text": 'n=3, say "hi"', "tags": ["a", "b"], "first": "a", "deep": {"x": None},
    }  # fmt: skip


async def test_j2_the_calls_key_goes_along_as_a_header(web: Web) -> None:
    await call(web)
    await call(web, input={"order": "7"}, headers={"Idempotency-Key": "order-{{input.order}}"})
    assert [asked.headers["idempotency-key"] for asked in web.asked] == ["run_1:3", "order-7"]


async def test_a_text_body_is_sent_as_text_and_the_whole_input_as_json(web: Web) -> None:
    await call(web, input={"a": 1}, method="POST", body="a is {{input.a}}")
    await call(web, input={"a": 1}, method="PUT", body="{{input}}")
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    await call(web, input={"a": "1&admin=1"}, method="POST", body="a={{input.a}}", headers=form)
    assert [(asked.body, asked.headers["content-type"].partition(";")[0]) for asked in web.asked] == [
        (b"a is 1", "text/plain"),
        (b'{"a":1}', "application/json"),
        (b"a=1%26admin%3D1", "application/x-www-form-urlencoded"),
    ]


async def test_j4_fields_of_a_form_are_sent_as_one(web: Web) -> None:
    """Regression: they were sent as JSON with the content type of a form."""
    fields = {"note": "{{input.note}}", "n": "{{input.n}}", "gone": "{{input.nothing}}", "tag": "a b", "all": [1, "x"]}
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    await call(web, input={"note": "x&admin=1 ü", "n": 3}, method="POST", headers=headers, body=fields)
    [asked] = web.asked
    assert asked.body == b"note=x%26admin%3D1%20%C3%BC&n=3&tag=a%20b&all=%5B1%2C%22x%22%5D"


@pytest.mark.parametrize("kind", ["application/xml", "text/html; charset=utf-8", "application/soap+xml"])
async def test_j4_input_from_the_model_is_text_in_markup_and_never_a_tag(web: Web, kind: str) -> None:
    """Otherwise a model could add elements to the request."""
    given = {"name": """</name><admin to="x" a='1'/>&\0 ü"""}
    await call(
        web,
        input=given,
        method="POST",
        headers={"Content-Type": kind, "X-Key": "${env.SHOP_KEY}"},
        body="<order by='{{input.name}}'><name>{{input.name}}</name></order>",
    )
    [asked] = web.asked
    safe = "&lt;/name&gt;&lt;admin to=&quot;x&quot; a=&#x27;1&#x27;/&gt;&amp;\ufffd ü"
    assert asked.body.decode() == f"<order by='{safe}'><name>{safe}</name></order>"
    assert asked.headers["content-type"] == kind


@pytest.mark.parametrize("given", ["..", ".", ""])
async def test_a_part_of_the_path_cannot_lead_elsewhere(web: Web, given: str) -> None:
    assert "URL path" in await fails(web, "/users/{{input.id}}", {"id": given})
    assert not web.asked


@pytest.mark.parametrize("given", ["a\r\nX-Admin: 1", "a\nb", "ü", "\0"])
async def test_a_header_is_one_line_of_ascii(web: Web, given: str) -> None:
    assert "printable ASCII" in await fails(web, headers={"X-Note": "{{input.x}}"}, input={"x": given})
    assert not web.asked


async def test_a_secret_goes_out_and_is_shown_nowhere(web: Web) -> None:
    """The server echoes the secret: plain, in a URL, in JSON, and in an error."""
    seen: list[str] = []

    def echo(asked: Asked) -> bytes:
        seen.append(asked.headers["authorization"])
        return answer(json.dumps({"headers": asked.headers, "path": asked.path}), 200 if len(seen) < 2 else 400)

    web.answers = echo
    execution: Any = {"headers": {"Authorization": "Bearer ${env.SHOP_KEY}"}, "query": {"key": "${env.SHOP_KEY}"}}
    result = json.dumps(await call(web, **execution))
    error = await fails(web, **execution)
    assert seen == [f"Bearer {KEY}"] * 2
    for shown in (result, error):
        assert "[secret SHOP_KEY]" in shown
        assert KEY not in shown
        assert "k3y%2F" not in shown


@pytest.mark.parametrize(("name", "message"), [("OTHER", "the setting tool_env"), ("UNSET", "not set")])
async def test_only_secrets_that_the_settings_name_are_used(web: Web, name: str, message: str) -> None:
    assert message in await fails(web, headers={"X-Key": f"${{env.{name}}}"})
    assert not web.asked


async def test_text_from_a_model_is_never_read_as_a_template(web: Web) -> None:
    await call(
        web, input={"x": "${env.SHOP_KEY} {{input.x}}"}, method="POST", body={"x": "{{input.x}}", "y": "-{{input.x}}"}
    )
    assert json.loads(web.asked[0].body) == {"x": "${env.SHOP_KEY} {{input.x}}", "y": "-${env.SHOP_KEY} {{input.x}}"}


async def test_input_that_does_not_fit_calls_nothing(web: Web) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    config = parse_config(
        {"tools": [{"name": "shop", "type": "http", "inputSchema": schema, "execution": {"url": web.base}}]}
    )
    made = Http(config.tools[0], Exchange(Reach()), SECRETS)  # type: ignore[arg-type]
    for given in ('{"n": "x"}', "{}", "[]", "{"):
        with pytest.raises(MajlisError, match="was not called"):
            made.parse(given)


ANSWERS: list[tuple[bytes, Any]] = [
    (answer('{"a": [1, 2]}'), {"a": [1, 2]}),
    (answer("plain words", kind="text/plain"), "plain words"),
    (answer("{broken", kind="application/json"), "{broken"),
    (answer('{"a": 1}', kind="application/problem+json; charset=utf-8"), {"a": 1}),
    (answer("zażółć".encode("iso-8859-15", "replace"), kind="text/plain; charset=ISO-8859-15"), "za?ó??"),
    (answer(b"\xff\xfe bad", kind="text/plain; charset=punycode"), "\ufffd\ufffd bad"),
]


@pytest.mark.parametrize(("said", "body"), ANSWERS)
async def test_json_and_text_become_the_result(web: Web, said: bytes, body: Any) -> None:
    web.answers = lambda asked: said
    assert (await call(web))["body"] == body


async def test_binary_content_is_named_and_not_shown(web: Web) -> None:
    web.answers = lambda asked: answer(b"\x89PNG", kind="image/png")
    assert await call(web) == {
        "success": True, "status": 200, "bytes": 4, "note": "The response is image/png and not shown.",
    }  # fmt: skip
    web.answers = lambda asked: answer(b"", 204)
    assert await call(web) == {"success": True, "status": 204}


@pytest.mark.parametrize(
    ("status", "advice"), [(404, "Fix the input"), (422, "Fix the input"), (429, "Try again later"), (503, "later")]
)
async def test_an_error_of_the_server_is_told_with_its_words_and_what_to_do(web: Web, status: int, advice: str) -> None:
    web.answers = lambda asked: answer('{"error": "no such order"}', status)
    message = await fails(web)
    assert message.startswith(f"shop answered {status} ")
    assert "no such order" in message
    assert advice in message


async def test_an_error_of_the_server_that_is_very_deep_is_told_like_any_other(web: Web) -> None:
    """Regression: it could be parsed but not serialized, and the model saw a recursion error instead of the status."""
    web.answers = lambda asked: answer("[" * 600 + "]" * 600, 400)
    message = await fails(web)
    assert message.startswith("shop answered 400 Bad Request: [[[")
    assert len(message) < 2000


async def test_a_long_answer_is_read_no_further_than_its_limit(web: Web) -> None:
    """50 MB without a content length: the connection is closed after the first chunks."""
    sent = 0

    async def endless(asked: Asked) -> AsyncIterator[bytes]:
        nonlocal sent
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        while sent < 50_000_000:
            sent += 100_000
            yield b"x" * 100_000

    web.answers = lambda asked: endless(asked)
    assert "longer than 20000 bytes" in await fails(web, maxBytes=20_000)
    assert sent < 25_000_000


async def test_a_compressed_answer_is_not_unpacked(web: Web) -> None:
    web.answers = lambda asked: answer(b"\x1f\x8b", Content_Encoding="gzip")
    assert "compressed" in await fails(web)
    assert web.asked[0].headers["accept-encoding"] == "identity"


async def test_a_server_that_hangs_costs_its_time_out_and_no_more(web: Web) -> None:
    async def silent(asked: Asked) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    web.answers = lambda asked: silent(asked)
    assert "within 1 seconds" in await fails(web, timeoutSeconds=1)


async def test_a_lost_connection_and_a_server_that_is_not_there_are_told_apart(web: Web) -> None:
    web.answers = lambda asked: b""
    assert "It is unknown whether it had an effect" in await fails(web)
    web.answers = lambda asked: b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    assert "was interrupted" in await fails(web)
    web.answers = lambda asked: b"this is no HTTP\r\n\r\n"
    assert "connection to" in await fails(web)
    gone = Web(port=1)
    assert "cannot be reached" in await fails(gone)


def saying(said: bytes) -> Answer:
    return lambda asked: said


async def test_a_hostile_answer_is_a_result_like_any_other(web: Web) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    for body in (deep, b"\xff" * 1000, b'"\\ud800"', b"1" * 5000, b'{"a": NaN}'):
        web.answers = saying(answer(body))
        result = await call(web)
        assert orjson.dumps(result, default=str)


async def test_proxies_of_the_environment_are_not_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy resolves names itself, so it could connect to another address than the checked one."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert (await call(web))["body"] == {"ok": True}
